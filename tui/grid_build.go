package tui

import (
	"kitescope/internal/words"
)

// gridQuery is a query of a page.
type gridQuery struct {
	rowQuery
	page   *gridPage
	serial int64
	toTop  bool // a new order moves to the first row
}

// builtMsg delivers requested rows.
type builtMsg struct {
	query gridQuery
	rows  gridRows
}

func (b builtMsg) Apply(m *Model) Cmd {
	g := b.query.page
	if b.query.serial != g.serial.Load() {
		return nil
	}
	g.busy, g.building, g.err = "", false, b.rows.Err
	if b.rows.Err != nil {
		m.Notify(ToneBad, b.rows.Err.Error())
		return nil
	}
	// it may be among the rows that are left out
	if g.wantID != "" && b.rows.Cursor < 0 && b.rows.HiddenRows > 0 && !g.all {
		return g.toggleAll(m)
	}
	g.setRows(m, b)
	if ref := g.fallback; ref != nil {
		g.fallback = nil
		if known := g.rows.Env.Cluster.Loaded.Has(g.resource.Needs); known && g.rows.Count()+g.rows.HiddenRows == 0 &&
			m.Top() == g {
			m.Notify(ToneInfo, g.emptyReason())
			m.stack.pop()
			return m.Push(newDetailPage(*ref))
		}
	}
	return g.Refresh(m)
}

// setRows shows the rows and keeps the cursor on its object.
func (g *gridPage) setRows(m *Model, b builtMsg) {
	at := b.rows.Cursor
	if ref, ok := g.Object(m); ok && g.wantID == "" && ref.ID != b.query.CursorID {
		at = findNear(&b.rows, ref.ID, g.Cursor, 500) // the cursor was moved in the meantime
	}
	if b.query.toTop {
		at, g.top, g.Cursor = 0, 0, 0
	}
	g.rows = b.rows
	if at >= 0 {
		g.put(at, g.rows.Count())
	} else {
		g.clamp(g.rows.Count())
	}
	if g.wantID != "" && at < 0 && !b.query.toTop {
		m.Notify(ToneWarn, g.resource.Singular+" "+words.Sanitize(g.wantID)+" is gone from the metadata")
	}
	g.wantID = ""
}

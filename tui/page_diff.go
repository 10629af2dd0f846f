package tui

import (
	"slices"
	"strings"

	"kitescope/inspect/diff"
	"kitescope/inspect/model"
	"kitescope/inspect/view"
	"kitescope/internal/table"
	"kitescope/internal/words"
	"kitescope/render/clusters"
	"kitescope/tui/draw"
)

// diffPage lists the changes between two states: since the last refresh or since the start. For a past moment,
// it lists the changes until now or those of its last event.
type diffPage struct {
	List[*diff.Change]
	altBase  bool       // compare with the alternative baseline that ActBy selects
	compared *diff.Diff // nil before the first comparison
	old, now *model.Cluster
	busy     bool // a comparison is in flight; a refresh waits for it
}

func diffKind() PageKind {
	return PageKind{
		Name: "diff", Aliases: []string{"changes"}, Open: newDiffPage,
		Doc: "Changes since the last refresh or the start; in the past: until now, or by the last event.",
	}
}

func newDiffPage(*Model, []string) (Page, error) {
	return &diffPage{List: List[*diff.Change]{
		Noun: "change", Columns: diffColumns, Look: changeLook, OriginalOrder: "by collection",
		Words: func(c *diff.Change) string { return strings.Join(CellsOf(diffColumns(WideTable), c), "\n") },
	}}, nil
}

func (d *diffPage) Scope() Scope          { return InDiff }
func (d *diffPage) Crumb() string         { return "diff" }
func (d *diffPage) Command(*Model) string { return "" }

// sides returns the states to compare, the older one first. An unknown state is nil. A past moment that was
// reached by stepping to an event is first compared with the state before that event. Other past moments are
// first compared with the newest state.
func (d *diffPage) sides(m *Model) (old, now *model.Cluster) {
	x := &m.data
	_, away := m.Revision()
	switch {
	case away && (x.previous == nil || d.altBase == (x.past.to.base > 0)):
		return x.cluster, x.newest
	case d.altBase && x.previous != nil:
		return x.first, x.cluster
	}
	return x.previous, x.cluster
}

// span returns the times of the compared states, e.g. "09:01:41 → 09:06:22 (now)".
func (d *diffPage) span(m *Model, old, now *model.Cluster) string {
	text := clusters.SpanText(&old.Origin, &now.Origin)
	switch _, away := m.Revision(); {
	case !away && d.altBase:
		return "since the start: " + text + " (now)"
	case !away || now == m.data.newest:
		return text + " (now)"
	}
	return text
}

// Note returns the times of the compared states and the number of changes.
func (d *diffPage) Note(m *Model) string {
	notes := append([]string{d.Status(m)}, FilterNote(d.Filter)...)
	if old, now := d.sides(m); old != nil && now != nil {
		notes = append([]string{d.span(m, old, now)}, notes...)
	}
	return strings.Join(notes, " · ")
}

func (d *diffPage) Body(m *Model, w, h int) []string {
	text := ""
	old, now := d.sides(m)
	switch {
	case m.data.cluster == nil, now == nil:
		text = "…"
	case old == nil:
		text = "no changes since you opened it"
		if !m.data.live {
			text = "this is a snapshot; to compare two: kitescope diff A B"
		}
	case d.compared == nil:
		text = "comparing…"
	case len(d.compared.Changes) == 0:
		text = "nothing changed, " + d.span(m, old, now)
		if d.old.Origin.Revision != d.now.Origin.Revision {
			text += ", except what always changes: checkpoints, ids, dropped segments that were garbage-collected"
		}
	}
	if text != "" {
		return append([]string{""}, draw.Sentence(m.Styles, text, w)...)
	}
	return d.List.Body(m.Styles, w, h)
}

// diffColumns returns the columns for a table of w cells. Below 100 cells it omits the kind of object to leave
// room for the change.
func diffColumns(w int) []Column[*diff.Change] {
	col := func(name string, priority int, text func(c *diff.Change) string) Column[*diff.Change] {
		return SortedColumn(name, strings.ToUpper(name), table.Text, priority, func(c *diff.Change) string {
			return words.Sanitize(text(c))
		}, nil)
	}
	all := []Column[*diff.Change]{
		col("change", 0, func(c *diff.Change) string { return string(c.Kind) }),
		col("kind", 2, func(c *diff.Change) string { return c.Object.Resource }),
		col("object", 0, func(c *diff.Change) string { return refName(c.Object) }),
		col("collection", 1, func(c *diff.Change) string { return refName(c.Collection) }),
		col("what", 0, changeText),
	}
	if w < 100 {
		return slices.Delete(all, 1, 2)
	}
	return all
}

// changeText formats a change as one line, e.g. "rows 1674 → 2174", "nodes -querynode-5 +querynode-12" or "by 4712,
// 4713".
func changeText(c *diff.Change) string {
	switch c.Kind {
	case diff.Added:
		return c.ToNames
	case diff.Removed:
		return c.FromNames
	case diff.Replaced:
		names := make([]string, len(c.By))
		for i, r := range c.By {
			names[i] = refName(r)
		}
		return "by " + strings.Join(names, ", ")
	default:
	}
	if c.FromNames+c.ToNames != c.From+c.To && strings.Contains(c.From+c.To, ",") {
		return c.Field + listChanges(strings.Split(c.FromNames, ","), strings.Split(c.ToNames, ","))
	}
	return c.Field + " " + orNone(c.FromNames) + " → " + orNone(c.ToNames)
}

// listChanges lists the names that were removed from and added to a list, e.g. " -querynode-5 +querynode-12".
func listChanges(from, to []string) string {
	var text strings.Builder
	for _, name := range from {
		if name != "" && !slices.Contains(to, name) {
			text.WriteString(" -" + name)
		}
	}
	for _, name := range to {
		if !slices.Contains(from, name) {
			text.WriteString(" +" + name)
		}
	}
	return text.String()
}

func orNone(s string) string {
	if s == "" {
		return words.NoneMark
	}
	return s
}

func changeLook(c *diff.Change) RowLook {
	look := RowLook{Change: RowChanged}
	switch c.Kind {
	case diff.Added:
		look.Change = RowAdded
	case diff.Removed, diff.Replaced:
		look.Change = RowRemoved
	default:
	}
	return look
}

func (d *diffPage) Refresh(m *Model) Cmd {
	old, now := d.sides(m)
	switch {
	case d.busy, old == nil, d.old == old && d.now == now && d.compared != nil:
		return nil
	case now == nil:
		return m.data.past.readNewest(m)
	}
	d.busy = true
	return compare(d, old, now)
}

// comparedMsg delivers the result of a comparison.
type comparedMsg struct {
	page     *diffPage
	old, now *model.Cluster
	result   *diff.Diff
}

func (c comparedMsg) Apply(m *Model) Cmd {
	d := c.page
	d.busy = false
	d.compared, d.old, d.now = c.result, c.old, c.now
	changes := make([]*diff.Change, len(c.result.Changes))
	for i := range changes {
		changes[i] = &c.result.Changes[i]
	}
	d.SetRows(changes)
	return d.Refresh(m)
}

func (d *diffPage) Object(*Model) (model.Ref, bool) {
	c, ok := d.Current()
	if !ok {
		return model.Ref{}, false
	}
	return c.Object, true
}

func (d *diffPage) Can(m *Model, a Action) string {
	switch a {
	case ActDescribe, ActOwner, ActRelated, ActTree:
		a = ActOpen // all need a row
	case ActBy:
		if _, away := m.Revision(); m.data.previous == nil && away {
			return "no state before this one to compare with (press " + KeyOf(m, ActEarlier) + " to step back)"
		} else if m.data.previous == nil {
			return "no changes since you opened it"
		}
	}
	return d.List.Can(m, a)
}

// locate returns the row of an object in the current cluster. ok is false if the object does not exist.
func locate(m *Model, ref model.Ref) (t view.Table, row int, ok bool) {
	r := m.resource(ref.Resource)
	if r == nil || m.data.env == nil {
		return nil, 0, false
	}
	t = r.Table(m.data.env)
	row = view.RowOf(t, ref.ID)
	return t, row, row >= 0
}

func (d *diffPage) Act(m *Model, a Action) Cmd {
	switch a {
	case ActBy:
		d.altBase = !d.altBase
		return d.Refresh(m)
	case ActSave:
		return Save(m, FileName("diff", "")+".csv", d.CSV())
	case ActOpen, ActDescribe, ActOwner, ActRelated, ActTree:
		ref, _ := d.Object(m)
		return ActOnRef(m, a, ref)
	}
	return d.List.Act(m, a)
}

// ActOnRef performs an action on the object that ref identifies.
func ActOnRef(m *Model, a Action, ref model.Ref) Cmd {
	t, row, ok := locate(m, ref)
	switch {
	case a == ActOpen || a == ActDescribe:
		return m.Push(newDetailPage(ref))
	case !ok:
		m.Notify(ToneWarn, refName(ref)+" is gone from the metadata")
		return nil
	case a == ActOwner:
		owner, has := t.Owner(row)
		if !has {
			m.Notify(ToneWarn, refName(ref)+" has no owner")
			return nil
		}
		return m.goTo(owner)
	case a == ActRelated:
		m.Menu = relatedMenu(m, t, row)
	case a == ActTree:
		id := collectionOf(t, row)
		if id == 0 {
			m.Notify(ToneWarn, refName(ref)+" belongs to no collection")
			return nil
		}
		return openTree(m, id)
	}
	return nil
}

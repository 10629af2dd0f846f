package render

import (
	"strconv"

	"kitescope/inspect/model"
	"kitescope/inspect/view"
)

// APIVersion is the version of the documents in docs/JSON.md: it changes only when a key
// changes its meaning or goes away.
const APIVersion = "kitescope/v1"

// items writes the rows of a grid as objects.
type items struct {
	grid    *view.Grid
	columns []itemColumn
}

type itemColumn struct {
	*view.Column
	cell   int // position in Resource.Columns
	quoted []byte
	// unknown says that a cell was unknown.
	unknown bool
}

func newItems(g *view.Grid) *items {
	it := &items{grid: g, columns: make([]itemColumn, len(g.Columns))}
	for j, i := range g.Columns {
		c := &g.Table.Resource().Columns[i]
		it.columns[j] = itemColumn{Column: c, cell: i, quoted: append(appendQuoted(nil, c.Name), ':')}
	}
	return it
}

// write tells row i. Unknown cells are left out; of absent ones those whose value would
// be a string are empty, the others are left out.
func (it *items) write(e encoder, i int) {
	if fast, ok := e.(*jsonEncoder); ok && !fast.spreadsItems() {
		it.writeCompact(fast, i)
		return
	}
	e.beginObject()
	for j := range it.columns {
		c := it.grid.Cell(i, j)
		if it.skip(j, c.Absent) {
			continue
		}
		e.key(it.columns[j].Name)
		writeCell(e, c, it.columns[j].Kind)
	}
	e.endObject()
}

// skip reports whether a cell is left out.
func (it *items) skip(j int, absent view.Absence) bool {
	switch absent {
	case view.Unknown:
		it.columns[j].unknown = true
		return true
	case view.None:
		return !emptyWhenNone(it.columns[j].Kind)
	}
	return false
}

// writeCompact is write for JSON on one line, without a call for each value: with a
// million values that is what it costs.
func (it *items) writeCompact(e *jsonEncoder, i int) {
	e.before()
	buf := append(e.buf, '{')
	row, first := it.grid.Row(i), true
	for j := range it.columns {
		column := &it.columns[j]
		c := it.grid.Table.Cell(row, column.cell)
		if c.Absent != view.Present && it.skip(j, c.Absent) {
			continue
		}
		if !first {
			buf = append(buf, ',')
		}
		first = false
		buf = append(buf, column.quoted...)
		switch {
		case column.Kind == view.ID && c.Absent == view.Present:
			buf = append(buf, '"')
			buf = append(strconv.AppendInt(buf, c.Int, 10), '"')
		case column.Kind == view.ID:
			buf = append(buf, '"', '"')
		case column.Kind == view.Int || column.Kind == view.Bytes:
			buf = strconv.AppendInt(buf, c.Int, 10)
		case column.Kind == view.Text || column.Kind == view.State:
			buf = appendQuoted(buf, c.Text)
		case column.Kind == view.Bool:
			buf = strconv.AppendBool(buf, c.Int != 0)
		case column.Kind == view.Time:
			buf = append(buf, '"')
			buf = append(appendTime(buf, c.Int), '"')
		case column.Kind == view.Duration:
			buf = appendSeconds(buf, c.Int)
		case column.Kind == view.List && len(c.List) == 0:
			buf = append(buf, '[', ']')
		case column.Kind == view.Pairs && len(c.List) == 0:
			buf = append(buf, '{', '}')
		default:
			e.buf, e.afterKey = buf, true
			writeCell(e, c, column.Kind)
			buf = e.buf
		}
	}
	e.buf = append(buf, '}')
	e.drain()
}

// emptyWhenNone reports whether a cell without a value is written as "", [] or {}.
func emptyWhenNone(k view.Kind) bool {
	switch k {
	case view.Text, view.State, view.ID, view.List, view.Pairs:
		return true
	}
	return false
}

func writeCell(e encoder, c view.Cell, k view.Kind) {
	switch k {
	case view.ID:
		if c.Absent == view.None {
			e.text("")
			return
		}
		e.id(c.Int)
	case view.Int, view.Bytes:
		e.integer(c.Int)
	case view.Percent:
		e.number(c.Float)
	case view.Time:
		e.time(c.Int)
	case view.Duration:
		e.seconds(c.Int)
	case view.Bool:
		e.boolean(c.Int != 0)
	case view.List:
		e.texts(c.List)
	case view.Pairs:
		writePairs(e, c.List)
	default:
		e.text(c.Text)
	}
}

// writePairs writes an object; of a key that occurs twice the first counts.
func writePairs(e encoder, flat []string) {
	e.beginObject()
	seen := make(map[string]bool, len(flat)/2)
	for i := 0; i+1 < len(flat); i += 2 {
		if seen[flat[i]] {
			continue
		}
		seen[flat[i]] = true
		e.key(flat[i])
		e.text(flat[i+1])
	}
	e.endObject()
}

// writeUnknown names the columns that had unknown cells.
func (it *items) writeUnknown(e encoder) {
	var names []string
	for j := range it.columns {
		if it.columns[j].unknown || it.notRead(j) {
			names = append(names, it.columns[j].Name)
		}
	}
	writeNames(e, "unknown", names)
}

// notRead also holds in an empty list, where no cell could tell.
func (it *items) notRead(j int) bool {
	return !it.grid.Table.Env().Cluster.Loaded.Has(it.columns[j].Needs)
}

// listDocument is the envelope of a list.
func listDocument(g *view.Grid) document {
	return func(e encoder) {
		it := newItems(g)
		c := g.Table.Env().Cluster
		e.beginObject()
		writeHead(e, g.Table.Resource().Kind+"List", &c.Origin, c.Gaps)
		if g.Len() < g.Matched {
			e.key("matched")
			e.integer(int64(g.Matched))
		}
		e.key("items")
		e.beginList()
		for i := range g.Len() {
			it.write(e, i)
		}
		e.endList()
		it.writeUnknown(e)
		e.endObject()
	}
}

func writeHead(e encoder, kind string, origin *model.Origin, gaps []model.Gap) {
	e.key("apiVersion")
	e.text(APIVersion)
	e.key("kind")
	e.text(kind)
	e.key("source")
	writeOrigin(e, origin)
	writeGaps(e, gaps)
}

func writeOrigin(e encoder, o *model.Origin) {
	e.beginObject()
	e.key("kind")
	e.text(o.Kind)
	e.key("location")
	e.text(o.Location)
	e.key("root")
	e.text(o.Root)
	e.key("revision")
	if o.Revision == 0 {
		e.text("")
	} else {
		e.id(o.Revision)
	}
	if !o.Taken.IsZero() {
		e.key("taken")
		e.time(o.Taken.UnixNano())
	}
	e.endObject()
}

// writeGaps says what could not be read, if anything.
func writeGaps(e encoder, gaps []model.Gap) {
	if len(gaps) == 0 {
		return
	}
	e.key("incomplete")
	e.beginList()
	for _, g := range gaps {
		e.beginObject()
		e.key("where")
		e.text(g.Where)
		e.key("reason")
		e.text(g.Reason)
		if g.Count > 0 {
			e.key("count")
			e.integer(g.Count)
		}
		e.endObject()
	}
	e.endList()
}

package render

import (
	"strconv"

	"kitescope/inspect/model"
	"kitescope/inspect/view"
	"kitescope/table"
	"kitescope/words"
)

// APIVersion is the version of the documents in docs/JSON.md: it changes only when a key
// changes its meaning or goes away.
const APIVersion = "kitescope/v1"

// items writes the rows of a grid as objects.
type items struct {
	grid    *table.Grid
	columns []itemColumn
	// more, if it is not nil, tells keys of an item that no table has a place for.
	more func(e encoder, row int)
	// nested writes lists and pairs for appendRow. It has nowhere to drain to.
	nested jsonEncoder
}

type itemColumn struct {
	*table.Column
	cell   int // position in Schema.Columns
	quoted []byte
	// unknown says that a cell was unknown.
	unknown bool
}

func newItems(g *table.Grid) *items {
	it := &items{grid: g, columns: make([]itemColumn, len(g.Columns))}
	for j, i := range g.Columns {
		c := &g.Table.Schema().Columns[i]
		it.columns[j] = itemColumn{Column: c, cell: i, quoted: append(words.AppendJSON(nil, c.Name), ':')}
	}
	return it
}

// write tells row i. Unknown cells are left out; of absent ones those whose value would
// be a string are empty, the others are left out.
func (it *items) write(e encoder, i int) {
	if j, ok := e.(*jsonEncoder); ok && it.more == nil && !j.spreadsItems() {
		j.before()
		j.buf = it.appendRow(j.buf, i)
		j.drain()
		return
	}
	template, _ := e.(*valueEncoder)
	e.beginObject()
	for j := range it.columns {
		c := it.grid.Cell(i, j)
		if it.skip(j, c.Absent) {
			template.absent(it.columns[j].Name, c.Absent)
			continue
		}
		e.key(it.columns[j].Name)
		writeCell(e, c, it.columns[j].Kind)
	}
	if it.more != nil {
		it.more(e, it.grid.Row(i))
	}
	e.endObject()
}

// writeAll writes the list.
func (it *items) writeAll(e encoder) {
	e.key("items")
	e.beginList()
	if j, ok := e.(*jsonEncoder); ok && it.more == nil {
		it.merge(j.rows(it.grid))
	} else {
		for i := range it.grid.Len() {
			it.write(e, i)
		}
	}
	e.endList()
}

// skip reports whether a cell is left out.
func (it *items) skip(j int, absent table.Absence) bool {
	switch absent {
	case table.Unknown:
		it.columns[j].unknown = true
		return true
	case table.None:
		return it.grid.Table.Schema().Sparse || !emptyWhenNone(it.columns[j].Kind)
	default:
		return false
	}
}

// appendRow appends an item as JSON on one line, without a call for each value: with
// a million values that is what it costs.
func (it *items) appendRow(dst []byte, i int) []byte {
	dst = append(dst, '{')
	row, first := it.grid.Row(i), true
	for j := range it.columns {
		column := &it.columns[j]
		c := it.grid.Table.Cell(row, column.cell)
		if c.Absent != table.Present && it.skip(j, c.Absent) {
			continue
		}
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = append(dst, column.quoted...)
		if scalar, ok := appendScalar(dst, &c, column.Kind); ok {
			dst = scalar
			continue
		}
		it.nested.buf, it.nested.afterKey = dst, true
		writeCell(&it.nested, c, column.Kind)
		dst = it.nested.buf
	}
	return append(dst, '}')
}

// appendScalar appends the JSON of a cell; ok is false for lists and pairs with entries
// and for percentages.
func appendScalar(buf []byte, c *table.Cell, k table.Kind) (out []byte, ok bool) {
	switch k {
	case table.ID:
		buf = append(buf, '"')
		if c.Absent == table.Present {
			buf = strconv.AppendInt(buf, c.Int, 10)
		}
		return append(buf, '"'), true
	case table.Int, table.Bytes:
		return strconv.AppendInt(buf, c.Int, 10), true
	case table.Text, table.State:
		return words.AppendJSON(buf, c.Text), true
	case table.Bool:
		return strconv.AppendBool(buf, c.Int != 0), true
	case table.Time:
		buf = append(buf, '"')
		return append(appendTime(buf, c.Int), '"'), true
	case table.Duration:
		return appendSeconds(buf, c.Int), true
	case table.List:
		return append(buf, '[', ']'), len(c.List) == 0
	case table.Pairs:
		return append(buf, '{', '}'), len(c.List) == 0
	default:
		return buf, false
	}
}

// emptyWhenNone reports whether a cell without a value is written as "", [] or {}.
func emptyWhenNone(k table.Kind) bool {
	switch k {
	case table.Text, table.State, table.ID, table.List, table.Pairs:
		return true
	default:
		return false
	}
}

func writeCell(e encoder, c table.Cell, k table.Kind) {
	switch k {
	case table.ID:
		if c.Absent == table.None {
			e.text("")
			return
		}
		e.id(c.Int)
	case table.Int, table.Bytes:
		e.integer(c.Int)
	case table.Percent, table.Number:
		e.number(c.Float)
	case table.Exact:
		e.exact(c.Float)
	case table.Time:
		e.time(c.Int)
	case table.Duration:
		e.seconds(c.Int)
	case table.Bool:
		e.boolean(c.Int != 0)
	case table.List:
		e.texts(c.List)
	case table.Pairs:
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

// merge takes over what others have seen of the same grid.
func (it *items) merge(others []*items) {
	for _, o := range others {
		for j := range o.columns {
			it.columns[j].unknown = it.columns[j].unknown || o.columns[j].unknown
		}
	}
}

// writeUnknown names the columns that had unknown cells.
func (it *items) writeUnknown(e encoder) {
	var names []string
	if it.grid.Len() == 0 && !table.Known(it.grid.Table, -1) {
		names = append(names, "items")
	}
	for j := range it.columns {
		if it.columns[j].unknown || it.notRead(j) {
			names = append(names, it.columns[j].Name)
		}
	}
	writeNames(e, "unknown", names)
}

// notRead also holds in an empty list, where no cell could tell.
func (it *items) notRead(j int) bool {
	return !table.Known(it.grid.Table, it.columns[j].cell)
}

// listDocument is the envelope of a list.
func listDocument(g *view.Grid) document {
	return func(e encoder) {
		it := newItems(&g.Grid)
		c := g.Table.Env().Cluster
		e.beginObject()
		writeHead(e, g.Table.Resource().Kind+"List", &c.Origin, c.Gaps)
		if g.Len() < g.Matched {
			e.key("matched")
			e.integer(int64(g.Matched))
		}
		it.writeAll(e)
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
	if o.FileDate {
		e.key("taken_is_file_date")
		e.boolean(true)
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

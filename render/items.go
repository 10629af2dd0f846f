package render

import (
	"io"
	"slices"
	"strconv"
	"time"

	"kitescope/internal/encode"
	"kitescope/internal/table"
	"kitescope/internal/words"
)

// APIVersion is the version of the documents in docs/reference/json.md: it changes only when a key
// changes its meaning or goes away.
const APIVersion = "kitescope/v1"

// items writes the rows of a grid as objects.
type items struct {
	grid    *table.Grid
	columns []itemColumn
	// more, if it is not nil, tells keys of an item that no table has a place for.
	more func(e *encode.Encoder, row int)
}

type itemColumn struct {
	*table.Column
	cell   int // position in Schema.Columns
	quoted []byte
	// unknown says that a cell was unknown.
	unknown bool
}

// NewItems writes the rows of a grid, with its columns as keys.
func NewItems(g *table.Grid) *items {
	it := &items{grid: g, columns: make([]itemColumn, len(g.Columns))}
	for j, i := range g.Columns {
		c := &g.Table.Schema().Columns[i]
		it.columns[j] = itemColumn{Column: c, cell: i, quoted: append(words.AppendJSON(nil, c.Name), ':')}
	}
	return it
}

// Write tells row i. Unknown cells are left out; of absent ones those whose value would
// be a string are empty, the others are left out.
func (it *items) Write(e *encode.Encoder, i int) {
	e.BeginObject()
	for j := range it.columns {
		c := it.grid.Cell(i, j)
		if it.skip(j, c.Absent) {
			if e.ForTemplates() { // in which there is no other way to ask
				e.Entry(it.columns[j].Name, map[bool]string{true: words.UnknownMark}[c.Absent == table.Unknown])
			}
			continue
		}
		e.Key(it.columns[j].Name)
		WriteCell(e, c, it.columns[j].Kind)
	}
	if it.more != nil {
		it.more(e, it.grid.Row(i))
	}
	e.EndObject()
}

// writeAll writes the list.
func (it *items) writeAll(e *encode.Encoder) {
	e.Key("items")
	e.BeginList()
	if it.more != nil || !e.Items(it.grid.Len(), it.writeRows) {
		for i := range it.grid.Len() {
			it.Write(e, i)
		}
	}
	e.EndList()
}

// writeRows writes all items as JSON and takes over what their writers have seen.
func (it *items) writeRows(w io.Writer, separator string) error {
	out := encode.NewOutput(w, encode.Pieces)
	for _, o := range writeRows(&out, it.grid.Len(), func() *jsonItem { return &jsonItem{NewItems(it.grid), separator} }) {
		for j := range o.columns {
			it.columns[j].unknown = it.columns[j].unknown || o.columns[j].unknown
		}
	}
	return out.Flush()
}

// skip reports whether a cell is left out.
func (it *items) skip(j int, absent table.Absence) bool {
	switch absent {
	case table.Unknown:
		it.columns[j].unknown = true
		return true
	case table.None:
		return it.grid.Table.Schema().Sparse || !EmptyWhenNone(it.columns[j].Kind)
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
		dst = appendCell(dst, &c, column.Kind)
	}
	return append(dst, '}')
}

// appendCell appends the JSON of a cell, as writeCell has an Encoder write it.
func appendCell(dst []byte, c *table.Cell, k table.Kind) []byte {
	switch k {
	case table.ID, table.NamedID:
		dst = append(dst, '"')
		if c.Absent == table.Present {
			dst = strconv.AppendInt(dst, c.Int, 10)
		}
		return append(dst, '"')
	case table.Int, table.Bytes:
		return strconv.AppendInt(dst, c.Int, 10)
	case table.Percent, table.Number:
		return encode.AppendNumber(dst, c.Float)
	case table.Exact:
		return encode.AppendExact(dst, c.Float)
	case table.Bool:
		return strconv.AppendBool(dst, c.Int != 0)
	case table.Time:
		return append(encode.AppendTime(append(dst, '"'), c.Int), '"')
	case table.Duration:
		return encode.AppendSeconds(dst, c.Int)
	case table.List:
		return appendTexts(dst, c.List)
	case table.NamedIDs, table.NamedPairs, table.NamedText:
		plain, kind := c.ForScripts(k)
		return appendCell(dst, &plain, kind)
	case table.Pairs:
		dst = append(dst, '{')
		for i, s := range pairs(c.List) {
			dst = append(words.AppendJSON(comma(dst, i > 0), s.key), ':')
			dst = words.AppendJSON(dst, s.value)
		}
		return append(dst, '}')
	case table.Findings:
		return appendTallyJSON(dst, c)
	default:
		return words.AppendJSON(dst, c.Text)
	}
}

func appendTexts(dst []byte, list []string) []byte {
	dst = append(dst, '[')
	for i, s := range list {
		dst = words.AppendJSON(comma(dst, i > 0), s)
	}
	return append(dst, ']')
}

func comma(dst []byte, is bool) []byte {
	if is {
		return append(dst, ',')
	}
	return dst
}

// EmptyWhenNone reports whether a cell without a value is written as "", [] or {}.
func EmptyWhenNone(k table.Kind) bool {
	switch k {
	case table.Text, table.State, table.ID, table.NamedID, table.List, table.Pairs, table.Findings,
		table.NamedIDs, table.NamedPairs, table.NamedText:
		return true
	default:
		return false
	}
}

// WriteCell tells the value of a cell.
func WriteCell(e *encode.Encoder, c table.Cell, k table.Kind) {
	switch k {
	case table.ID, table.NamedID:
		if c.Absent == table.None {
			e.Text("")
			return
		}
		e.ID(c.Int)
	case table.Int, table.Bytes:
		e.Int(c.Int)
	case table.Percent, table.Number:
		e.Number(c.Float)
	case table.Exact:
		e.Exact(c.Float)
	case table.Time:
		e.Time(c.Int)
	case table.Duration:
		e.Seconds(time.Duration(c.Int))
	case table.Bool:
		e.Bool(c.Int != 0)
	case table.List:
		e.Texts(c.List)
	case table.NamedIDs, table.NamedPairs, table.NamedText:
		plain, kind := c.ForScripts(k)
		WriteCell(e, plain, kind)
	case table.Pairs:
		writePairs(e, c.List)
	case table.Findings:
		writeCellTally(e, c)
	default:
		e.Text(c.Text)
	}
}

// writePairs writes an object.
func writePairs(e *encode.Encoder, flat []string) {
	e.BeginObject()
	for _, p := range pairs(flat) {
		e.Entry(p.key, p.value)
	}
	e.EndObject()
}

type pair struct{ key, value string }

// pairs are keys and values that follow each other in a list; of a key that occurs twice the first counts.
func pairs(flat []string) (all []pair) {
	for i := 0; i+1 < len(flat); i += 2 {
		if !slices.ContainsFunc(all, func(p pair) bool { return p.key == flat[i] }) {
			all = append(all, pair{flat[i], flat[i+1]})
		}
	}
	return all
}

// writeUnknown names the columns that had unknown cells.
func (it *items) writeUnknown(e *encode.Encoder) {
	var names []string
	if it.grid.Len() == 0 && !table.Known(it.grid.Table, -1) {
		names = append(names, "items")
	}
	for j := range it.columns {
		if it.columns[j].unknown || it.notRead(j) {
			names = append(names, it.columns[j].Name)
		}
	}
	e.NonZero("unknown", names)
}

// notRead also holds in an empty list, where no cell could tell.
func (it *items) notRead(j int) bool {
	return !table.Known(it.grid.Table, it.columns[j].cell)
}

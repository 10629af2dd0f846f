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

// APIVersion is the version of the documents in docs/reference/json.md. It changes only if a key changes its
// meaning or is removed.
const APIVersion = "kitescope/v1"

// items encodes the rows of a grid as objects.
type items struct {
	grid    *table.Grid
	columns []itemColumn
	// extra, if not nil, writes additional keys of an item that tables do not have.
	extra func(e *encode.Encoder, row int)
}

type itemColumn struct {
	*table.Column
	cell   int // position in Schema.Columns
	quoted []byte
	// unknown is set if a cell was unknown.
	unknown bool
}

// NewItems returns an encoder of a grid's rows, with the columns as keys.
func NewItems(g *table.Grid) *items {
	it := &items{grid: g, columns: make([]itemColumn, len(g.Columns))}
	for j, i := range g.Columns {
		c := &g.Table.Schema().Columns[i]
		it.columns[j] = itemColumn{Column: c, cell: i, quoted: append(words.AppendJSON(nil, c.Name), ':')}
	}
	return it
}

// Write encodes row i. It omits unknown cells. It writes cells without a value as empty strings, lists or
// objects if EmptyWhenNone, and omits them otherwise or if the schema is sparse. For templates, an omitted cell
// is "?" if it is unknown, and "" otherwise.
func (it *items) Write(e *encode.Encoder, i int) {
	e.BeginObject()
	for j := range it.columns {
		c := it.grid.Cell(i, j)
		if it.skip(j, c.Absent) {
			if e.ForTemplates() { // templates cannot test whether a key exists
				e.Entry(it.columns[j].Name, map[bool]string{true: words.UnknownMark}[c.Absent == table.Unknown])
			}
			continue
		}
		e.Key(it.columns[j].Name)
		WriteCell(e, c, it.columns[j].Kind)
	}
	if it.extra != nil {
		it.extra(e, it.grid.Row(i))
	}
	e.EndObject()
}

// writeAll writes the list of items.
func (it *items) writeAll(e *encode.Encoder) {
	e.Key("items")
	e.BeginList()
	if it.extra != nil || !e.Items(it.grid.Len(), it.writeRows) {
		for i := range it.grid.Len() {
			it.Write(e, i)
		}
	}
	e.EndList()
}

// writeRows writes all items as JSON and records which columns have unknown cells.
func (it *items) writeRows(w io.Writer, separator string) error {
	out := encode.NewOutput(w, encode.Pieces)
	for _, o := range writeRows(&out, it.grid.Len(),
		func() *jsonItem { return &jsonItem{NewItems(it.grid), separator} }) {
		for j := range o.columns {
			it.columns[j].unknown = it.columns[j].unknown || o.columns[j].unknown
		}
	}
	return out.Flush()
}

// skip reports whether to omit a cell.
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

// appendRow appends an item as JSON on one line. It avoids a call of the Encoder per value, which dominates the
// run time for a million values.
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

// appendCell appends a cell as JSON, like WriteCell with an Encoder.
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

func comma(dst []byte, needed bool) []byte {
	if needed {
		return append(dst, ',')
	}
	return dst
}

// EmptyWhenNone reports whether a cell of the kind without a value is encoded as "", [] or {}.
func EmptyWhenNone(k table.Kind) bool {
	switch k {
	case table.Text, table.State, table.ID, table.NamedID, table.List, table.Pairs, table.Findings,
		table.NamedIDs, table.NamedPairs, table.NamedText:
		return true
	default:
		return false
	}
}

// WriteCell encodes the value of a cell.
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

// writePairs encodes pairs as an object.
func writePairs(e *encode.Encoder, flat []string) {
	e.BeginObject()
	for _, p := range pairs(flat) {
		e.Entry(p.key, p.value)
	}
	e.EndObject()
}

type pair struct{ key, value string }

// pairs returns keys and values that alternate in a list. If a key is repeated, the first value is used.
func pairs(flat []string) (all []pair) {
	for i := 0; i+1 < len(flat); i += 2 {
		if !slices.ContainsFunc(all, func(p pair) bool { return p.key == flat[i] }) {
			all = append(all, pair{flat[i], flat[i+1]})
		}
	}
	return all
}

// writeUnknown writes the names of the columns with unknown cells.
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

// notRead reports whether the metadata of a column was not read. It also works for empty lists, which have no
// cells.
func (it *items) notRead(j int) bool {
	return !table.Known(it.grid.Table, it.columns[j].cell)
}

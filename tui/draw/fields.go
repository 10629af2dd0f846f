package draw

import (
	"slices"
	"strings"

	"kitescope/inspect/view"
	"kitescope/internal/table"
)

// Fields formats the fields of tree nodes in aligned columns.
type Fields struct {
	Wide   bool           // include the kind of node, and ids
	Room   int            // number of cells for the fields of a node, 0 for no limit
	widest map[string]int // in cells, by field name
}

// Measure widens the columns to fit the fields of a node.
func (f *Fields) Measure(n *view.Node) {
	if f.widest == nil {
		f.widest = map[string]int{}
	}
	for _, x := range n.Fields() {
		if x.Cell.Absent != table.None {
			f.widest[x.Column.Name] = max(f.widest[x.Column.Name], Width(fieldText(&x)))
		}
	}
}

// Text returns the fields of a node in one line. It is plain if st is nil.
func (f *Fields) Text(st *Styles, n *view.Node) string {
	if st == nil {
		st = &Styles{Roles: make([]Style, 256)}
	}
	var b strings.Builder
	if f.Wide {
		b.WriteString(st.Dim.On(Fit(n.Kind, kindWidth)) + Pad(Gap))
	}
	fields := n.Fields()
	for _, k := range f.fitting(fields) {
		x := &fields[k]
		w := f.widest[x.Column.Name]
		text := ""
		if x.Cell.Absent != table.None {
			text = fieldText(x)
		}
		switch {
		case x.Column.Kind == table.Findings:
			b.WriteString(st.Roles[table.TallyOf(x.Cell).Role()].On(Fit(text, w)))
		case x.Column.Kind == table.State:
			b.WriteString(StateStyle(st, text).On(Fit(text, w)))
		case x.Column.RightAligned():
			b.WriteString(FitRight(text, w))
		default:
			b.WriteString(Fit(text, w))
		}
		b.WriteString(Pad(Gap))
	}
	return strings.TrimRight(b.String(), " ")
}

// fitting returns the indexes of the fields that fit. As in tables, the field with the highest priority is dropped
// first.
func (f *Fields) fitting(fields []view.Field) []int {
	var list []int
	used := -Gap
	if f.Wide {
		used += kindWidth + Gap
	}
	for k := range fields {
		name := fields[k].Column.Name
		if w := f.widest[name]; w > 0 && (name != "id" || f.Wide) {
			list = append(list, k)
			used += w + Gap
		}
	}
	for f.Room > 0 && used > f.Room {
		drop := 0
		for i, k := range list {
			if fields[k].Column.Priority >= fields[list[drop]].Column.Priority {
				drop = i
			}
		}
		if len(list) == 0 || fields[list[drop]].Column.Priority == 0 {
			break
		}
		used -= f.widest[fields[list[drop]].Column.Name] + Gap
		list = slices.Delete(list, drop, drop+1)
	}
	return list
}

// fieldText formats a field with its label or unit, e.g. "1000 rows", "1.2 MiB", "watcher 5", "Flushed".
func fieldText(x *view.Field) string {
	text := ShownText(x.Column, x.Cell)
	name := x.Column.Label()
	switch x.Column.Kind {
	case table.State, table.Bytes, table.Text, table.Findings:
		return text
	case table.Int, table.Percent:
		return text + " " + name
	default:
	}
	return name + " " + text
}

// kindWidth is the length of the longest node kind, segment-index.
const kindWidth = 13

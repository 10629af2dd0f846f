package tui

import (
	"slices"
	"strings"

	"kitescope/inspect/view"
	"kitescope/table"
	"kitescope/tui/draw"
)

// fieldLayout writes the fields of nodes below each other.
type fieldLayout struct {
	wide   bool           // with the kind of node, and ids
	room   int            // cells that there are for the fields of a node, 0 for any number
	widest map[string]int // by name of field
}

func (f *fieldLayout) learn(n *view.Node) {
	for _, x := range n.Fields() {
		if x.Cell.Absent != table.None {
			f.widest[x.Column.Name] = max(f.widest[x.Column.Name], draw.Width(said(&x)))
		}
	}
}

// text is what is said about a node; plain without styles.
func (f *fieldLayout) text(st *draw.Styles, n *view.Node) string {
	if st == nil {
		st = &draw.Styles{Roles: make([]draw.Style, 256)}
	}
	var b strings.Builder
	if f.wide {
		b.WriteString(st.Dim.On(draw.Fit(n.Kind, kindWidth)) + draw.Pad(draw.Gap))
	}
	fields := n.Fields()
	for _, k := range f.fitting(fields) {
		x := &fields[k]
		w := f.widest[x.Column.Name]
		text := ""
		if x.Cell.Absent != table.None {
			text = said(x)
		}
		switch {
		case x.Column.Kind == table.State:
			b.WriteString(draw.StateStyle(st, text).On(draw.Fit(text, w)))
		case x.Column.RightAligned():
			b.WriteString(draw.FitRight(text, w))
		default:
			b.WriteString(draw.Fit(text, w))
		}
		b.WriteString(draw.Pad(draw.Gap))
	}
	return strings.TrimRight(b.String(), " ")
}

// fitting are the fields that there is room for: as in tables, the highest
// priority goes first.
func (f *fieldLayout) fitting(fields []view.Field) []int {
	var list []int
	used := -draw.Gap
	if f.wide {
		used += kindWidth + draw.Gap
	}
	for k := range fields {
		name := fields[k].Column.Name
		if w := f.widest[name]; w > 0 && (name != "id" || f.wide) {
			list = append(list, k)
			used += w + draw.Gap
		}
	}
	for f.room > 0 && used > f.room {
		drop := 0
		for i, k := range list {
			if fields[k].Column.Priority >= fields[list[drop]].Column.Priority {
				drop = i
			}
		}
		if len(list) == 0 || fields[list[drop]].Column.Priority == 0 {
			break
		}
		used -= f.widest[fields[list[drop]].Column.Name] + draw.Gap
		list = slices.Delete(list, drop, drop+1)
	}
	return list
}

// said is a field in a sentence: "1000 rows", "1.2 MiB", "watcher 5", "Flushed".
func said(x *view.Field) string {
	text := draw.ShownText(x.Column, x.Cell)
	name := x.Column.Name
	for _, unit := range []string{"_bytes", "_seconds", "_percent"} {
		name = strings.TrimSuffix(name, unit)
	}
	name = strings.ReplaceAll(name, "_", " ")
	switch x.Column.Kind {
	case table.State, table.Bytes, table.Text:
		return text
	case table.Int, table.Percent:
		return text + " " + name
	default:
	}
	return name + " " + text
}

// kindWidth is the longest of the kinds of nodes: segment-index.
const kindWidth = 13

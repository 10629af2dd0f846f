package tui

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"kitescope/inspect/model"
	"kitescope/inspect/view"
	"kitescope/table"
	"kitescope/tui/draw"
	"kitescope/words"
)

// sectionRows is how many rows of a section a description lists: for more there is the table itself.
const sectionRows = 200

// describeLines lays out a description: fields, sections, records.
func describeLines(o *described, curves []Curve, w int) []PaneLine {
	// What is expensive is left out: of keys it is the record, which stands below anyway.
	fields := slices.DeleteFunc(slices.Clone(o.what.Fields), func(f view.Field) bool { return f.Column.Show == table.OnDemand })
	lines := append(fieldLines(fields, w), curveLines(curves, o.what.Ref.ID)...)
	for i := range o.what.Sections {
		lines = append(lines, PaneLine{})
		lines = append(lines, sectionLines(&o.what.Sections[i], w)...)
	}
	for i := range o.records {
		lines = append(lines, PaneLine{})
		lines = append(lines, recordLines(&o.records[i])...)
	}
	if len(o.missing) > 0 {
		lines = append(lines, PaneLine{}, PaneLine{text: "RECORDS NOT AT HAND", look: LineTitle})
		for _, key := range o.missing {
			lines = append(lines, PaneLine{text: words.Harmless(key), look: LineDim})
		}
	}
	return lines
}

// minTwoColumns is the width from which two fields stand on a line.
const minTwoColumns = 76

// fieldLines puts one field on a line, or two where the terminal is wide.
func fieldLines(fields []view.Field, w int) []PaneLine {
	label := 0
	for i := range fields {
		label = max(label, draw.Width(fieldName(&fields[i])))
	}
	label += 2
	var lines []PaneLine
	for i := range fields {
		f := &fields[i]
		name := draw.Fit(fieldName(f), label)
		if f.Column.Kind == table.List || f.Column.Kind == table.Pairs {
			lines = append(lines, listLines(name, f, w)...)
			continue
		}
		lines = append(lines, PaneLine{label: name, text: draw.ShownText(f.Column, f.Cell)})
	}
	if w >= minTwoColumns {
		return twoColumns(lines, label, w)
	}
	return lines
}

// twoColumns folds short neighbouring lines into one.
func twoColumns(lines []PaneLine, label, w int) []PaneLine {
	half := (w - 4) / 2
	short := func(l *PaneLine) bool { return strings.TrimSpace(l.label) != "" && draw.Width(l.text)+label < half }
	var folded []PaneLine
	for i := 0; i < len(lines); i++ {
		l := lines[i]
		if i+1 < len(lines) && short(&l) && short(&lines[i+1]) {
			l.text = draw.Fit(l.text, half-label) + lines[i+1].label + lines[i+1].text
			i++
		}
		folded = append(folded, l)
	}
	return folded
}

func fieldName(f *view.Field) string { return strings.ReplaceAll(f.Column.Name, "_", " ") }

// listLines wraps the items of a list over lines.
func listLines(name string, f *view.Field, w int) []PaneLine {
	items := f.Cell.List
	if f.Cell.Absent != table.Present || len(items) == 0 {
		return []PaneLine{{label: name, text: draw.CellText(f.Column, f.Cell)}}
	}
	if f.Column.Kind == table.Pairs {
		items = nil
		for i := 0; i+1 < len(f.Cell.List); i += 2 {
			items = append(items, f.Cell.List[i]+"="+f.Cell.List[i+1])
		}
	}
	room := w - draw.Width(name) - 4
	var lines []PaneLine
	text := ""
	for i, item := range items {
		item = words.Harmless(item)
		if i < len(items)-1 {
			item += ","
		}
		if text != "" && draw.Width(text)+1+draw.Width(item) > room {
			lines = append(lines, PaneLine{label: name, text: text})
			name, text = draw.Pad(draw.Width(name)), ""
		}
		if text != "" {
			text += " "
		}
		text += item
	}
	return append(lines, PaneLine{label: name, text: text})
}

// sectionLines is a small table under a title.
func sectionLines(s *view.Section, w int) []PaneLine {
	title := strings.ToUpper(s.Title)
	if s.Unknown {
		return []PaneLine{{text: title, look: LineTitle}, {text: "not known: this part of the metadata was not read", look: LineDim}}
	}
	n := s.Grid.Len()
	lines := []PaneLine{{text: title + "  " + words.Number(n), look: LineTitle}}
	if n == 0 {
		return lines
	}
	shown := min(n, sectionRows)
	head, rows := draw.PlainTable(s.Grid, shown, w-4)
	lines = append(lines, PaneLine{text: head, look: LineHead})
	for _, r := range rows {
		lines = append(lines, PaneLine{text: r})
	}
	if shown < n {
		lines = append(lines, PaneLine{text: fmt.Sprintf("… %s more: r lists them", words.Number(n-shown)), look: LineDim})
	}
	return lines
}

// recordLines is one decoded record under its key.
func recordLines(r *model.Record) []PaneLine {
	about := []string{r.Message, words.Bytes(int64(r.Size))}
	if r.ModRevision != 0 {
		about = append(about, "rev "+strconv.FormatInt(r.ModRevision, 10))
	}
	if r.Tombstone {
		about = append(about, "tombstone")
	}
	lines := []PaneLine{
		{text: "RECORD  " + words.Harmless(r.Key), look: LineTitle},
		{text: strings.Join(NonEmpty(about), " · "), look: LineDim},
	}
	if r.Problem != "" {
		lines = append(lines, PaneLine{text: "▲ " + words.Harmless(words.OneLine(r.Problem)), look: LineWarn})
	}
	for text := range strings.SplitSeq(strings.TrimRight(r.Text, "\n"), "\n") {
		lines = append(lines, PaneLine{text: words.Harmless(strings.ReplaceAll(text, "\t", "  "))})
	}
	return lines
}

// compareLines shows two descriptions side by side; what differs is marked.
func compareLines(a, b *view.Description, w int) []PaneLine {
	label := 0
	for i := range a.Fields {
		label = max(label, draw.Width(fieldName(&a.Fields[i])))
	}
	side := (w - label - 8) / 2
	row := func(name, x, y string, look LineLook) PaneLine {
		mark := "  "
		if look == LineChanged {
			mark = "~ "
		}
		return PaneLine{text: mark + draw.Fit(name, label) + "  " + draw.FitName(x, side) + "  " + draw.CutName(y, side), look: look}
	}
	lines := []PaneLine{row("", refName(a.Ref), refName(b.Ref), LineTitle)}
	same := 0
	for i := range a.Fields {
		x, y := draw.CellText(a.Fields[i].Column, a.Fields[i].Cell), draw.CellText(b.Fields[i].Column, b.Fields[i].Cell)
		look := LineChanged
		if x == y {
			look = LinePlain
			same++
		}
		lines = append(lines, row(fieldName(&a.Fields[i]), x, y, look))
	}
	return append(lines, PaneLine{}, PaneLine{text: fmt.Sprintf("  %d of %d fields are equal", same, len(a.Fields)), look: LineDim})
}

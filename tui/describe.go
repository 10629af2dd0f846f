package tui

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"kitescope/inspect/model"
	"kitescope/inspect/view"
	"kitescope/internal/table"
	"kitescope/internal/words"
	"kitescope/render"
	"kitescope/tui/draw"
)

// sectionRows is the maximum number of rows in a section of a description. The table of the resource shows
// the rest.
const sectionRows = 200

// objectText is an object with its available records.
type objectText struct {
	Description *view.Description // nil if the object does not exist
	Records     []model.Record
	Missing     []string // keys without a record
}

// objectTextOf collects the description and the records of the object in a row.
func objectTextOf(t view.Table, row int) objectText {
	o := objectText{Description: t.Describe(row)}
	keys := t.Env().Cluster.Keyspace
	for _, key := range o.Description.Records {
		if keys == nil {
			o.Missing = append(o.Missing, key)
			continue
		}
		if i, ok := keys.Find(key); ok {
			o.Records = append(o.Records, keys.Record(i))
		} else {
			o.Missing = append(o.Missing, key)
		}
	}
	return o
}

// lines returns the description as lines: fields, sections, records. related is the key that lists related objects.
func (o *objectText) lines(related string, w int) []draw.TextLine {
	// Leave out expensive fields. For keys this is the record, which is shown below anyway.
	fields := slices.DeleteFunc(slices.Clone(o.Description.Fields), func(f view.Field) bool {
		return f.Column.Show == table.OnDemand || f.Column.Omits(f.Cell)
	})
	lines := fieldLines(fields, w)
	for i := range o.Description.Sections {
		lines = append(lines, draw.TextLine{})
		lines = append(lines, sectionLines(&o.Description.Sections[i], related, w)...)
	}
	for i := range o.Records {
		lines = append(lines, draw.TextLine{})
		lines = append(lines, recordLines(&o.Records[i])...)
	}
	if len(o.Missing) > 0 {
		lines = append(lines, draw.TextLine{}, draw.TextLine{Text: "RECORDS NOT AVAILABLE", Look: draw.LookTitle})
		for _, key := range o.Missing {
			lines = append(lines, draw.TextLine{Text: words.Sanitize(key), Look: draw.LookDim})
		}
	}
	return lines
}

// minTwoColumns is the width in cells from which a line has two fields.
const minTwoColumns = 76

// fieldLines returns one field a line, or two if the terminal is wide.
func fieldLines(fields []view.Field, w int) []draw.TextLine {
	label := 0
	for i := range fields {
		label = max(label, draw.Width(fields[i].Column.Label()))
	}
	label += 2
	var lines []draw.TextLine
	for i := range fields {
		f := &fields[i]
		name := draw.Fit(f.Column.Label(), label)
		if cell, kind := f.Cell.ForPeople(f.Column.Kind); kind == table.List || kind == table.Pairs {
			lines = append(lines, listLines(name, &cell, kind, w)...)
			continue
		}
		lines = append(lines, draw.TextLine{Label: name, Text: draw.ShownText(f.Column, f.Cell)})
	}
	if w >= minTwoColumns {
		return twoColumns(lines, label, w)
	}
	return lines
}

// twoColumns joins short neighbouring lines into one.
func twoColumns(lines []draw.TextLine, label, w int) []draw.TextLine {
	half := (w - 4) / 2
	short := func(l *draw.TextLine) bool {
		return strings.TrimSpace(l.Label) != "" && draw.Width(l.Text)+label < half
	}
	var folded []draw.TextLine
	for i := 0; i < len(lines); i++ {
		l := lines[i]
		if i+1 < len(lines) && short(&l) && short(&lines[i+1]) {
			l.Text = draw.Fit(l.Text, half-label) + lines[i+1].Label + lines[i+1].Text
			i++
		}
		folded = append(folded, l)
	}
	return folded
}

// listLines wraps the items of a list.
func listLines(name string, cell *table.Cell, kind table.Kind, w int) []draw.TextLine {
	items := cell.List
	if cell.Absent != table.Present || len(items) == 0 {
		return []draw.TextLine{{Label: name, Text: render.Text(*cell, kind)}}
	}
	if kind == table.Pairs {
		items = nil
		for i := 0; i+1 < len(cell.List); i += 2 {
			items = append(items, cell.List[i]+"="+cell.List[i+1])
		}
	}
	room := w - draw.Width(name) - 4
	var lines []draw.TextLine
	text := ""
	for i, item := range items {
		item = words.Sanitize(item)
		if i < len(items)-1 {
			item += ","
		}
		if text != "" && draw.Width(text)+1+draw.Width(item) > room {
			lines = append(lines, draw.TextLine{Label: name, Text: text})
			name, text = draw.Pad(draw.Width(name)), ""
		}
		if text != "" {
			text += " "
		}
		text += item
	}
	return append(lines, draw.TextLine{Label: name, Text: text})
}

// sectionLines returns a small table under a title.
func sectionLines(s *view.Section, related string, w int) []draw.TextLine {
	title := strings.ToUpper(s.Title)
	if s.Unknown {
		return []draw.TextLine{
			{Text: title, Look: draw.LookTitle},
			{Text: "unknown: this part of the metadata was not read", Look: draw.LookDim},
		}
	}
	n := s.Grid.Len()
	lines := []draw.TextLine{{Text: title + "  " + words.Number(n), Look: draw.LookTitle}}
	if n == 0 {
		return lines
	}
	shown := min(n, sectionRows)
	head, rows := draw.PlainTable(s.Grid, shown, w-4)
	lines = append(lines, draw.TextLine{Text: head, Look: draw.LookHead})
	for _, r := range rows {
		lines = append(lines, draw.TextLine{Text: r})
	}
	if shown < n {
		lines = append(lines, draw.TextLine{
			Text: fmt.Sprintf("… %s more: %s lists them", words.Number(n-shown), related), Look: draw.LookDim,
		})
	}
	return lines
}

// recordLines returns a decoded record under its key.
func recordLines(r *model.Record) []draw.TextLine {
	about := []string{words.Bytes(int64(r.Size))}
	if r.Message != "" {
		about = append([]string{r.Message}, about...)
	}
	if r.ModRevision != 0 {
		about = append(about, "rev "+strconv.FormatInt(r.ModRevision, 10))
	}
	if r.Tombstone {
		about = append(about, "tombstone")
	}
	lines := []draw.TextLine{
		{Text: "RECORD  " + words.Sanitize(r.Key), Look: draw.LookTitle},
		{Text: strings.Join(about, " · "), Look: draw.LookDim},
	}
	if r.Problem != "" {
		lines = append(lines, draw.TextLine{Text: "▲ " + words.Sanitize(words.OneLine(r.Problem)), Look: draw.LookWarn})
	}
	for text := range strings.SplitSeq(strings.TrimRight(r.Text, "\n"), "\n") {
		lines = append(lines, draw.TextLine{Text: words.Sanitize(strings.ReplaceAll(text, "\t", "  "))})
	}
	return lines
}

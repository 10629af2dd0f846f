package read

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"kitescope/internal/hints"
	"kitescope/profile"
)

// readPerfReport reads the table that `perf report --stdio` prints. The table has no stacks: each row becomes a
// sample of one frame, and the profile is marked as flat. The value of a row is its period, if the table has
// one (--show-total-period). Otherwise it is the row's share of the event count above the table or, without an
// event count, the share itself in hundredths of a percent.
func readPerfReport(ctx context.Context, r io.Reader, o *Options) (*profile.Profile, error) {
	t := perfTable{b: newBuilder(o), count: -1}
	if err := newLines(ctx, r).each(t.line); err != nil {
		return nil, err
	}
	return t.finish()
}

const reportHint = "print it with: perf report -i perf.data --stdio --no-children -g none > FILE.txt"

// graphLine matches a call graph line below a row.
var graphLine = profile.NewPattern(`^ {8,}|^ *(?:\||---)`)

// perfTable reads the table of an event.
type perfTable struct {
	b *profile.Builder

	event   string
	count   int64 // event count, -1 if unknown
	header  []byte
	columns []perfColumn
	kinds   int // number of event types; the last one belongs to the current table
	total   int64
	lost    int64 // samples
	// rows is the number of rows of the table, and shares is the sum of the shares of these rows in hundredths
	// of a percent.
	rows, shares int64
}

// perfColumn is a column of a table: its heading and its first byte in a line.
type perfColumn struct {
	heading string
	from    int
}

func (t *perfTable) line(line []byte) error {
	switch {
	case len(bytes.TrimSpace(line)) == 0:
		return nil
	case line[0] == '#':
		return t.comment(line)
	case t.columns != nil && graphLine().Match(line) && !t.isRow(line):
		return nil
	case t.columns != nil && reportRow().Match(line):
		return t.row(line)
	}
	return malformedLine("perf report", reportHint, line)
}

// isRow reports whether a line begins with a share in the first column. Shares in a call graph are further
// right.
func (t *perfTable) isRow(line []byte) bool {
	return reportRow().Match(line) && (len(t.columns) == 1 || bytes.IndexByte(line, '%') < t.columns[1].from)
}

// comment parses the lines above a table: the sampled event, the headings, and the dots below the headings.
func (t *perfTable) comment(line []byte) error {
	text := string(bytes.TrimSpace(line[1:]))
	switch {
	case strings.HasPrefix(text, "Samples:"): // "Samples: 12K of event 'cycles'"
		t.event, t.count, t.columns, t.rows, t.shares = "", -1, nil, 0, 0
		if strings.Contains(text, " of events ") {
			return hints.Errorf("print each event alone: perf report --no-group -g none",
				"the table has several events in a row")
		}
		if _, name, ok := strings.Cut(text, "'"); ok {
			name, _, _ = strings.Cut(name, "'")
			t.event = string(trimModifiers([]byte(name)))
		}
	case strings.HasPrefix(text, "Event count"), strings.HasPrefix(text, "Total Lost Samples:"):
		_, number, _ := strings.Cut(text, ":")
		n, ok := perfCount([]byte(strings.TrimSpace(number)))
		if !ok {
			return malformedLine("perf report", reportHint, line)
		}
		if text[0] == 'E' {
			t.count = n
		} else {
			t.lost = n
		}
	case reportHeader().Match(line):
		t.header, t.columns = bytes.Clone(line), nil
	case t.header != nil && text != "" && strings.Trim(text, ". ") == "":
		t.layOut(line)
	}
	return nil
}

// layOut sets the columns from the dots below the headings.
func (t *perfTable) layOut(dots []byte) {
	for i := 1; i < len(dots); i++ {
		if dots[i] == '.' && dots[i-1] != '.' {
			t.columns = append(t.columns, perfColumn{from: i})
		}
	}
	for i := range t.columns {
		// In a wide table the dots may begin further right than the heading.
		t.columns[i].heading, _, _ = strings.Cut(t.cell(t.header, i), "  ")
	}
	t.header = nil
	e := eventWeight{name: t.event}
	v := profile.ValueType{Type: e.displayName(), Unit: e.unit()}
	if t.count < 0 && !t.hasPeriods() {
		v.Unit = "hundredths of a percent"
	}
	t.b.AddType(v, -1)
	t.kinds++
}

func (t *perfTable) hasPeriods() bool {
	return slices.ContainsFunc(t.columns, func(c perfColumn) bool { return c.heading == "Period" })
}

// cell returns the text of a column. Text in the last column may be longer than its dots.
func (t *perfTable) cell(line []byte, column int) string {
	from, to := t.columns[column].from, len(line)
	if column == 0 {
		from = 1
	}
	if column+1 < len(t.columns) {
		to = min(to, t.columns[column+1].from)
	}
	return strings.TrimSpace(string(line[min(from, to):to]))
}

// hundred is 100 % in hundredths of a percent.
const hundred = 10_000

func (t *perfTable) row(line []byte) error {
	share, period := int64(0), int64(-1)
	var labels []profile.Label
	var symbol string
	mapping := int32(profile.NoMapping)
	for i, c := range t.columns {
		cell := t.cell(line, i)
		switch c.heading {
		case "Overhead", "Self":
			text := strings.Replace(strings.TrimRight(cell, " %"), ",", ".", 1) // some locales print a decimal comma
			f, err := strconv.ParseFloat(text, 64)
			if err != nil || !(f >= 0 && f <= 1000) {
				return malformedLine("perf report", reportHint, line)
			}
			share = int64(math.Round(f * 100))
		case "Period":
			n, ok := perfCount([]byte(cell))
			if !ok {
				return malformedLine("perf report", reportHint, line)
			}
			period = n
		case "Command":
			labels = []profile.Label{{Key: profile.CommandLabel, Str: cell}}
		case "Shared Object":
			if cell != unknown && cell != "" {
				mapping = t.b.Mapping(profile.Mapping{File: cell, HasFunctions: true})
			}
		case "Symbol":
			symbol = symbolOf(cell)
		}
	}
	// Each share is rounded to hundredths of a percent.
	if t.rows, t.shares = t.rows+1, t.shares+share; t.shares > hundred+t.rows {
		return hints.Errorf(reportHint, "the shares of the table add up to more than 100%%")
	}
	value := share
	switch {
	case period >= 0 && t.count >= 0 &&
		math.Abs(float64(share)*float64(t.count)-float64(period)*hundred) > float64(t.count):
		return hints.Errorf(reportHint, "a row has a period of %d, which is not its share of %d", period, t.count)
	case period >= 0:
		value = period
	case t.count >= 0:
		value = int64(math.Round(float64(share) * float64(t.count) / hundred))
	}
	var err error
	if t.total, err = addAbs(t.total, value); err != nil || value == 0 {
		return err
	}
	values := make([]int64, t.kinds)
	values[t.kinds-1] = value
	at := t.b.Location(mapping, 0)
	if symbol != "" {
		at = t.b.Frame(symbol, mapping)
	}
	return t.b.Sample([]uint32{at}, values, labels...)
}

func (t *perfTable) finish() (*profile.Profile, error) {
	if t.total == 0 {
		return nil, hints.Errorf(reportHint, "the table has no rows")
	}
	p := t.b.Meta()
	p.Origin.Format, p.Origin.Flat = "perf report", true
	p.DefaultType = p.Types[0].Type
	note := "a table has no stacks, so CUM equals FLAT"
	if !t.hasPeriods() {
		note = fmt.Sprintf("values of %s are percentages of two decimals; %s", p.Types[0].Type, note)
	}
	t.b.Note(note, 1)
	if t.lost > 0 {
		t.b.Note(lostNote, t.lost)
	}
	return t.b.Profile(), nil
}

// symbolOf removes the privilege level from a symbol, e.g. "[k] schedule". It returns "" if the symbol is only
// an address.
func symbolOf(cell string) string {
	if len(cell) > 3 && cell[0] == '[' && cell[2] == ']' {
		cell = cell[3:]
	}
	cell = strings.TrimSpace(strings.TrimSuffix(cell, "(inlined)"))
	if hex, ok := strings.CutPrefix(cell, "0x"); ok && isHex([]byte(hex)) || cell == unknown {
		return ""
	}
	return cell
}

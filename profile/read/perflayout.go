package read

import (
	"bytes"
	"math"
	"slices"
	"strings"
)

// tableLayout says where the columns of a table of `perf report` are: between separators, or
// below the dots that underline the header (tools/perf/ui/stdio/hist.c of Linux).
type tableLayout struct {
	separator byte // 0: by position
	columns   []column
	from      []int
	header    []byte
}

// headings are those of perf report's columns (tools/perf/util/sort.c of Linux).
var headings = map[string]column{
	"Shared Object": columnObject,
	"Overhead":      columnPercent,
	"Children":      columnChildren,
	"Self":          columnPercent,
	"Samples":       columnSamples,
	"Period":        columnPeriod,
	"Command":       columnCommand,
	"Symbol":        columnSymbol,
}

// columnOf tells a column by its heading.
func columnOf(heading string) column {
	// Of a wide table the dots may lie further to the right than what is above them.
	heading, _, _ = strings.Cut(strings.TrimSpace(heading), "  ")
	return headings[heading]
}

// newLayout reads a header: "# Overhead  Command  Shared Object  Symbol", "# Overhead,Command,...".
func newLayout(header []byte) *tableLayout {
	text := bytes.TrimSpace(header[1:])
	l := &tableLayout{header: bytes.Clone(header)}
	first := len("Overhead") // as long as Children
	if len(text) > first && text[first] != ' ' {
		l.separator = text[first]
		for heading := range strings.SplitSeq(string(text), string(rune(l.separator))) {
			l.columns = append(l.columns, columnOf(heading))
		}
		return l
	}
	return l
}

// widths takes the positions of columns from the line of dots below the header.
func (l *tableLayout) widths(dots []byte) {
	if l.separator != 0 || l.columns != nil {
		return
	}
	for i := 1; i < len(dots); i++ {
		if dots[i] == '.' && dots[i-1] != '.' {
			l.from = append(l.from, i)
		}
	}
	for i, from := range l.from {
		to := len(l.header)
		if i+1 < len(l.from) {
			to = min(to, l.from[i+1])
		}
		l.columns = append(l.columns, columnOf(string(l.header[min(from, to):to])))
	}
	if len(l.from) > 0 {
		l.from[0] = 0
	}
}

// guessLayout makes one for a table without a header (-q), of its first row, with perf's default
// order: overhead, command, object, symbol.
func guessLayout(row []byte) *tableLayout {
	at := bytes.IndexByte(row, '%')
	if !reportRow.Match(row) || at < 0 {
		return nil
	}
	rest := bytes.TrimLeft(row[at+1:], " ")
	if len(rest) == 0 {
		return nil
	}
	l := &tableLayout{columns: []column{columnPercent, columnCommand, columnObject, columnSymbol}}
	if c := rest[0]; c == ',' || c == ';' || c == '|' || c == '\t' || c == ':' || c == '!' {
		l.separator = c
		return l
	}
	// Columns are two spaces apart; a symbol begins with its level in brackets.
	l.columns = nil
	l.separator = ' '
	return l
}

func (l *tableLayout) has(c column) bool {
	return slices.Contains(l.columns, c)
}

// tableRow is a row: who, and how much.
type tableRow struct {
	command, object, symbol string
	percent                 int64 // hundredths
	children                int64 // hundredths, -1 if there is no such column
	samples, period         int64 // -1 if there is no such column
}

// hundred is all, in hundredths of a percent.
const hundred = 10_000

// of is what a share of a count is; of none, the share itself.
func of(share, count int64) int64 {
	if count < 0 {
		return share
	}
	return int64(math.Round(float64(share) * float64(count) / hundred))
}

// value is a row's weight, and how far rounding may have moved it. count is that of the event, -1 if unknown.
func (r *tableRow) value(count int64) (value int64, slack float64) {
	switch {
	case r.period >= 0:
		return r.period, 0
	case count >= 0:
		return of(r.percent, count), float64(count)/(2*hundred) + 0.5
	}
	return r.percent, 0.5
}

// row reads a row, ok is false if the line is none.
func (l *tableLayout) row(line []byte) (r tableRow, ok bool) {
	r = tableRow{percent: -1, children: -1, samples: -1, period: -1}
	if l.separator == 0 && len(l.from) == 0 { // the line of dots was taken out
		l.separator = ' '
	}
	cells := l.cells(string(line))
	columns := l.columns
	if columns == nil {
		columns = guessColumns(cells)
	}
	if len(cells) < 2 || len(cells) < len(columns)-1 {
		return r, false
	}
	return r.take(cells, columns)
}

// take reads the cells of a row; ok is false if they are not what their columns hold.
func (r tableRow) take(cells []string, columns []column) (_ tableRow, ok bool) {
	for i, c := range columns[:min(len(columns), len(cells))] {
		cell := strings.TrimSpace(cells[i])
		switch c {
		case columnPercent, columnChildren:
			n, err := parsePercent(cell)
			if err != nil {
				return r, false
			}
			if c == columnChildren {
				r.children = n
			} else {
				r.percent = n
			}
		case columnSamples:
			if r.samples, ok = perfCount([]byte(cell)); !ok {
				return r, false
			}
		case columnPeriod:
			if r.period, ok = perfCount([]byte(cell)); !ok {
				return r, false
			}
		case columnCommand:
			r.command = cell
		case columnObject:
			r.object = cell
		case columnSymbol:
			r.symbol = symbolOf(cell)
		case columnOther:
		}
	}
	return r, r.percent >= 0
}

// cells takes a line apart.
func (l *tableLayout) cells(line string) []string {
	switch l.separator {
	case 0:
		cells := make([]string, len(l.from))
		for i, from := range l.from {
			to := len(line)
			if i+1 < len(l.from) {
				to = min(to, l.from[i+1])
			}
			cells[i] = line[min(from, to):to]
		}
		return cells
	case ' ':
		var cells []string
		for cell := range strings.SplitSeq(strings.TrimSpace(line), "  ") {
			if cell = strings.TrimSpace(cell); cell != "" {
				cells = append(cells, cell)
			}
		}
		return cells
	}
	var cells []string
	for cell := range strings.SplitSeq(line, string(rune(l.separator))) {
		if n := len(cells); n > 0 && l.separator == ',' && isDecimals(cell) && isDigits([]byte(strings.TrimSpace(cells[n-1]))) {
			cells[n-1] += "," + cell // a decimal comma
			continue
		}
		cells = append(cells, cell)
	}
	if n := len(l.columns); n > 0 && len(cells) > n {
		// perf writes a point for each separator in a name, but not everyone else does.
		cells[n-1] = strings.Join(cells[n-1:], string(rune(l.separator)))
		cells = cells[:n]
	}
	return cells
}

// isDecimals reports whether a cell is "51%": what follows a decimal comma.
func isDecimals(cell string) bool {
	digits, ok := strings.CutSuffix(strings.TrimSpace(cell), "%")
	return ok && len(digits) == 2 && isDigits([]byte(digits))
}

func guessColumns(cells []string) []column {
	columns := make([]column, len(cells))
	symbol := len(cells)
	for i, cell := range cells {
		if i > 0 && len(cell) > 4 && cell[0] == '[' && cell[2] == ']' {
			columns[i], symbol = columnSymbol, i
			break
		}
	}
	if len(columns) > 0 {
		columns[0] = columnPercent
	}
	if len(columns) > 1 && strings.HasSuffix(cells[1], "%") {
		columns[0], columns[1] = columnChildren, columnPercent
	}
	if symbol < len(cells) && symbol > 1 {
		columns[symbol-1] = columnObject
		if symbol > 2 {
			columns[symbol-2] = columnCommand
		}
	}
	return columns
}

// symbolOf takes the level off a symbol, "[k] schedule", and with -v the address, "0x16713e D [.] strcmp".
// A symbol that is an address stands for none.
func symbolOf(cell string) string {
	if strings.HasPrefix(cell, "0x") {
		if at := strings.Index(cell, "["); at > 0 {
			cell = cell[at:]
		}
	}
	if len(cell) > 3 && cell[0] == '[' && cell[2] == ']' {
		cell = strings.TrimSpace(cell[3:])
	}
	cell = strings.TrimSpace(strings.TrimSuffix(cell, "(inlined)"))
	if hex, ok := strings.CutPrefix(cell, "0x"); ok && isHex([]byte(hex)) || cell == unknown || cell == "0000000000000000" {
		return ""
	}
	return cell
}

package read

import "strings"

// separators are the column separators. If two give the same number of columns, the first one wins.
const separators = ",;\t"

func separator(line string) rune {
	best, most := ',', 0
	for _, r := range separators {
		if n := strings.Count(line, string(r)); n > most {
			best, most = r, n
		}
	}
	return best
}

// firstLine returns the header. It skips comments above the header.
func firstLine(head string) string {
	for line := range strings.Lines(head) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			return line
		}
	}
	return ""
}

// isCSV reports whether the file has a header of names and a number in a line below.
func isCSV(d *doc) bool {
	if d.isJSON() || d.binary() {
		return false
	}
	r := newReader(strings.NewReader(d.head), separator(firstLine(d.head)))
	header, err := r.Read()
	if err != nil || !isHeader(header) {
		return false
	}
	rows, alike, figures := 0, 0, false
	for ; rows < 20; rows++ {
		row, err := r.Read()
		if err != nil {
			break // the end of the file or of head
		}
		if len(row) == len(header) {
			alike++
		}
		for i, cell := range row {
			_, unit, ok := number(cell)
			figures = figures || ok && i < len(header) && (unit == "" || len(header) > 1 && isUnit(unit))
		}
	}
	return figures && alike*2 >= rows
}

// isHeader reports whether a line consists of names: only the first and the last may be empty, and none is a
// number or a sentence.
func isHeader(cells []string) bool {
	for i, c := range cells {
		c = strings.TrimSpace(c)
		if _, _, isNumber := number(c); isNumber && !startsWithPercentile(c) || len(c) > 200 ||
			c == "" && i > 0 && i < len(cells)-1 ||
			len(strings.Fields(c)) > 8 || strings.ContainsAny(c, "{}<>|") {
			return false
		}
	}
	return len(cells) > 0
}

// startsWithPercentile reports whether a number is part of a name, as in "99th" and "50% latency".
func startsWithPercentile(c string) bool {
	_, rest, _ := number(c)
	return strings.HasPrefix(rest, "th") || strings.HasPrefix(rest, "% ") || strings.HasPrefix(rest, "%ile")
}

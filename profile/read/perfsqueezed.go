package read

import (
	"slices"
	"strings"
)

// headings are those of perf report that are of several words, and those that take a single word of a row.
var headings = []struct {
	words  string
	column column
}{
	{"Shared Object", columnObject},
	{"Overhead", columnPercent},
	{"Children", columnChildren},
	{"Self", columnPercent},
	{"Samples", columnSamples},
	{"Period", columnPeriod},
	{"Command", columnCommand},
	{"Symbol", columnSymbol},
}

// isSqueezed reports whether a header has lost the second of the two spaces that perf prints between columns, as what is
// copied through a chat or a formatter does.
func isSqueezed(header string) bool {
	return strings.Contains(header, " ") && !strings.Contains(strings.TrimSpace(header), "  ")
}

// squeezedHeader reads the headings of such a table.
func squeezedHeader(header string) []column {
	var columns []column
	for rest := strings.TrimSpace(header); rest != ""; rest = strings.TrimSpace(rest) {
		known := false
		for _, h := range headings {
			if after, ok := strings.CutPrefix(rest, h.words); ok && (after == "" || after[0] == ' ') {
				columns, rest, known = append(columns, h.column), after, true
				break
			}
		}
		if !known {
			_, rest, _ = strings.Cut(rest, " ")
			columns = append(columns, columnOther)
		}
	}
	return columns
}

// squeezedRow takes a row apart whose columns have single spaces between them. Sure are the numbers at its beginning and
// the level before its symbol, "[.]"; the word before that is the object, and what is left the command.
func squeezedRow(line string, columns []column) (cells []string, of []column) {
	at := levelAt(line)
	if at < 0 && slices.Contains(columns, columnSymbol) || at < 0 && columns == nil {
		return nil, nil
	}
	symbol := ""
	if at >= 0 {
		line, symbol = line[:at], line[at:]
	}
	words := strings.Fields(line)
	if n := len(words); n > 2 && len(words[n-1]) == 1 && strings.HasPrefix(words[n-2], "0x") {
		words = words[:n-2] // of -v: the address, and where its symbol was looked up
	}
	if columns == nil {
		columns = squeezedColumns(words)
	}
	for _, c := range columns {
		if len(words) > 0 && (c == columnPercent || c == columnChildren || c == columnSamples || c == columnPeriod) {
			cells, of, words = append(cells, words[0]), append(of, c), words[1:]
		}
	}
	if n := len(words); n > 0 && slices.Contains(columns, columnObject) {
		cells, of, words = append(cells, words[n-1]), append(of, columnObject), words[:n-1]
	}
	if len(words) > 0 && slices.Contains(columns, columnCommand) {
		cells, of = append(cells, strings.Join(words, " ")), append(of, columnCommand)
	}
	symbol = strings.TrimRight(symbol, " ")
	for symbol != strings.TrimSuffix(symbol, " -") { // columns behind the symbol, of which nothing is known
		symbol = strings.TrimSuffix(symbol, " -")
	}
	return append(cells, symbol), append(of, columnSymbol)
}

// levelAt is where the level of a symbol begins: "[.]" for a user's, "[k]" for the kernel's (man perf-report).
func levelAt(line string) int {
	for i := 1; i+3 < len(line); i++ {
		if line[i] == '[' && line[i+2] == ']' && line[i-1] == ' ' && line[i+3] == ' ' && strings.IndexByte(".kguH", line[i+1]) >= 0 {
			return i
		}
	}
	return -1
}

// squeezedColumns are those of a row without a header: numbers while there are some, and who.
func squeezedColumns(words []string) []column {
	columns, counts := []column(nil), []column{columnSamples, columnPeriod}
	for i, w := range words[:max(0, len(words)-2)] {
		switch next := words[i+1]; {
		case strings.HasSuffix(w, "%") && i == 0 && strings.HasSuffix(next, "%"):
			columns = append(columns, columnChildren)
		case strings.HasSuffix(w, "%"):
			columns = append(columns, columnPercent)
		case isCount([]byte(w)) && len(counts) > 0:
			columns, counts = append(columns, counts[0]), counts[1:]
		default:
			return append(columns, columnCommand, columnObject)
		}
	}
	if len(columns) == 0 && len(words) > 0 {
		columns = append(columns, columnPercent)
	}
	return append(columns, columnCommand, columnObject)
}

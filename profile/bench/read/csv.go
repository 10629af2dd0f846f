package read

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"kitescope/internal/hints"
	"kitescope/profile/bench"
)

// plainCSV is any table with a header, in one of three forms:
//
//	run,qps,p99_ms                     a column is a metric, with its unit, and a line a run
//	run,pair,metric,unit,value         a line is a figure; "side" or "concurrency" may be there too
//	metric,unit,before,after           both sides in a line; with "pair" or "run" there is a line for each pair
//
// Commas, semicolons or tabs are between the columns.
func plainCSV() format {
	return format{
		Format: Format{"csv", "qps,p99_ms; or run,pair,metric,unit,value; or metric,before,after"},
		sniff:  isCSV,
		read:   readCSV,
	}
}

// role is what a column holds.
type role uint8

const (
	isValue role = iota // a metric of its own
	isLabel             // part of what was run
	isIgnored
	isRun
	isPair
	isSide
	isOf
	isConcurrency
	isMetric
	isUnitColumn
	isX
	isBefore
	isAfter
	isBetter
)

// roleNames are what people call the columns.
func roleNames(name string) (role, bool) {
	switch strings.ToLower(strings.Join(strings.FieldsFunc(name, func(r rune) bool { return strings.ContainsRune(" _-.()[]%", r) }), " ")) {
	case "run", "run id", "iteration", "trial", "round", "repetition", "rep":
		return isRun, true
	case "pair", "block":
		return isPair, true
	case "side", "variant", "version", "build", "arm", "group":
		return isSide, true
	case "of", "benchmark", "case", "test", "workload", "operation", "task", "name", "query":
		return isOf, true
	case "concurrency", "clients", "connections", "sessions", "threads", "users", "num users":
		return isConcurrency, true
	case "metric", "measure", "figure":
		return isMetric, true
	case "unit", "units":
		return isUnitColumn, true
	case "value", "x", "measurement":
		return isX, true
	case "before", "base", "baseline", "old", "a", "control", "baseline value", "baseline candidate":
		return isBefore, true
	case "after", "contender", "new", "b", "candidate", "candidate value", "contender value":
		return isAfter, true
	case "better", "direction":
		return isBetter, true
	case "timestamp", "time stamp", "date", "datetime", "started", "started at", "finished", "finished at", "when", "change", "diff", "delta", "difference", "diff b c", "diff b c / b", "ratio", "relative",
		"p", "p value", "ci", "verdict":
		return isIgnored, true
	}
	return isValue, false
}

// grid is a CSV file: a header, what each column is, and the lines below.
type grid struct {
	d      *doc
	comma  rune
	header []string
	units  []string
	roles  []role
	rows   [][]string
	lines  []int
	// sides are the columns that hold a side each.
	sides []int
	// at are the first columns of each role.
	at map[role]int
}

func (g *grid) reader(from io.Reader) *csv.Reader {
	r := csv.NewReader(from)
	g.comma = separator(firstLine(g.d.head))
	r.Comma = g.comma
	r.Comment, r.FieldsPerRecord, r.LazyQuotes, r.TrimLeadingSpace = '#', -1, true, true
	return r
}

func readCSV(d *doc) ([]*bench.Set, error) {
	g := &grid{d: d}
	if err := g.load(); err != nil {
		return nil, err
	}
	return g.read()
}

// read reads the lines in the form that the header shows.
func (g *grid) read() ([]*bench.Set, error) {
	if err := g.assign(); err != nil {
		return nil, err
	}
	switch {
	case len(g.sides) > 0:
		return g.manySides()
	case g.column(isMetric) >= 0 && g.column(isX) >= 0:
		return g.long()
	}
	return g.wide()
}

func (g *grid) load() error {
	r := g.reader(bytes.NewReader(g.d.data))
	for {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if len(g.rows) > maxValues {
			return hints.Errorf("is each line a run, and not a request?", "it has more than %d lines", maxValues)
		}
		line := 0
		if err == nil {
			line, _ = r.FieldPos(0)
		}
		switch {
		case err != nil:
			g.d.skipLine("skipped a line that is not CSV", err.Error())
		case g.header == nil:
			g.header = row
		case len(row) > len(g.header):
			g.d.skipLine("a line with more columns than the header was left out", fmt.Sprintf("line %d", line))
		default:
			if named := withoutEmptyEnd(g.header); len(row) < len(named) {
				g.d.unfit++ // it may lack empty cells at its end, but hardly most lines do
			} else {
				g.d.fit++
			}
			g.rows, g.lines = append(g.rows, row), append(g.lines, line)
		}
	}
}

// withoutEmptyEnd are the names of a header that has a separator behind the last.
func withoutEmptyEnd(header []string) []string {
	for n := len(header); n > 0; n-- {
		if strings.TrimSpace(header[n-1]) != "" {
			return header[:n]
		}
	}
	return nil
}

// assign finds the roles of the columns by their names and contents.
func (g *grid) assign() error {
	if len(g.header) > maxColumns {
		return hints.Errorf("is it a result of a benchmark?", "it has more than %d columns", maxColumns)
	}
	g.roles, g.units = make([]role, len(g.header)), make([]string, len(g.header))
	for i, name := range g.header {
		g.roles[i], _ = roleNames(name)
	}
	if before, after := g.column(isBefore), g.column(isAfter); before >= 0 && after >= 0 {
		g.sides = []int{before, after}
	}
	long := g.column(isMetric) >= 0 && g.column(isX) >= 0
	for i, name := range g.header {
		switch r := g.roles[i]; {
		case slices.Contains(g.sides, i):
			continue
		case r == isMetric || r == isX || r == isUnitColumn || r == isBetter:
			if !long && g.sides == nil {
				g.roles[i] = g.byContent(i)
			}
		case r == isOf && g.numeric(i):
			g.roles[i] = isValue
		case r == isValue || r == isBefore || r == isAfter:
			g.roles[i] = g.byContent(i)
		}
		if g.roles[i] == isValue {
			g.header[i], g.units[i] = splitUnit(name)
		}
	}
	g.index()
	return nil
}

// index remembers where the columns are: each line asks for some.
func (g *grid) index() {
	g.at = map[role]int{}
	for i, r := range g.roles {
		if _, ok := g.at[r]; !ok {
			g.at[r] = i
		}
	}
}

// byContent tells columns of figures from those of words.
func (g *grid) byContent(i int) role {
	if g.numeric(i) {
		return isValue
	}
	return isLabel
}

// numeric reports whether at least half of what stands in a column, in its first lines, are numbers.
func (g *grid) numeric(i int) bool {
	numbers, words := 0, 0
	const enough = 1000
	for _, row := range g.rows[:min(len(g.rows), enough)] {
		if i >= len(row) || strings.TrimSpace(row[i]) == "" {
			continue
		}
		if _, unit, ok := g.number(row[i]); ok && (unit == "" || isUnit(unit)) {
			numbers++
		} else {
			words++
		}
	}
	return numbers > 0 && numbers >= words
}

// number reads a cell; with semicolons between the columns a comma is that of decimals.
func (g *grid) number(cell string) (float64, string, bool) {
	if g.comma == ';' && strings.Count(cell, ",") == 1 && !strings.Contains(cell, ".") {
		cell = strings.Replace(cell, ",", ".", 1)
	}
	return number(cell)
}

func (g *grid) column(r role) int {
	for i, have := range g.roles {
		if have == r {
			return i
		}
	}
	return -1
}

// cell is what stands in a line in the column of a role, "" if there is none.
func (g *grid) cell(row []string, r role) string {
	if i, ok := g.at[r]; ok && i < len(row) {
		return strings.TrimSpace(row[i])
	}
	return ""
}

// metric is what a line says about all its figures.
func (g *grid) metric(row []string) bench.Metric {
	var of []string
	for i, r := range g.roles[:min(len(g.roles), len(row))] {
		if r == isOf || r == isLabel {
			if text := strings.TrimSpace(row[i]); text != "" {
				of = append(of, text)
			}
		}
	}
	n, err := strconv.Atoi(g.cell(row, isConcurrency))
	if err != nil || n < 0 {
		n = 0
	}
	return bench.Metric{Of: clean(strings.Join(of, " ")), Concurrency: n}
}

// value reads a figure, of a cell and its unit.
func (g *grid) value(cell, unit string) (float64, string, bool) {
	x, suffix, ok := g.number(cell)
	if !ok || math.IsNaN(x) {
		return 0, "", false
	}
	if suffix != "" {
		if unit == "" || isUnit(suffix) {
			return x, suffix, isUnit(suffix) || unit == ""
		}
		return 0, "", false
	}
	return x, unit, true
}

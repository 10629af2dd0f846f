package read

import (
	"bytes"
	"cmp"
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

// plainCSV reads any table with a header, in one of three forms:
//
//	run,qps,p99_ms                     a column is a metric, with its unit, and a line is a run
//	run,pair,metric,unit,value         a line is a value; "side" and "concurrency" are optional
//	metric,unit,before,after           a line has both sides; with "pair" or "run" there is a line for each pair
//
// Columns of words and of parameters name the benchmark. Columns are separated by commas, semicolons or tabs.
func plainCSV() format {
	return format{
		Format: Format{"csv", "qps,p99_ms; or run,pair,metric,unit,value; or metric,before,after"},
		sniff:  isCSV,
		read: func(d *doc) ([]*bench.Set, error) {
			g, err := loadGrid(d)
			if err != nil {
				return nil, err
			}
			g.assign()
			return g.sets()
		},
	}
}

// columnNames maps the names of columns with a special meaning to that meaning, e.g. "threads" to
// "concurrency".
var columnNames = map[string]string{
	"run": "run", "iteration": "run", "trial": "run", "pair": "pair", "side": "side", "variant": "side",
	"version":     "side",
	"concurrency": "concurrency", "clients": "concurrency", "sessions": "concurrency", "threads": "concurrency",
	"connections": "concurrency", "users": "concurrency", "vus": "concurrency", "workers": "concurrency",
	"metric": "metric", "unit": "unit", "value": "value", "better": "better",
	"before": "before", "baseline": "before", "old": "before", "after": "after", "candidate": "after", "new": "after",
	"timestamp": "time", "date": "time", "started": "time", "finished": "time",
}

// parameterNames returns the names of columns that hold parameters of the benchmark rather than results.
func parameterNames() []string {
	return strings.Fields("k topk top_k ef ef_search efsearch ef_construction efconstruction m nprobe nlist nq dim " +
		"batch batch_size shards replicas partitions filter_rate selectivity " +
		"target_rate target_qps target_rps target_throughput")
}

// grid is a CSV file: a header, and the lines below.
type grid struct {
	d      *doc
	comma  rune
	header []string
	rows   [][]string
	lines  []int
	// at maps a meaning in columnNames to its column. labels and parameters are the columns that name the
	// benchmark. figures are the columns with values of a metric.
	at                 map[string]int
	labels, parameters []int
	figures            []figureColumn
}

// figureColumn is a column with the values of a metric.
type figureColumn struct {
	at         int
	name, unit string
	better     bench.Direction
}

// figure is a cell of a line: the value of a metric on a side.
type figure struct {
	figureColumn
	side, cell string
}

func newReader(from io.Reader, comma rune) *csv.Reader {
	r := csv.NewReader(from)
	r.Comma, r.Comment, r.FieldsPerRecord, r.LazyQuotes, r.TrimLeadingSpace = comma, '#', -1, true, true
	return r
}

func loadGrid(d *doc) (*grid, error) {
	g := &grid{d: d, comma: separator(firstLine(d.head)), at: map[string]int{}}
	r := newReader(bytes.NewReader(d.data), g.comma)
	for {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if len(g.rows) > maxValues {
			return nil, hints.Errorf("is each line a run, and not a request?", "it has more than %d lines", maxValues)
		}
		if err != nil {
			return nil, err
		}
		line, _ := r.FieldPos(0)
		switch {
		case g.header == nil:
			g.header = row
		case len(row) > len(g.header) || len(row) < len(withoutEmptyEnd(g.header)):
			return nil, malformedLine(line, "has %d columns, and the header %d", len(row), len(g.header))
		default:
			g.rows, g.lines = append(g.rows, row), append(g.lines, line)
		}
	}
	if len(g.header) > maxColumns {
		return nil, hints.Errorf("is it a result of a benchmark?", "it has more than %d columns", maxColumns)
	}
	return g, nil
}

// withoutEmptyEnd returns the names of a header without empty names at the end, which a trailing separator
// causes.
func withoutEmptyEnd(header []string) []string {
	for n := len(header); n > 0; n-- {
		if strings.TrimSpace(header[n-1]) != "" {
			return header[:n]
		}
	}
	return nil
}

// assign sets the meaning of columns from their names or, if the name has none, from their content.
func (g *grid) assign() {
	for i, name := range g.header {
		if meaning := columnNames[strings.ToLower(strings.TrimSpace(name))]; meaning != "" {
			if _, taken := g.at[meaning]; !taken {
				g.at[meaning] = i
			}
		}
	}
	if !g.has("before", "after") {
		delete(g.at, "before")
		delete(g.at, "after")
	}
	if !g.has("metric", "value") && !g.has("before", "after") {
		delete(g.at, "metric")
	}
	if !g.has("metric", "value") {
		delete(g.at, "value")
	}
	for i, name := range g.header {
		switch meaning := columnNames[strings.ToLower(strings.TrimSpace(name))]; {
		case meaning != "" && g.has(meaning), meaning == "time":
		case slices.Contains(parameterNames(), strings.ToLower(strings.TrimSpace(name))):
			g.parameters = append(g.parameters, i)
		case g.numeric(i):
			c := figureColumn{at: i}
			c.name, c.unit = splitUnit(name)
			g.figures = append(g.figures, c)
		default:
			g.labels = append(g.labels, i)
		}
	}
}

func (g *grid) has(meanings ...string) bool {
	return !slices.ContainsFunc(meanings, func(m string) bool { _, ok := g.at[m]; return !ok })
}

// numeric reports whether the first value of a column is a number, with or without a unit.
func (g *grid) numeric(i int) bool {
	for _, row := range g.rows {
		if i < len(row) && !isEmpty(row[i]) {
			_, unit, ok := g.number(row[i])
			return ok && (unit == "" || isUnit(unit))
		}
	}
	return false
}

// number parses a cell. If columns are separated by semicolons, a single comma is the decimal separator.
func (g *grid) number(cell string) (float64, string, bool) {
	if g.comma == ';' && strings.Count(cell, ",") == 1 && !strings.Contains(cell, ".") {
		cell = strings.Replace(cell, ",", ".", 1)
	}
	return number(cell)
}

// canonicalNumber formats numbers uniformly, so that 16 and 16.0 are the same parameter.
func (g *grid) canonicalNumber(cell string) string {
	if x, unit, ok := g.number(cell); ok && unit == "" {
		return strconv.FormatFloat(x, 'f', -1, 64)
	}
	return strings.TrimSpace(cell)
}

// isEmpty reports whether a cell has no value.
func isEmpty(cell string) bool {
	cell = strings.ToLower(strings.TrimSpace(cell))
	return cell == "" || cell == "-" || cell == "n/a" || cell == "null"
}

// cell returns the text of a line in the column with the given meaning, or "" without such a column.
func (g *grid) cell(row []string, meaning string) string {
	if i, ok := g.at[meaning]; ok && i < len(row) {
		return strings.TrimSpace(row[i])
	}
	return ""
}

// metric returns the metric of a line without name and unit: the benchmark and the concurrency.
func (g *grid) metric(row []string) bench.Metric {
	var of []string
	for _, i := range g.labels {
		if i < len(row) && strings.TrimSpace(row[i]) != "" {
			of = append(of, strings.TrimSpace(row[i]))
		}
	}
	for _, i := range g.parameters {
		if i < len(row) && !isEmpty(row[i]) {
			of = append(of, strings.TrimSpace(g.header[i])+"="+g.canonicalNumber(row[i]))
		}
	}
	n, err := strconv.Atoi(g.canonicalNumber(g.cell(row, "concurrency")))
	if err != nil || n < 0 {
		n = 0
	}
	return bench.Metric{Benchmark: clean(strings.Join(of, " ")), Concurrency: n}
}

// figuresOf returns the values of a line, in the form given by the header.
func (g *grid) figuresOf(row []string, m *bench.Metric) []figure {
	var list []figure
	c := figureColumn{
		name: g.cell(row, "metric"), unit: g.cell(row, "unit"), better: parseDirection(g.cell(row, "better")),
	}
	if g.has("before", "after") && c.name == "" { // the label columns hold the metric name, whatever their header
		c.name, m.Benchmark = m.Benchmark, ""
	}
	if c.unit == "" {
		c.name, c.unit = splitUnit(c.name)
	}
	switch {
	case g.has("before", "after"):
		c.name = cmp.Or(c.name, "value")
		for _, side := range []string{"before", "after"} {
			list = append(list, figure{c, g.header[g.at[side]], g.cell(row, side)})
		}
	case g.has("metric", "value"):
		list = append(list, figure{c, g.cell(row, "side"), g.cell(row, "value")})
	default:
		for _, c := range g.figures {
			f := figure{c, g.cell(row, "side"), ""}
			if c.at < len(row) {
				f.cell = row[c.at]
			}
			list = append(list, f)
		}
	}
	return list
}

// sets reads all lines. The run of a line is its run column or its pair column. Without them, the n-th line of
// the same benchmark is run n.
func (g *grid) sets() ([]*bench.Set, error) {
	type counted struct {
		side string
		bench.Metric
	}
	times := map[counted]int{}
	all := sides{d: g.d}
	for n, row := range g.rows {
		m := g.metric(row)
		figures := g.figuresOf(row, &m)
		if len(figures) == 0 {
			return nil, hints.Errorf(formatsHint(), "no column holds figures")
		}
		m.Name = figures[0].name
		count := counted{figures[0].side, m}
		times[count]++
		pair := g.cell(row, "pair")
		run := cmp.Or(g.cell(row, "run"), pair, strconv.Itoa(times[count]))
		if len(figures) == 2 && g.has("before", "after") {
			pair = cmp.Or(pair, g.cell(row, "run")) // values on the same line were measured together
		}
		for _, f := range figures {
			s, err := all.side(f.side)
			if err != nil {
				return nil, err
			}
			at := s.run(run)
			if at < 0 {
				return nil, s.err
			}
			if pair != "" {
				s.set.Runs[at].Pair = clean(pair)
			}
			m.Name = f.name
			g.put(s, at, m, f, n)
		}
	}
	return all.sets()
}

// put adds the value of a cell. It ignores empty cells without a note.
func (g *grid) put(s *sheet, run int, m bench.Metric, f figure, n int) {
	if isEmpty(f.cell) {
		return
	}
	x, unit, ok := g.number(f.cell)
	if !ok || math.IsNaN(x) || unit != "" && f.unit != "" && !isUnit(unit) {
		g.d.skip("skipped values that are not numbers",
			fmt.Sprintf("line %d: %q", g.lines[n], strings.TrimSpace(f.cell)))
		return
	}
	m.Unit = cmp.Or(unit, f.unit)
	s.add(run, m, x, f.better)
}

// splitUnit splits the unit off the name of a column: "p99_ms", "latency (ms)", "latency [ms]", "latency, ms".
func splitUnit(name string) (string, string) {
	name = strings.TrimSpace(name)
	for _, around := range []string{"()", "[]"} {
		at := strings.LastIndexByte(name, around[0])
		if at > 0 && name[len(name)-1] == around[1] && isUnit(name[at+1:len(name)-1]) {
			return strings.TrimSpace(name[:at]), name[at+1 : len(name)-1]
		}
	}
	if word := lastWord(name); isRateWord(word) {
		return name, word // "search QPS" is both a name and a unit
	}
	at := strings.LastIndexAny(name, "_, ./")
	if at > 0 && at < len(name)-1 && name[at] != '/' && isUnit(name[at+1:]) && !shortUnit(name[at+1:]) {
		return strings.TrimRight(name[:at], "_, ."), name[at+1:]
	}
	if _, rest, ok := number(name); ok && rest == "%" {
		return name, "" // "99%" is a percentile
	}
	return name, ""
}

func lastWord(name string) string {
	return name[strings.LastIndexAny(name, "_, .-")+1:]
}

// isRateWord reports whether a word is a unit that is also a name.
func isRateWord(word string) bool {
	switch strings.ToLower(word) {
	case "qps", "rps", "tps", "iops", "ops":
		return true
	}
	return false
}

// shortUnit reports whether s is a unit that must be marked as a unit, because a column named "m" or "b" has no
// unit.
func shortUnit(s string) bool {
	switch strings.ToLower(s) {
	case "m", "h", "b":
		return true
	}
	return false
}

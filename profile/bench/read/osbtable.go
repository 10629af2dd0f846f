package read

import (
	"fmt"
	"strconv"
	"strings"

	"kitescope/internal/hints"
	"kitescope/profile/bench"
)

// openSearchTable is what OpenSearch Benchmark and its compare print, a table of Markdown. Rows are known without their
// heading too.
func openSearchTable() format {
	return format{
		Format: Format{osbTable, "tables that OpenSearch Benchmark and its compare print"},
		sniff: func(d *doc) bool {
			return len(d.data) <= maxMarkdown && !d.isJSON() && areOSB(markdownTables(d))
		},
		read: readOpenSearchTable,
	}
}

// osbTable is the word for tables of OpenSearch Benchmark, as markdown or CSV.
const osbTable = "opensearch benchmark table"

// maxMarkdown is how large a report with tables may be.
const maxMarkdown = 4 << 20

// mdTable is one table of a text.
type mdTable struct {
	header []string
	rows   [][]string
	lines  []int
}

// markdownTables finds the tables: a header above a line of dashes, or rows of OpenSearch Benchmark alone.
func markdownTables(d *doc) []mdTable {
	var tables []mdTable
	var current *mdTable
	previous, rows := []string(nil), 0
	for n, line := range d.lines() {
		text := strings.TrimSpace(line)
		cells := markdownCells(text)
		switch {
		case strings.HasPrefix(text, "#"):
			current, previous = nil, nil
		case text == "":
			current = nil // between a header and its rule mail programs put empty lines
		case cells == nil:
			current, previous = nil, nil
		case isRule(cells):
			if len(previous) == len(cells) && len(tables) < maxNotes {
				tables = append(tables, mdTable{header: previous})
				current = &tables[len(tables)-1]
			}
			previous = nil
		case current != nil && rows < maxRuns*10:
			rows++
			current.rows, current.lines = append(current.rows, cells), append(current.lines, n)
		case osbHeader(cells) != nil && len(tables) < maxNotes:
			tables = append(tables, mdTable{header: osbHeader(cells), rows: [][]string{cells}, lines: []int{n}})
			current = &tables[len(tables)-1]
		default:
			previous = cells
		}
	}
	return tables
}

// markdownCells splits a row; nil if it is none. The bars at both ends may be missing; one behind a backslash is text.
func markdownCells(text string) []string {
	if strings.Contains(text, `\|`) {
		text = strings.ReplaceAll(text, `\|`, "\x00")
	}
	if !strings.Contains(text, "|") {
		return nil
	}
	cells := strings.Split(strings.TrimSuffix(strings.TrimPrefix(text, "|"), "|"), "|")
	for i, c := range cells {
		if strings.ContainsAny(c, "\x00`*") {
			c = strings.NewReplacer("\x00", "|", "`", "", "**", "").Replace(c)
		}
		cells[i] = strings.TrimSpace(c)
	}
	return cells
}

// isRule recognises |---|:---:|.
func isRule(cells []string) bool {
	for _, c := range cells {
		if strings.Trim(c, "-:") != "" || !strings.Contains(c, "-") {
			return false
		}
	}
	return len(cells) > 0
}

// osbHeader is what OpenSearch Benchmark and Rally write above such a row; nil if it is none of theirs.
func osbHeader(cells []string) []string {
	if !hasAny(cells[0], "th percentile ", "Min Throughput", "Mean Throughput", "Median Throughput", "Max Throughput", "Cumulative ") {
		return nil
	}
	last := cells[len(cells)-1]
	switch {
	case len(cells) == 4 && isUnit(last):
		return []string{"Metric", "Task", "Value", "Unit"}
	case len(cells) == 6 && isUnit(last):
		return []string{"Metric", "Task", "Baseline", "Contender", "Diff", "Unit"}
	case len(cells) == 7 && isUnit(cells[5]):
		return []string{"Metric", "Task", "Baseline", "Contender", "Diff", "Unit", "Diff %"}
	case len(cells) == 7 && isUnit(last):
		return []string{"Metric", "Task", "Baseline", "Contender", "% Diff", "Diff", "Unit"}
	}
	return nil
}

func readOpenSearchTable(d *doc) ([]*bench.Set, error) {
	tables := markdownTables(d)
	var sets []*bench.Set
	for i := range tables {
		t := &tables[i]
		g := &grid{d: d, header: t.header, rows: t.rows, lines: t.lines}
		read, err := g.read()
		if err != nil {
			d.skip("a table that holds no figures was left out", err.Error())
			continue
		}
		if sets, err = merge(sets, read); err != nil {
			return nil, err
		}
	}
	if len(sets) == 0 {
		return nil, hints.Errorf(known(), "no table in it has numbers%s", d.complaint())
	}
	return sets, nil
}

// areOSB reports whether all tables are of OpenSearch Benchmark.
func areOSB(tables []mdTable) bool {
	for _, t := range tables {
		if len(t.header) < 4 || !strings.EqualFold(t.header[0], "Metric") || !strings.EqualFold(t.header[1], "Task") {
			return false
		}
	}
	return len(tables) > 0
}

// merge adds further tables of the same sides: a run of the same name gets the further figures.
func merge(have, more []*bench.Set) ([]*bench.Set, error) {
	if have == nil {
		return more, nil
	}
	if len(have) != len(more) {
		return nil, hints.Errorf("keep the tables in files of their own", "one table holds %d sides, another %d", len(have), len(more))
	}
	for i, s := range more {
		names := map[string]int{}
		for j, r := range have[i].Runs {
			names[r.Name] = j
		}
		for _, r := range s.Runs {
			if j, ok := names[r.Name]; ok && !overlaps(have[i].Runs[j], r) {
				have[i].Runs[j].Values = append(have[i].Runs[j].Values, r.Values...)
				continue
			}
			r.Name = strconv.Itoa(len(have[i].Runs) + 1)
			have[i].Runs = append(have[i].Runs, r)
		}
		if len(have[i].Runs) > maxRuns {
			return nil, fmt.Errorf("it has more than %d runs", maxRuns)
		}
	}
	return have, nil
}

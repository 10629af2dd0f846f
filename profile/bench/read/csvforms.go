package read

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"kitescope/internal/hints"
	"kitescope/profile/bench"
)

// splitUnit takes the unit off the name of a column: "p99_ms", "latency (ms)", "latency [ms]", "latency, ms".
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

// isRateWord recognises units that are names as well.
func isRateWord(word string) bool {
	switch strings.ToLower(word) {
	case "qps", "rps", "tps", "iops", "ops":
		return true
	}
	return false
}

// shortUnit are letters that are units only where somebody says so: a column "m" or "b" is no time.
func shortUnit(s string) bool {
	switch strings.ToLower(s) {
	case "m", "h", "b":
		return true
	}
	return false
}

// manySides is the form with a side in a column.
func (g *grid) manySides() ([]*bench.Set, error) {
	var sheets []*sheet
	for _, column := range g.sides {
		s := newSheet(g.d)
		s.set.Name = clean(g.header[column])
		sheets = append(sheets, s)
	}
	times := map[bench.Metric]int{}
	for n, row := range g.rows {
		m := g.metric(row)
		unit := g.cell(row, isUnitColumn)
		m.Name = g.cell(row, isMetric)
		if m.Name == "" { // the words are the name, whatever their column is called
			m.Name, m.Of = m.Of, ""
		}
		if unit == "" {
			m.Name, unit = splitUnit(m.Name)
		}
		m.Name = cmp.Or(m.Name, "value")
		times[m]++
		run, pair := g.cell(row, isRun), g.cell(row, isPair)
		switch {
		case run == "" && pair == "":
			run = strconv.Itoa(times[m])
		case run == "":
			run = pair
		case pair == "":
			pair = run // figures of one line were made together
		}
		for i, s := range sheets {
			at := s.run(run)
			if at < 0 {
				return nil, s.err
			}
			s.set.Runs[at].Pair = clean(pair)
			if column := g.sides[i]; column < len(row) {
				g.put(s, at, m, strings.TrimSpace(row[column]), unit, g.cell(row, isBetter), n)
			}
		}
	}
	var sets []*bench.Set
	for _, s := range sheets {
		if s.err != nil {
			return nil, s.err
		}
		sets = append(sets, s.set)
	}
	return sets, nil
}

// put adds what stands in a cell. An empty one is no figure, and nothing is said about it.
func (g *grid) put(s *sheet, run int, m bench.Metric, cell, unit, better string, n int) {
	if cell == "" || cell == "-" || strings.EqualFold(cell, "n/a") || strings.EqualFold(cell, "null") {
		return
	}
	x, unit, ok := g.value(cell, unit)
	if !ok {
		g.d.skip("skipped values that are not numbers", fmt.Sprintf("line %d: %q", g.lines[n], cell))
		return
	}
	m.Unit = unit
	s.add(run, m, x, betterOf(better))
}

// bySide keeps a sheet for each side that a column names.
type bySide struct {
	d     *doc
	names []string
	all   map[string]*sheet
}

func (b *bySide) sheet(name string) *sheet {
	name = clean(name)
	if b.all == nil {
		b.all = map[string]*sheet{}
	}
	if b.all[name] == nil {
		b.all[name] = newSheet(b.d)
		b.all[name].set.Name = name
		b.names = append(b.names, name)
	}
	return b.all[name]
}

func (b *bySide) sets() ([]*bench.Set, error) {
	var sets []*bench.Set
	if len(b.names) > maxNotes {
		return nil, hints.Errorf("name the right column with the option for columns", "%d sides in one file", len(b.names))
	}
	for _, name := range b.names {
		if err := b.all[name].err; err != nil {
			return nil, err
		}
		sets = append(sets, b.all[name].set)
	}
	return sets, nil
}

// figureOf is a metric of one side.
type figureOf struct {
	*sheet
	bench.Metric
}

// run is the run of a line, -1 where the sheet has an error: what the line calls it, else its pair, else how many of the
// metric there were.
func (g *grid) run(s *sheet, row []string, times map[figureOf]int, m bench.Metric) int {
	times[figureOf{s, m}]++
	pair := g.cell(row, isPair)
	at := s.run(cmp.Or(g.cell(row, isRun), pair, strconv.Itoa(times[figureOf{s, m}])))
	if at >= 0 && pair != "" {
		s.set.Runs[at].Pair = clean(pair)
	}
	return at
}

// long is the form with a figure in a line.
func (g *grid) long() ([]*bench.Set, error) {
	sides := bySide{d: g.d}
	times := map[figureOf]int{}
	for n, row := range g.rows {
		s := sides.sheet(g.side(row))
		m := g.metric(row)
		m.Name = g.cell(row, isMetric)
		unit := g.cell(row, isUnitColumn)
		if unit == "" {
			m.Name, unit = splitUnit(m.Name)
		}
		at := g.run(s, row, times, m)
		if at < 0 {
			return nil, s.err
		}
		g.put(s, at, m, g.cell(row, isX), unit, g.cell(row, isBetter), n)
	}
	return sides.sets()
}

// side is the side of a line: "" if the file is one.
func (g *grid) side(row []string) string { return g.cell(row, isSide) }

// wide is the form with a metric in a column. Lines with the same name are runs of the same thing.
func (g *grid) wide() ([]*bench.Set, error) {
	if g.column(isValue) < 0 {
		return nil, hints.Errorf(known(), "no column holds figures")
	}
	sides := bySide{d: g.d}
	times := map[figureOf]int{}
	for n, row := range g.rows {
		s, m := sides.sheet(g.side(row)), g.metric(row)
		at := g.run(s, row, times, m)
		if at < 0 {
			return nil, s.err
		}
		for i, r := range g.roles[:min(len(g.roles), len(row))] {
			if r != isValue {
				continue
			}
			m.Name = g.header[i]
			g.put(s, at, m, strings.TrimSpace(row[i]), g.units[i], "", n)
		}
	}
	return sides.sets()
}

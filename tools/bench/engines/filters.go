package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"kitescope/engine/binlog"
	"kitescope/engine/expr"
)

// filterRows is the number of rows that each filter is evaluated on.
const filterRows = 1_000_000

// filterCase is an expression and the maximum time of its evaluation; 0: no maximum.
type filterCase struct {
	text string
	most time.Duration
}

func filterCases() []filterCase {
	const most = 3 * time.Millisecond
	return []filterCase{
		{"n < 500", most},
		{"n == 7", most},
		{"d >= 50.5", most},
		{"100 <= n < 200", 0},
		{"n in [1, 2, 3]", 0},
		{`s == "word-77"`, 0},
		{`s like "word-1%"`, 0},
		{`n < 500 and d > 50 or s == "word-5"`, 0},
		{`j["k"] < 500`, 0},
	}
}

// filters measures filter expressions over columns on one thread. There is no peer: the ratio is the maximum
// time divided by the time taken.
func (b *bench) filters(context.Context) error {
	columns, schema := filterColumns()
	for _, c := range filterCases() {
		p, err := expr.Parse(c.text, schema)
		if err != nil {
			return err
		}
		left := 0
		once := func() (timing, error) {
			return timeThread(func() error {
				rows, err := p.Excluded(columns)
				left = columns.Rows - rows.Count()
				return err
			})
		}
		times := make([]timing, 0, b.rounds)
		for range b.rounds + 1 {
			t, err := once()
			if err != nil {
				return err
			}
			times = append(times, t)
		}
		r := row{
			Part: partFilters, What: fmt.Sprintf("filter `%s`, %s rows", c.text, thousands(columns.Rows)),
			Ours: span(medianPerOp(times[1:], 1)),
			Same: thousands(left) + " rows pass", Wrong: left == 0 || left == columns.Rows,
		}
		if c.most > 0 {
			ratios := make([]float64, b.rounds)
			for i, t := range times[1:] {
				ratios[i] = float64(c.most) / float64(max(t, 1))
			}
			r.Their, r.Ratio, r.Bar = span(c.most)+" allowed", spreadOf(ratios), 1
		}
		b.report.add(r)
	}
	return nil
}

// filterColumns returns columns of integers, floats, strings and JSON documents, which are the same in each
// run.
func filterColumns() (*expr.Columns, *expr.Schema) {
	const n, d, s, j = 100, 101, 102, 103
	numbers, fractions := make([]int64, filterRows), make([]float64, filterRows)
	texts, docs := make([]string, filterRows), make([]string, filterRows)
	random := rand.New(rand.NewPCG(filterRows, 1))
	for i := range numbers {
		numbers[i], fractions[i] = random.Int64N(1000), 100*random.Float64()
		texts[i] = fmt.Sprintf("word-%d", random.IntN(16384))
		docs[i] = fmt.Sprintf(`{"title":"%s","k":%d}`, texts[i], numbers[i])
	}
	columns := map[int64]*binlog.Column{
		n: {Rows: filterRows, Int64s: numbers}, d: {Rows: filterRows, Floats: fractions},
		s: {Rows: filterRows, Strings: texts}, j: {Rows: filterRows, Strings: docs},
	}
	return &expr.Columns{Rows: filterRows, Fields: columns}, &expr.Schema{Fields: []expr.Field{
		{ID: n, Name: "n", Type: binlog.Int64},
		{ID: d, Name: "d", Type: binlog.Double},
		{ID: s, Name: "s", Type: binlog.VarChar},
		{ID: j, Name: "j", Type: binlog.JSON},
	}}
}

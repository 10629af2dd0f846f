package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"kitescope/tools/bench/measure"
	"kitescope/tools/bench/metagen"
)

// row is one command and its costs.
type row struct {
	what    string
	program func(round int) measure.Program
	// after cleans up after a round.
	after func(round int)
	bar   bar
	costs []measure.Cost
}

// bar is the bar of a row. Zero fields set no bar.
type bar struct {
	// against names the row whose median wall time is the unit.
	against string
	ratio   float64
	// extra is the allowed time above the other row. It replaces ratio.
	extra   time.Duration
	peakRSS int64
}

// commandTable is the result of the commands part for one number of segments.
type commandTable struct {
	shape  metagen.Shape
	rounds int
	rows   []*row
}

func (t *commandTable) find(what string) *row {
	if i := slices.IndexFunc(t.rows, func(r *row) bool { return r.what == what }); i >= 0 {
		return t.rows[i]
	}
	return nil
}

// The names of the rows that other rows are compared with.
const (
	rowFloor = "floor: Range over the same prefixes, results discarded"
	rowEmpty = "`version`: startup only"
	rowJSON  = "`get segments -o json`"
	rowTable = "`get segments`"
)

const megabyte = 1_000_000

// rows returns the measured commands. Bars on memory were set for 200,000 segments and apply up to that
// number.
func (b *bench) rows(c *cluster, db string) []*row {
	kitescope := func(args ...string) func(int) measure.Program {
		return func(int) measure.Program { return b.program(args...) }
	}
	live, file := []string{"--from", c.from()}, []string{"--from", db}
	get := func(from []string, args ...string) func(int) measure.Program {
		return kitescope(slices.Concat([]string{"get", "segments"}, args, from)...)
	}
	one := "coll=" + c.shape.CollectionName(7)
	rss := func(mb int64) int64 {
		if c.shape.Segments > 200_000 {
			return 0
		}
		return mb * megabyte
	}
	saved := func(round int) string { return filepath.Join(b.scratch, fmt.Sprintf("saved-%d.kite", round)) }
	rows := []*row{
		{what: rowFloor, program: func(int) measure.Program {
			return measure.Program{Path: b.floor, Args: []string{"-endpoint", c.Endpoint}}
		}},
		{what: rowEmpty, program: kitescope("version")},
		{what: rowJSON, program: get(live, "-o", "json"), bar: bar{against: rowFloor, ratio: 1.6, peakRSS: rss(250)}},
		{what: rowTable, program: get(live), bar: bar{against: rowFloor, ratio: 1.5, peakRSS: rss(200)}},
		{
			what: "`get segments " + one + "`", program: get(live, one),
			bar: bar{against: rowEmpty, extra: 100 * time.Millisecond},
		},
		{what: rowJSON + " from the .db file", program: get(file, "-o", "json"), bar: bar{against: rowJSON, ratio: 1}},
		{what: rowTable + " from the .db file", program: get(file), bar: bar{against: rowTable, ratio: 1}},
		{what: "`get segments " + one + "` from the .db file", program: get(file, one)},
		{
			what: "`snapshot save`",
			program: func(round int) measure.Program {
				return b.program("snapshot", "save", saved(round), "--from", c.from())
			},
			after: func(round int) { _ = os.Remove(saved(round)) }, // its cost was measured before
			bar:   bar{against: rowFloor, ratio: 2},
		},
	}
	if etcdctl, err := exec.LookPath("etcdctl"); err == nil {
		rows = slices.Insert(rows, 1, &row{what: "`etcdctl get --prefix`", program: func(int) measure.Program {
			return measure.Program{
				Path: etcdctl, Env: []string{"ETCDCTL_API=3"},
				Args: []string{
					"--endpoints", c.Endpoint, "get", "--prefix", c.shape.Root + "/", "--command-timeout", "5m",
				},
			}
		}})
	}
	return rows
}

// commands measures every row against a cluster with the given number of segments. The first round warms
// caches and does not count.
func (b *bench) commands(ctx context.Context, segments, rounds int) (*commandTable, error) {
	c, err := b.cluster(ctx, metagen.Of(segments))
	if err != nil {
		return nil, err
	}
	defer c.Stop()
	db, err := c.snapshot(ctx)
	if err != nil {
		return nil, err
	}
	t := &commandTable{shape: c.shape, rounds: rounds, rows: b.rows(c, db)}
	b.logf("%d segments: counting what is listed", segments)
	for _, from := range []string{c.from(), db} {
		if err := b.verify(ctx, c.shape, from); err != nil {
			return nil, err
		}
	}
	for round := range rounds + 1 {
		b.logf("%d segments: round %d of %d", segments, round, rounds)
		for _, r := range t.rows {
			cost, err := b.runner.Run(ctx, r.program(round))
			if r.after != nil {
				r.after(round)
			}
			if err != nil {
				return nil, err
			}
			if round > 0 {
				r.costs = append(r.costs, cost)
			}
			pause()
		}
	}
	return t, nil
}

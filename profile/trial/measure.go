package trial

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"kitescope/profile/bench"
	"kitescope/profile/bench/read"
	"kitescope/profile/significance"
)

// Names of the metrics of each run.
const (
	MetricCPU  = "CPU time"
	MetricWall = "wall time"
	MetricRSS  = "max RSS"
	// MetricCPUPerRequest replaces MetricCPU if the load prints its number of requests. A load of fixed duration
	// sends more requests to a faster program, and their additional CPU time is not a loss.
	MetricCPUPerRequest = "CPU time per request"
)

// measure is step 7: it runs both programs in pairs.
func (t *trial) measure(ctx context.Context) error {
	order := t.plan.order(t.report.Seed)
	if err := t.warmUp(ctx); err != nil {
		return err
	}
	for _, s := range order {
		t.notify("run %d of %d, %s", len(t.report.Runs)+1, len(order), sideName(s.side))
		c := t.newRun(s, runName(s), false)
		r, err := t.measureRun(ctx, s, c)
		if err != nil {
			return err
		}
		t.report.Runs = append(t.report.Runs, *r)
		if err := t.judgeFailures(r, c, len(order)); err != nil {
			return err
		}
	}
	return nil
}

// slot is one planned run.
type slot struct {
	number, pair int
	control      bool
	side         string
}

// order returns all runs in an order that the seed determines. Pairs of both programs and pairs of the control
// follow one another in random order. In a randomly chosen half of the pairs the second program runs first.
// Drift over time therefore affects both programs equally, and periodic disturbances do not favor either.
func (p *Plan) order(seed uint64) []slot {
	rng := rand.New(rand.NewPCG(seed, 0x6b697465)) // arbitrary, but must not change
	pairs := append(halfReversed(rng, p.Pairs, false), halfReversed(rng, p.Control, true)...)
	rng.Shuffle(len(pairs), func(i, j int) { pairs[i], pairs[j] = pairs[j], pairs[i] })
	var slots []slot
	number := map[bool]int{}
	for _, pair := range pairs {
		number[pair[0].control]++
		for _, s := range pair {
			s.pair, s.number = number[s.control], len(slots)+1
			slots = append(slots, s)
		}
	}
	return slots
}

func halfReversed(rng *rand.Rand, n int, control bool) [][2]slot {
	second := sidePacked
	if control {
		second = sideCopy
	}
	odd := rng.IntN(2) // decides which half is larger if the number of pairs is odd
	pairs := make([][2]slot, n)
	for i := range pairs {
		pairs[i] = [2]slot{{control: control, side: sidePlain}, {control: control, side: second}}
		if i < (n+odd)/2 {
			slices.Reverse(pairs[i][:])
		}
	}
	rng.Shuffle(n, func(i, j int) { pairs[i], pairs[j] = pairs[j], pairs[i] })
	return pairs
}

// warmUp makes runs that do not count, to cache files and raise clock rates.
func (t *trial) warmUp(ctx context.Context) error {
	sides := []string{sidePlain, sidePacked}
	if t.plan.Control > 0 {
		sides = append(sides, sideCopy)
	}
	for ; t.warmed < t.plan.Warmup; t.warmed++ {
		for _, side := range sides {
			t.notify("warm-up run %d of %d, %s", t.warmed+1, t.plan.Warmup, sideName(side))
			c := t.newRun(slot{side: side}, "warmup-"+strconv.Itoa(t.warmed+1)+"-"+side, false)
			r, err := t.perform(ctx, c)
			if err != nil {
				return err
			}
			if r.failed != "" {
				return c.outputError(fmt.Errorf("the warm-up run %s failed: %s", sideName(side), r.failed))
			}
		}
	}
	return nil
}

// judgeFailures returns an error if the first run failed, or if more than a quarter of all runs did.
func (t *trial) judgeFailures(r *Measured, c *run, all int) error {
	if r.Failed == "" {
		return nil
	}
	runs, failed := len(t.report.Runs), t.report.Failed(sidePlain)+t.report.Failed(sidePacked)+t.report.Failed(sideCopy)
	what := fmt.Sprintf("run %d of %d, %s: %s", runs, all, sideName(r.Side), r.Failed)
	switch {
	case runs == 1:
		what = "the first run failed: " + what
	case failed*4 > all:
		what = fmt.Sprintf("%d of %d runs failed: %s", failed, runs, what)
	default:
		said, _ := c.tail()
		t.remark(said, "%s; counted as failed, the trial continues", what)
		return nil
	}
	return c.outputError(errors.New(what))
}

// runName returns the base name of the files of a measured run.
func runName(s slot) string { return fmt.Sprintf("%04d-%s", s.number, s.side) }

// measureRun makes a measured run.
func (t *trial) measureRun(ctx context.Context, s slot, c *run) (*Measured, error) {
	if err := t.renew(s.side); err != nil {
		return nil, err
	}
	began := t.plan.Now().UTC()
	r, err := t.perform(ctx, c)
	if err != nil {
		return nil, err
	}
	run := &Measured{
		Number: s.number, Pair: s.pair, Control: s.control, Side: s.side, Began: began, Wall: r.wall, Failed: r.failed,
		Output: filepath.ToSlash(filepath.Join("runs", runName(s)+".out")),
	}
	if run.Failed == "" {
		run.Values, run.Failed = t.values(ctx, c, &r)
	}
	if run.Failed != "" {
		run.Values = nil
	}
	c.clean(run.Failed == "")
	return run, nil
}

// values returns the measured values of a run, and the values that its load printed.
func (t *trial) values(ctx context.Context, c *run, r *result) (values []bench.Value, failed string) {
	printed, err := printedValues(ctx, c.load.out)
	if err != nil {
		return nil, err.Error()
	}
	add := func(name, unit string, x float64) {
		values = append(values, bench.Value{
			Metric: bench.Metric{Name: name, Unit: unit}, Better: bench.LowerIsBetter, X: x,
		})
	}
	if r.use.known {
		add(MetricCPU, "s", r.use.cpu.Seconds())
	}
	if n := requests(printed, r.wall); r.use.known && n > 0 {
		add(MetricCPUPerRequest, "s", r.use.cpu.Seconds()/n)
	}
	add(MetricWall, "s", r.wall.Seconds())
	if r.use.rss >= 0 {
		add(MetricRSS, "B", float64(r.use.rss))
	}
	return append(values, printed...), ""
}

// requests returns the number of requests of a run: the printed number, or the only printed rate times the wall
// time; 0 if unknown.
func requests(printed []bench.Value, wall time.Duration) float64 {
	var rates []float64
	for _, v := range printed {
		switch {
		case v.Name == "requests" && v.Unit == "" && v.X > 0: // name in profile/bench/read for the count that ab prints
			return v.X
		case isRate(v.Unit, v.Better):
			rates = append(rates, v.X)
		}
	}
	if len(rates) != 1 {
		return 0
	}
	return rates[0] * wall.Seconds()
}

func isRate(unit string, better bench.Direction) bool {
	return unit == "1/s" && better == bench.HigherIsBetter
}

// maxPrinted limits the number of printed figures per run.
const maxPrinted = 10_000

// printedValues parses benchmark results in the output of a load, and ignores other text. It skips plain tables of
// comma-separated values, because they may be the load's own data.
func printedValues(ctx context.Context, path string) ([]bench.Value, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || info.Size() == 0 {
		return nil, err
	}
	sets, err := read.From(ctx, filepath.Base(path), f, read.Options{Side: true})
	if err != nil {
		return nil, ctx.Err() // not a benchmark result
	}
	type figure struct {
		bench.Value
		xs []float64
	}
	var figures []figure
	at := map[bench.Metric]int{}
	for _, set := range sets {
		if strings.Contains(strings.ToLower(set.Format), "csv") {
			continue
		}
		for _, r := range set.Runs {
			for _, v := range r.Values {
				i, known := at[v.Metric]
				if !known {
					if len(figures) == maxPrinted {
						return nil, fmt.Errorf("it printed more than %d figures", maxPrinted)
					}
					i = len(figures)
					at[v.Metric] = i
					figures = append(figures, figure{Value: v})
				}
				if !math.IsNaN(v.X) && !math.IsInf(v.X, 0) {
					figures[i].xs = append(figures[i].xs, v.X)
				}
			}
		}
	}
	var values []bench.Value
	for _, f := range figures {
		if len(f.xs) > 0 {
			f.X = significance.Median(f.xs) // repetitions within one start of a program are not independent runs
			values = append(values, f.Value)
		}
	}
	return values, nil
}

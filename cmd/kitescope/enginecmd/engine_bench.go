package enginecmd

import (
	"bufio"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"kitescope/cmd/kitescope/cli"
	"kitescope/engine"
	"kitescope/engine/index"
	"kitescope/engine/target"
	"kitescope/render"
	"kitescope/render/replays"
)

func engineBench(a *cli.App) *cobra.Command {
	var f engineFlags
	var efs, nprobes, threads string
	rounds := 5
	cmd := &cobra.Command{
		Use: "bench FILE",
		Long: `Run all queries repeatedly and measure: one warm-up round, then --rounds measured
ones. QPS is the median round, with the slowest and fastest; latencies cover all
queries of all rounds. --truth adds the recall.`,
		Example: `  kitescope engine bench base.hnsw --queries q.npy --ef 16,32,64 --truth exact
  kitescope engine bench base.npy --queries q.npy -o json`,
		Args: cli.Args(1, 1, "one index file", "kitescope engine bench base.hnsw --queries q.npy"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.bench(a, cmd, args[0], benchGrid{efs, nprobes, threads, rounds})
		},
	}
	f.report.Register(cmd, render.ReportFormats(), 0, "")
	f.report.List(cmd, replays.BenchSchema, "'recall>=0.95'", "-qps,recall", "ef,recall,qps; +latency_p90_us")
	f.registerMetric(cmd)
	f.registerSearch(cmd)
	fl := cmd.Flags()
	f.searchFlags.register(fl, func(p *engine.SearchParam) string {
		if p.Trait == engine.HasGraph || p.Trait == engine.HasLists { // bench takes lists of these values
			return ""
		}
		return ownUsage(p)
	})
	fl.StringVar(&efs, "ef", "", "candidates of an HNSW search, one or several: 16,32,64")
	fl.StringVar(&nprobes, "nprobe", "", "lists of an IVF search, one or several")
	fl.StringVar(&threads, "threads", "1", "concurrent threads, one or several: 1,2,4")
	fl.IntVar(&rounds, "rounds", rounds, "measured rounds")
	return cmd
}

// benchGrid holds the flags that define the measured points.
type benchGrid struct {
	efs, nprobes, threads string
	rounds                int
}

// points returns all combinations.
func (g *benchGrid) points(p index.Params, o target.Options) ([]*target.Load, error) {
	if g.rounds < 1 {
		return nil, cli.Usagef("--rounds must be 1 or more, not %d", g.rounds)
	}
	if g.efs != "" && g.nprobes != "" {
		return nil, cli.Usage(errors.New("--ef is for HNSW, --nprobe for IVF"), "use only one of them")
	}
	threads, err := numberList("threads", g.threads)
	if err != nil {
		return nil, err
	}
	if n := slices.Max(threads); n > maxThreads {
		return nil, cli.Usagef("--threads must be 1 to %d, not %d", maxThreads, n)
	}
	flag, text, set := "ef", g.efs, func(p *index.Params, n int) { p.EF = n }
	if g.nprobes != "" {
		flag, text, set = "nprobe", g.nprobes, func(p *index.Params, n int) { p.NProbe = n }
	}
	list := []int{0}
	if text != "" {
		if list, err = numberList(flag, text); err != nil {
			return nil, err
		}
	}
	var points []*target.Load
	for _, n := range list {
		for _, t := range threads {
			l := &target.Load{Params: p, Options: o, Threads: t, Rounds: g.rounds, CPU: cli.CPUClock()}
			set(&l.Params, n)
			points = append(points, l)
		}
	}
	return points, nil
}

func (f *engineFlags) bench(a *cli.App, cmd *cobra.Command, path string, g benchGrid) error {
	ctx := cmd.Context()
	format, ro, err := f.report.Parse(a, cmd)
	if err != nil {
		return err
	}
	p, err := f.params()
	if err != nil {
		return err
	}
	o, err := f.options()
	if err != nil {
		return err
	}
	points, err := g.points(p, o)
	if err != nil {
		return err
	}
	t, err := f.openTarget(ctx, a, path)
	if err != nil {
		return err
	}
	defer t.Close()
	if err := checkParams(t, &points[0].Params); err != nil {
		return err
	}
	queries, err := openVectors(ctx, a, f.queries)
	if err != nil {
		return err
	}
	defer queries.Close()
	if err := t.Quantize(queries.Vectors.Rows*len(points)*(g.rounds+1), 0); err != nil {
		return err
	}
	truth, err := f.trueNeighbours(ctx, t, queries.Vectors, o, p)
	if err != nil {
		return err
	}
	b := &target.Bench{Target: t, Queries: queries.Vectors.Rows}
	defer a.Transient.Clear()
	for i, l := range points {
		a.Status("measuring point %d of %d", i+1, len(points))
		s, err := t.Measure(ctx, queries.Vectors, l)
		if err != nil {
			return fmt.Errorf("search with %s: %w", f.queries, err)
		}
		point := target.Point{Speed: s}
		if truth != nil {
			if point.Recall, err = target.RecallOf(s.Answers, truth); err != nil {
				return err
			}
		}
		b.Points = append(b.Points, point)
	}
	return a.Write(func(w *bufio.Writer) error { return replays.WriteBench(w, b, format, ro) })
}

package replays

import (
	"math"
	"slices"
	"strconv"
	"time"

	"kitescope/engine"
	"kitescope/engine/index"
	"kitescope/engine/target"
	"kitescope/internal/encode"
	"kitescope/internal/table"
	"kitescope/internal/words"
	"kitescope/render"
)

// BenchSchema returns the schema of the points that WriteBench writes.
func BenchSchema(render.ReportOptions) *table.Schema {
	return engineBenchTable(&target.Bench{}, index.ByEF).Schema()
}

func newEngineBenchSheet(b *target.Bench, o *render.ReportOptions) *render.Sheet {
	asked := render.Select(o, engineBenchTable(b, b.Target.File.Effort()), nil)
	s := &render.Sheet{
		Kind: "EngineBench", Options: o,
		Head: []render.Line{{Text: targetLine(b.Target)}},
		About: func(e *encode.Encoder) {
			writeTarget(e, b.Target)
			e.Entry("queries", b.Queries)
		},
		Items: asked.Items, Parts: []render.Part{asked.List("")}, Foot: asked.More(o),
	}
	if len(b.Points) > 0 {
		l := b.Points[0].Load
		s.Head = append(s.Head, render.Line{
			Role: render.RoleDim,
			Text: words.Count(b.Queries, "query", "queries") + ", k " + strconv.Itoa(l.K) + ", " +
				words.Plural(l.Rounds, "round") + "; latencies in microseconds",
		})
	}
	return s
}

// median returns the median, or the upper one of two middle values.
func median(list []float64) float64 {
	sorted := slices.Sorted(slices.Values(list))
	return sorted[len(sorted)/2]
}

// cpuPerQuery returns the CPU time per query in the median round. It returns false if the CPU time is unknown.
func cpuPerQuery(p *target.Point) (time.Duration, bool) {
	if len(p.CPU) == 0 {
		return 0, false
	}
	sorted := slices.Sorted(slices.Values(p.CPU))
	return sorted[len(sorted)/2], true
}

// orDash formats a parameter, or returns "-" for the default of the file or library.
func orDash(n int) string {
	if n == 0 {
		return "-"
	}
	return strconv.Itoa(n)
}

// engineBenchTable returns the table of measured points, with the parameters that apply to this kind of index.
func engineBenchTable(b *target.Bench, effort index.Effort) *table.Rows[*target.Point] {
	type point = *target.Point
	count := func(name string, of func(p point) int) table.ColumnOf[point] {
		return render.Key(name, table.Int, func(p point) table.Cell { return render.PositiveCell(of(p)) })
	}
	number := func(name string, of func(p point) float64) table.ColumnOf[point] {
		return render.Key(name, table.Number, func(p point) table.Cell { return table.OfFloat(of(p)) })
	}
	micro := func(name string, q float64) table.ColumnOf[point] {
		return number(name, func(p point) float64 { return float64(p.LatencyQuantile(q)) / 1e3 })
	}
	latency := func(name, title string, q float64, priority int) table.ColumnOf[point] {
		return micro(name, q).WithTitle(title, priority, func(p point) string {
			return microseconds(p.LatencyQuantile(q))
		})
	}
	qps := func(name, title string, priority int, of func(p point) float64) table.ColumnOf[point] {
		return number(name, of).WithTitle(title, priority, func(p point) string {
			return words.Number(int64(of(p) + 0.5))
		})
	}
	cpu := func(p point) float64 {
		if d, ok := cpuPerQuery(p); ok {
			return float64(d) / 1e3
		}
		return math.NaN()
	}
	perQueryOf := func(p point) float64 {
		distances, _ := p.Answers.PerQuery()
		return distances
	}
	measured := []table.ColumnOf[point]{
		count("threads", func(p point) int { return p.Load.Threads }).WithTitle("THREADS", 0, func(p point) string {
			return strconv.Itoa(p.Load.Threads)
		}),
		count("rounds", func(p point) int { return p.Load.Rounds }),
		benchRecall(),
		qps("qps", "QPS", 0, func(p point) float64 { return median(p.QPS) }),
		qps("qps_slowest", "SLOWEST", 3, func(p point) float64 { return slices.Min(p.QPS) }),
		qps("qps_fastest", "FASTEST", 3, func(p point) float64 { return slices.Max(p.QPS) }),
		latency("latency_p50_us", "P50", 0.5, 0), micro("latency_p90_us", 0.9),
		latency("latency_p95_us", "P95", 0.95, 1),
		latency("latency_p99_us", "P99", 0.99, 0), latency("latency_max_us", "MAX", 1, 2),
		number("cpu_us", cpu).WithTitle("CPU", 2, func(p point) string {
			if d, ok := cpuPerQuery(p); ok {
				return microseconds(d)
			}
			return words.UnknownMark
		}),
		number("distances", perQueryOf).WithTitle("COMPUTED", 4,
			func(p point) string { return perQuery(perQueryOf(p)) }),
		render.Key("hops", table.Number, func(p point) table.Cell {
			if effort != index.ByEF {
				return table.OfNone()
			}
			_, hops := p.Answers.PerQuery()
			return table.OfFloat(hops)
		}),
	}
	asked := benchParams(b, effort)
	var order []string
	for _, c := range slices.Concat(asked, measured) {
		order = append(order, c.Name)
	}
	// The first two columns keep their positions in CSV. Columns that were added later are at the end.
	columns := slices.Concat(asked[:2], measured, asked[2:])
	return table.New(table.Schema{Name: "points", Singular: "point", Sparse: true, Order: order},
		render.Pointers(b.Points), columns)
}

// benchParams returns the columns of search parameters, starting with ef and nprobe. People see the parameter
// that controls how much of the index is searched, and all other parameters that were set.
func benchParams(b *target.Bench, effort index.Effort) (columns []table.ColumnOf[*target.Point]) {
	type point = *target.Point
	for f := range engine.EachSearchParam() {
		if f.Flag == "" {
			continue
		}
		kind, of := table.Int, func(x float64) table.Cell { return table.OfInt(int64(x)) }
		if !f.IsInt() {
			kind, of = table.Exact, func(x float64) table.Cell { return table.OfFloat(exactSingle(float32(x))) }
		}
		c := render.Key(f.Key, kind, func(p point) table.Cell {
			if x, set := f.Get(&p.Load.SearchParams); set {
				return of(x)
			}
			return table.OfNone()
		})
		text := func(p point) string {
			if x, set := f.Get(&p.Load.SearchParams); set {
				return string(f.Append(nil, x))
			}
			return orDash(0)
		}
		shown := effort == index.ByNProbe
		switch f.Trait {
		case engine.HasGraph:
			shown, text = effort == index.ByEF, func(p point) string { return orDash(b.EF(p)) }
		case engine.HasLists:
		default:
			shown = slices.ContainsFunc(render.Pointers(b.Points), func(p point) bool { return text(p) != orDash(0) })
		}
		if shown {
			c = c.WithTitle(c.Title, 0, text)
		}
		columns = append(columns, c)
	}
	return columns
}

func benchRecall() table.ColumnOf[*target.Point] {
	type point = *target.Point
	return render.Key("recall", table.Exact, func(p point) table.Cell {
		if p.Recall == nil {
			return table.OfUnknown()
		}
		return table.OfFloat(p.Recall.Mean)
	}).WithTitle("RECALL", 0, func(p point) string {
		if p.Recall == nil {
			return words.UnknownMark
		}
		return strconv.FormatFloat(p.Recall.Mean, 'f', 4, 64)
	})
}

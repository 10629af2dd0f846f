package replays

import (
	"slices"
	"strconv"
	"time"

	"kitescope/doc"
	"kitescope/engine/index"
	"kitescope/engine/target"
	"kitescope/render"
	"kitescope/table"
	"kitescope/words"
)

func newEngineBenchSheet(b *target.Bench, o *render.ReportOptions) *render.Sheet {
	s := &render.Sheet{
		Kind: "EngineBench", Options: o,
		Head: []render.Line{{Text: targetLine(b.Target)}},
		About: func(e *doc.Encoder) {
			writeTarget(e, b.Target)
			e.Entry("queries", b.Queries)
		},
		Items: render.ForScripts(len(b.Points), len(b.Points), engineBenchFields(b)),
		Parts: []render.Part{{List: render.Places(len(b.Points), engineBenchColumns(b))}},
	}
	if len(b.Points) > 0 {
		l := b.Points[0].Load
		s.Head = append(s.Head, render.Line{Role: render.RoleDim, Text: words.Count(b.Queries, "query", "queries") + ", k " + strconv.Itoa(l.K) + ", " +
			words.Plural(l.Rounds, "round") + "; latencies in microseconds"})
	}
	return s
}

// middle is the median, or what is just above it.
func middle(list []float64) float64 {
	sorted := slices.Sorted(slices.Values(list))
	return sorted[len(sorted)/2]
}

// cpuPerQuery is the median round's; unknown where nobody tells.
func cpuPerQuery(p *target.Point) (time.Duration, bool) {
	if len(p.CPU) == 0 {
		return 0, false
	}
	sorted := slices.Sorted(slices.Values(p.CPU))
	return sorted[len(sorted)/2], true
}

func engineBenchColumns(b *target.Bench) []table.ColumnOf[int] {
	column := func(title string, priority int, text func(p *target.Point) string) table.ColumnOf[int] {
		return table.ColumnOf[int]{Column: table.Column{Title: title, Right: true, Priority: priority}, Shown: func(i int) string { return text(&b.Points[i]) }}
	}
	quantile := func(title string, q float64, priority int) table.ColumnOf[int] {
		return column(title, priority, func(p *target.Point) string { return microseconds(p.At(q)) })
	}
	qps := func(f func(p *target.Point) float64) func(p *target.Point) string {
		return func(p *target.Point) string { return words.Number(int64(f(p) + 0.5)) }
	}
	list := []table.ColumnOf[int]{
		column("EF", 0, func(p *target.Point) string { return orDash(b.EF(p)) }),
		column("THREADS", 0, func(p *target.Point) string { return strconv.Itoa(p.Load.Threads) }),
		column("RECALL", 0, func(p *target.Point) string {
			if p.Recall == nil {
				return words.UnknownMark
			}
			return strconv.FormatFloat(p.Recall.Mean, 'f', 4, 64)
		}),
		column("QPS", 0, qps(func(p *target.Point) float64 { return middle(p.QPS) })),
		column("SLOWEST", 3, qps(func(p *target.Point) float64 { return slices.Min(p.QPS) })),
		column("FASTEST", 3, qps(func(p *target.Point) float64 { return slices.Max(p.QPS) })),
		quantile("P50", 0.5, 0), quantile("P95", 0.95, 1), quantile("P99", 0.99, 0), quantile("MAX", 1, 2),
		column("CPU", 2, func(p *target.Point) string {
			if d, ok := cpuPerQuery(p); ok {
				return microseconds(d)
			}
			return words.UnknownMark
		}),
		column("COMPUTED", 4, func(p *target.Point) string {
			distances, _ := p.Answers.PerQuery()
			return perQuery(distances)
		}),
	}
	switch b.Target.File.Effort() {
	case index.ByNProbe:
		list[0] = column("NPROBE", 0, func(p *target.Point) string { return orDash(p.Load.NProbe) })
	case index.AllRows:
		list = list[1:]
	default:
	}
	return list
}

// orDash is a parameter, - where the file's or the library's own was taken.
func orDash(n int) string {
	if n == 0 {
		return "-"
	}
	return strconv.Itoa(n)
}

func engineBenchFields(b *target.Bench) []table.ColumnOf[int] {
	field := func(name string, kind table.Kind, of func(p *target.Point) table.Cell) table.ColumnOf[int] {
		return render.Key(name, kind, func(i int) table.Cell { return of(&b.Points[i]) })
	}
	count := func(name string, of func(p *target.Point) int) table.ColumnOf[int] {
		return field(name, table.Int, func(p *target.Point) table.Cell {
			if n := of(p); n > 0 {
				return table.OfInt(int64(n))
			}
			return table.OfNone()
		})
	}
	micro := func(name string, q float64) table.ColumnOf[int] {
		return field(name, table.Number, func(p *target.Point) table.Cell { return table.OfFloat(float64(p.At(q)) / 1e3) })
	}
	return []table.ColumnOf[int]{
		count("ef", func(p *target.Point) int { return p.Load.EF }),
		count("nprobe", func(p *target.Point) int { return p.Load.NProbe }),
		count("threads", func(p *target.Point) int { return p.Load.Threads }),
		count("rounds", func(p *target.Point) int { return p.Load.Rounds }),
		field("recall", table.Exact, func(p *target.Point) table.Cell {
			if p.Recall == nil {
				return table.OfUnknown()
			}
			return table.OfFloat(p.Recall.Mean)
		}),
		field("qps", table.Number, func(p *target.Point) table.Cell { return table.OfFloat(middle(p.QPS)) }),
		field("qps_slowest", table.Number, func(p *target.Point) table.Cell { return table.OfFloat(slices.Min(p.QPS)) }),
		field("qps_fastest", table.Number, func(p *target.Point) table.Cell { return table.OfFloat(slices.Max(p.QPS)) }),
		micro("latency_p50_us", 0.5), micro("latency_p90_us", 0.9), micro("latency_p95_us", 0.95),
		micro("latency_p99_us", 0.99), micro("latency_max_us", 1),
		field("cpu_us", table.Number, func(p *target.Point) table.Cell {
			if d, ok := cpuPerQuery(p); ok {
				return table.OfFloat(float64(d) / 1e3)
			}
			return table.OfUnknown()
		}),
		field("distances", table.Number, func(p *target.Point) table.Cell {
			distances, _ := p.Answers.PerQuery()
			return table.OfFloat(distances)
		}),
		field("hops", table.Number, func(p *target.Point) table.Cell {
			if b.Target.File.Effort() != index.ByEF {
				return table.OfNone()
			}
			_, hops := p.Answers.PerQuery()
			return table.OfFloat(hops)
		}),
	}
}

package builds

import (
	"math"
	"slices"

	"kitescope/internal/encode"
	"kitescope/internal/table"
	"kitescope/internal/words"
	"kitescope/profile/pgo"
	"kitescope/render"
)

// assessedTable returns the table of profiles, for scripts and people.
func assessedTable(j *pgo.Judgement) *table.Rows[int] {
	field := func(name string, kind table.Kind, of func(a *pgo.Assessment) table.Cell) table.ColumnOf[int] {
		return render.Key(name, kind, func(i int) table.Cell { return of(&j.Profiles[i]) })
	}
	of := func(text func(a *pgo.Assessment) string) func(i int) string {
		return func(i int) string { return text(&j.Profiles[i]) }
	}
	input := func(name string, of func(in *pgo.Input) string) table.ColumnOf[int] {
		return field(name, table.Text, func(a *pgo.Assessment) table.Cell {
			if a.Input == nil || of(a.Input) == "" {
				return table.OfNone()
			}
			return table.Of(of(a.Input))
		})
	}
	name := input("name", func(in *pgo.Input) string { return in.Name }).WithTitle("PROFILE", 0, of(assessedName))
	name.Shorten = true
	node := input("node", func(in *pgo.Input) string { return in.Node })
	if slices.ContainsFunc(j.Profiles, func(a pgo.Assessment) bool { return a.Input != nil && a.Input.Node != "" }) {
		node = node.WithTitle("NODE", 4, of(func(a *pgo.Assessment) string {
			if a.Input == nil || a.Input.Node == "" {
				return words.NoneMark
			}
			return render.Harmless(a.Input.Node)
		}))
	}
	usable := field("usable", table.Bool, func(a *pgo.Assessment) table.Cell {
		return table.OfBool(assessedText(a) == usableText)
	}).WithTitle("USABLE", 0, of(assessedText))
	usable.Role = func(i int) render.Role {
		return []render.Role{render.RoleGood, render.RoleBad}[render.BoolInt(assessedText(&j.Profiles[i]) !=
			usableText)]
	}
	columns := []table.ColumnOf[int]{
		name, node,
		input("go_version", func(in *pgo.Input) string { return in.GoVersion }),
		input("build_id", func(in *pgo.Input) string { return in.BuildID }),
		input("error", func(in *pgo.Input) string {
			if in.Err == nil {
				return ""
			}
			return in.Err.Error()
		}),
		usable,
		field("samples", table.Int, func(a *pgo.Assessment) table.Cell { return table.OfCount(a.Events) }).
			WithTitle("SAMPLES", 0, of(func(a *pgo.Assessment) string { return render.EventCount(a.Events) })),
		field("cpu_seconds", table.Duration,
			func(a *pgo.Assessment) table.Cell { return nanosecondsCell(int64(a.CPU)) }).WithTitle("CPU", 5,
			of(func(a *pgo.Assessment) string { return timeUsed(int64(a.CPU)) })),
		field("duration_seconds", table.Duration, func(a *pgo.Assessment) table.Cell {
			return nanosecondsCell(int64(a.Duration))
		}),
	}
	columns = append(columns, reachColumns(field, of)...)
	columns = append(columns, field("refused_for", table.List, func(a *pgo.Assessment) table.Cell {
		ids := []string{}
		for i := range a.Refusals {
			ids = append(ids, a.Refusals[i].ID)
		}
		return table.OfList(ids)
	}))
	return table.New(table.Schema{
		Name: "profiles", Singular: "profile", Names: []string{"name"}, Sparse: true,
		Order: []string{
			"name", "node", "samples", "cpu_seconds", "go_percent", "runtime_percent", "gc_percent", "native_percent",
			"assembly_percent", "syscall_percent", "unknown_percent", "usable",
		},
	}, render.Positions(len(j.Profiles)), columns)
}

// reachColumns returns the columns of shares of CPU time.
func reachColumns(
	field func(
		name string, kind table.Kind, of func(a *pgo.Assessment) table.Cell,
	) table.ColumnOf[int], of func(text func(a *pgo.Assessment) string) func(i int) string,
) (columns []table.ColumnOf[int]) {
	titles := []string{"GO", "RUNTIME", "GC", "ASM", "SYSCALL", "NATIVE", "UNKNOWN"}
	for i, key := range reachKeys() {
		c := field(key, table.Number, func(a *pgo.Assessment) table.Cell {
			if !reachKnown(&a.Reach) {
				return table.OfUnknown()
			}
			return table.OfFloat(100 * reachShares(&a.Reach)[i])
		})
		if i < len(titles) {
			c = c.WithTitle(titles[i], []int{0, 1, 1, 2, 3, 0, 6}[i], of(func(a *pgo.Assessment) string {
				if !reachKnown(&a.Reach) {
					return words.UnknownMark
				}
				return shareCell(reachShares(&a.Reach)[i])
			}))
		}
		columns = append(columns, c)
	}
	return columns
}

// nanosecondsCell returns the cell of a time, which is unknown if it is not positive.
func nanosecondsCell(ns int64) table.Cell {
	if ns <= 0 {
		return table.OfUnknown()
	}
	return table.Cell{Int: ns}
}

// reachKeys returns the keys of reachShares.
func reachKeys() []string {
	return []string{
		"go_percent", "runtime_percent", "gc_percent", "assembly_percent", "syscall_percent", "native_percent",
		"unknown_percent", "reach_percent", "bound_percent",
	}
}

func reachShares(r *pgo.Reach) []float64 {
	return []float64{r.Go, r.Runtime, r.GC, r.Assembly, r.Syscall, r.Native, r.Unknown, r.Total, r.Ceiling}
}

func writeCount(e *encode.Encoder, key string, n int64) {
	if n < 0 {
		return
	}
	e.Entry(key, n)
}

func writeJudgementHead(e *encode.Encoder, j *pgo.Judgement, o *render.ReportOptions) {
	e.Entry("verdict", j.Verdict.String())
	e.Entry("reason", j.Reason)
	e.Entry("refusals", j.Refusals)
	e.Entry("cautions", j.Cautions)
	writeCount(e, "samples", j.Events)
	if j.CPU > 0 {
		e.Entry("cpu_seconds", j.CPU)
	}
	if j.Duration > 0 {
		e.Entry("duration_seconds", j.Duration)
	}
	if figuresKnown(j) {
		e.Entry("preempted_percent", 100*j.Preempted)
	}
	if reachKnown(&j.Reach) {
		for i, name := range reachKeys() {
			e.Entry(name, 100*reachShares(&j.Reach)[i])
		}
	}
	if figuresKnown(j) && j.Edges != nil {
		writeCount(e, "edges", int64(len(j.Edges.Weight)))
		writeCount(e, "edges_weight", j.Edges.Total)
		writeCount(e, "hot_edges", int64(j.HotEdges))
		writeCount(e, "hot_least_weight", j.LeastHot)
		if !math.IsNaN(j.FewHits) {
			e.Entry("hot_few_hits_percent", 100*j.FewHits)
		}
	}
	e.Key("thresholds")
	e.BeginObject()
	writeCount(e, "samples", j.Thresholds.Events)
	e.Entry("bound_percent", 100*j.Thresholds.Ceiling)
	e.EndObject()
	writeHot(e, j.Hot[:o.Shown(len(j.Hot))])
	e.Entry("risks", j.Risks)
}

func writeEdge(e *encode.Encoder, x *pgo.Edge) {
	e.Entry("caller", x.Caller)
	e.Entry("line_offset", x.Offset)
	e.Entry("callee", x.Callee)
}

func writeHot(e *encode.Encoder, list []pgo.HotEdge) {
	e.Key("hot")
	e.BeginList()
	for i := range list {
		h := &list[i]
		e.BeginObject()
		writeEdge(e, &h.Edge)
		e.Entry("percent", 100*h.Share)
		writeCount(e, "samples", h.Hits)
		e.Entry("inlined", h.Inlined)
		e.EndObject()
	}
	e.EndList()
}

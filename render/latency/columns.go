package latency

import (
	"math"
	"strings"

	"kitescope/inspect/latency"
	"kitescope/internal/table"
	"kitescope/internal/words"
	"kitescope/render"
)

func schema() table.Schema {
	return table.Schema{
		Name: "phases", Singular: "phase", Names: []string{"phase"}, Sparse: true,
		Order: []string{
			"phase", "mean_ms", "share", "bar", "most_at", "low_ms", "high_ms", "calls", "call_ms", "p50_ms", "p99_ms",
			"per_second",
		},
	}
}

// number returns a key with a numeric value that may be unknown.
func number(name string, get func(*Row) (float64, bool)) table.ColumnOf[*Row] {
	return render.Key(name, table.Number, func(r *Row) table.Cell {
		v, ok := get(r)
		if !ok || math.IsInf(v, 0) {
			return table.OfUnknown()
		}
		return table.OfFloat(v)
	})
}

// ms returns a key with a time in milliseconds. The table leaves the cell empty if the time is unknown.
func ms(name, title string, priority int, get func(*Row) (float64, bool)) table.ColumnOf[*Row] {
	return number(name, get).WithTitle(title, priority, func(r *Row) string {
		v, ok := get(r)
		if !ok {
			return ""
		}
		return figure(v)
	}).WithRole((*Row).look)
}

// columns returns the keys of a phase and the columns of the table.
func columns(o *render.ReportOptions, name func(*latency.Phase) string) []table.ColumnOf[*Row] {
	phase := render.TextKey("phase", func(r *Row) string { return string(r.phase.Name) }).WithTitle("PHASE", 0,
		func(r *Row) string { return label(r, name) }).WithRole((*Row).look)
	mean := ms("mean_ms", "MS", 0, func(r *Row) (float64, bool) { return r.ms(), r.known() })
	mean.Shown = meanText
	share := number("share", func(r *Row) (float64, bool) { return r.share(), r.known() }).WithTitle("SHARE", 0,
		shareText).WithRole((*Row).look)
	bar := table.ColumnOf[*Row]{
		Column: table.Column{Name: "bar", Title: "", For: table.People, Shorten: true, Priority: 2},
		Cell:   func(*Row) table.Cell { return table.OfNone() }, Shown: func(r *Row) string { return waterfall(r, o) },
	}.WithRole(barLook)
	most := render.TextKey("most_at", busiestText).WithTitle("BUSIEST", 3, busiestText).WithRole((*Row).look)
	most.For = table.People
	return append([]table.ColumnOf[*Row]{
		render.TextKey("collection", func(r *Row) string { return r.budget.Name }),
		render.TextKey("database", func(r *Row) string { return r.budget.Database }),
		render.TextKey("request", func(r *Row) string { return string(r.budget.Request) }),
		phase,
		render.TextKey("parent", func(r *Row) string { return string(r.phase.Parent) }),
		render.TextKey("role", (*Row).role),
		render.Key("node", table.Int, func(r *Row) table.Cell {
			if r.at == nil {
				return table.OfNone()
			}
			return table.OfInt(int64(r.at.Node))
		}),
		number("per_second", perSecond).WithTitle("PER SECOND", 4, func(r *Row) string {
			if v, ok := perSecond(r); ok {
				return words.ThreeDigits(v)
			}
			return ""
		}).WideOnly(),
		mean,
		ms("low_ms", "AT LEAST", 5, func(r *Row) (float64, bool) {
			return r.phase.Mean.Low, (r.known() || r.atLeast()) && r.at == nil
		}).WideOnly(),
		ms("high_ms", "AT MOST", 5, func(r *Row) (float64, bool) {
			return r.phase.Mean.High, r.known() && r.at == nil && r.phase.Mean.High < 1e12
		}).WideOnly(),
		quantile("p50_ms", "P50 <=", 50),
		quantile("p99_ms", "P99 <=", 99),
		share,
		render.Key("estimate", table.Bool, func(r *Row) table.Cell {
			return table.OfBool(r.phase.Estimate || r.at != nil)
		}),
		ms("calls", "CALLS", 7, calls).WideOnly(),
		ms("call_ms", "PER CALL", 7, callMs).WideOnly(),
		render.TextKey("why", func(r *Row) string { return r.phase.Why }),
		bar, most,
	}, totals()...)
}

// totals returns the keys that only whole requests have.
func totals() []table.ColumnOf[*Row] {
	whole := func(of func(b *latency.Budget) latency.Value) func(*Row) (float64, bool) {
		return func(r *Row) (float64, bool) {
			v := of(r.budget)
			return v.Value, v.Known && r.phase.Name == latency.Total && r.at == nil
		}
	}
	return []table.ColumnOf[*Row]{
		number("p95_ms",
			whole(func(b *latency.Budget) latency.Value {
				return latency.Value{Value: b.P95.High, Known: b.P95.High > 0}
			})),
		number("requests",
			whole(func(b *latency.Budget) latency.Value {
				return latency.Value{Value: b.Requests, Known: b.Root.Known}
			})),
		number("failed", whole(func(b *latency.Budget) latency.Value { return b.Failed })),
		number("vectors_per_second", whole(func(b *latency.Budget) latency.Value { return b.VectorsPerSecond })),
	}
}

func perSecond(r *Row) (float64, bool) {
	if r.at != nil {
		return r.at.PerSecond.Value, r.at.PerSecond.Known
	}
	return r.phase.PerSecond.Value, r.phase.PerSecond.Known
}

// quantile returns the column with the upper bound of the bucket of a quantile, in milliseconds per call. The table
// shows an unknown quantile only for whole requests and processes, because many phases have no quantiles.
func quantile(name, title string, q int) table.ColumnOf[*Row] {
	high := func(r *Row) (float64, bool) {
		p := [2]latency.Interval{r.phase.P50, r.phase.P99}
		if r.at != nil {
			p = [2]latency.Interval{r.at.P50, r.at.P99}
		}
		v := p[render.BoolInt(q == 99)].High
		return v, v > 0
	}
	c := ms(name, title, 6, high).WideOnly()
	figures := c.Shown
	c.Shown = func(r *Row) string {
		if _, ok := high(r); !ok && (r.at != nil || r.phase.Name == latency.Total) {
			return words.UnknownMark
		}
		return figures(r)
	}
	return c
}

// calls returns the calls to a process per request. callMs returns the mean duration of a call in milliseconds.
func calls(r *Row) (float64, bool) {
	if r.at == nil {
		return 0, false
	}
	return r.at.Calls, r.at.Calls > 0
}

func callMs(r *Row) (float64, bool) {
	if r.at == nil {
		return r.phase.Call.Value, r.phase.Background()
	}
	return r.at.Ms, true
}

// phaseID returns the name of a phase as in metrics, selectors and the documentation.
func phaseID(p *latency.Phase) string { return string(p.Name) }

// phaseText returns a description of a phase for readers without the documentation.
func phaseText(p *latency.Phase) string {
	if p.Name == latency.Unexplained || p.Activity() == "" {
		return words.Sentence(string(p.Name))
	}
	return words.Sentence(p.Activity())
}

// phaseNames returns the function that names phases in a format: descriptions in HTML and Markdown, which may be
// mailed, and ids in other formats.
func phaseNames(f render.Format) func(*latency.Phase) string {
	if f.Name() == "html" || f.Name() == "markdown" {
		return phaseText
	}
	return phaseID
}

// label returns the name of a phase, or of the process if the row is for one, indented by its depth.
func label(r *Row, name func(*latency.Phase) string) string {
	in := strings.Repeat("  ", r.depth)
	if r.at != nil {
		return in + "@" + r.at.Node.Name(r.at.Role)
	}
	return in + name(r.phase)
}

func meanText(r *Row) string {
	switch {
	case r.atLeast():
		return ">" + figure(r.ms())
	case !r.known():
		return words.UnknownMark
	case r.phase.Estimate && r.phase.Name != latency.Total:
		return "~" + figure(r.ms())
	}
	return figure(r.ms())
}

func shareText(r *Row) string {
	if !r.known() {
		return words.UnknownMark
	}
	return words.Share(r.share())
}

// figure returns a time in milliseconds without its unit.
func figure(ms float64) string { return strings.TrimSuffix(latency.Milliseconds(ms), " ms") }

// busiestText returns the process that requests wait for longest and its percentage of the phase, or "" unless there
// are several processes.
func busiestText(r *Row) string {
	if r.at != nil || len(r.phase.Nodes) < 2 || r.phase.Ms <= 0 {
		return ""
	}
	n := r.phase.Nodes[0]
	return n.Node.Name(n.Role) + " " + words.Percent(math.Round(100*n.Waited/r.phase.Ms))
}

// BarWidth returns the width in cells of the bar of a whole request: 24, or 18 if the terminal has fewer than 100
// cells.
func BarWidth(o *render.ReportOptions) int {
	if o.Width == 0 || o.Width >= 100 {
		return 24
	}
	return 18
}

// waterfall returns a bar at the position of the phase in the request, or the reason if the phase is unknown.
func waterfall(r *Row, o *render.ReportOptions) string {
	if !r.known() {
		return short(r.phase.Why)
	}
	if r.phase.Background() && r.at == nil {
		return backgroundText(r.phase)
	}
	size := BarWidth(o)
	if r.budget.Ms <= 0 {
		return ""
	}
	cell := func(ms float64) int { return min(size, max(0, int(math.Round(ms/r.budget.Ms*float64(size))))) }
	from, to := cell(r.start), cell(r.start+r.ms())
	if to == from && r.ms() > 0 { // a time above 0 always has a bar
		from = min(from, size-1)
		return strings.Repeat(" ", from) + [2]string{"▏", "|"}[render.BoolInt(o.ASCII)]
	}
	glyph := [2]string{"█", "#"}
	if r.phase.Name == latency.Unexplained {
		glyph = [2]string{"░", "."}
	}
	return strings.Repeat(" ", from) + strings.Repeat(glyph[render.BoolInt(o.ASCII)], to-from)
}

// backgroundText returns the duration of a phase that no client waits for, e.g. "79 ms each, 0.4 a second, after the
// response".
func backgroundText(p *latency.Phase) string {
	text := latency.Milliseconds(p.Call.Value) + " each, after the response"
	if p.PerSecond.Known {
		text = latency.Milliseconds(p.Call.Value) + " each, " + words.ThreeDigits(p.PerSecond.Value) +
			" a second, after the response"
	}
	return text
}

func barLook(r *Row) table.Role {
	switch {
	case r.phase.Background():
		return render.RoleDim
	case !r.known() || r.at != nil || r.phase.Name == latency.Unexplained:
		return render.RoleDim
	case len(r.phase.Children) > 0:
		return render.RolePlain
	case r.share() >= 0.5:
		return render.RoleWarn
	}
	return render.RoleAccent
}

package cluster

import (
	"cmp"
	"math"
	"strings"

	"kitescope/inspect/latency"
	"kitescope/inspect/model"
	"kitescope/internal/shellquote"
	"kitescope/internal/table"
	"kitescope/internal/words"
	"kitescope/render"
	show "kitescope/render/latency"
	"kitescope/tui"
	"kitescope/tui/draw"
)

// openLatency opens the page of all budgets. A budget leads to its phases, a phase to the processes that report it,
// and a process to its own page. The arguments name a collection to filter by.
func openLatency(m *tui.Model, args []string) (tui.Page, error) {
	p := &tui.TablePage[*show.Row]{
		Name: "latency", CommandLine: "latency",
		Rows: func(m *tui.Model) ([]*show.Row, string) {
			l := m.Times().Latency()
			switch {
			case l == nil:
				return nil, "…"
			case len(l.Budgets) == 0:
				return nil, noBudgets(m, l)
			}
			rows := make([]*show.Row, len(l.Budgets))
			for i, b := range l.Budgets {
				rows[i] = show.RootRow(b)
			}
			return rows, ""
		},
		List: budgetList("request"),
	}
	p.Columns = func(int) []tui.Column[*show.Row] { return budgetColumns(m) }
	p.Filter = strings.ToLower(strings.Join(args, ""))
	p.MinNameWidth = 28
	p.OriginalOrder = "by request type, most time-consuming collection first"
	p.Open = func(m *tui.Model, r *show.Row) tui.Cmd {
		return m.Push(newWaterfallPage(m, tui.KeyOfBudget(r.Budget())))
	}
	p.Head = func(m *tui.Model, w, h int) []string {
		l := m.Times().Latency()
		lines := verdictLines(m, tui.BusiestBudget(l), w, h)
		about := append([]string{l.Window.Why}, show.Unresponsive(l)...)
		return append(lines, " "+m.Styles.Dim.On(draw.Cut(words.Sanitize(strings.Join(about, "; ")), w-2)))
	}
	return p, nil
}

// budgetList returns the common part of lists of phases.
func budgetList(noun string) tui.List[*show.Row] {
	return tui.List[*show.Row]{
		Noun: noun, OriginalOrder: "in execution order",
		Key: func(r *show.Row) string {
			b, p := r.Budget(), r.Phase()
			return strings.Join([]string{
				string(b.Request), b.Database, b.Name, string(p.Name), string(p.Parent), r.Process(),
			}, "\x00")
		},
		Look: func(r *show.Row) tui.RowLook { return tui.RowLook{Role: r.Look()} },
	}
}

// phaseColumns returns columns of phases as the report has them. The widest bar is that of the whole request.
func phaseColumns(m *tui.Model, names ...string) []tui.Column[*show.Row] {
	o := render.ReportOptions{Options: render.Options{ASCII: m.Config.ASCII, Width: m.Width}}
	var list []tui.Column[*show.Row]
	for _, c := range show.Columns(&o, names...) {
		switch c.Name {
		case "phase":
			c.Kind = table.ID // a cut name is of little use
		case "bar":
			c.Kind = table.ID // a cut bar is wrong
			c.Shown = shortenBar(c.Shown, show.BarWidth(&o))
		}
		list = append(list, tui.ReportColumn(c))
	}
	return list
}

// shortenBar cuts texts to the width of the bar. If a reason does not fit, the cell refers to enter instead.
func shortenBar(bar func(*show.Row) string, w int) func(*show.Row) string {
	return func(r *show.Row) string {
		text := bar(r)
		if !r.Phase().Known && r.Phase().Name != latency.Total && draw.Width(text) > w {
			return "enter shows why"
		}
		return draw.Cut(text, w)
	}
}

// budgetColumns returns the columns for the collection, the kind of request, its duration and its main phases.
func budgetColumns(m *tui.Model) []tui.Column[*show.Row] {
	columns := []tui.Column[*show.Row]{
		tui.SortedColumn("collection", "COLLECTION", table.Text, 0, func(r *show.Row) string {
			return budgetName(r.Budget())
		}, nil),
		tui.SortedColumn("request", "REQUEST", table.ID, 1, func(r *show.Row) string {
			return string(r.Budget().Request)
		}, nil),
	}
	columns = append(columns, phaseColumns(m, "mean_ms", "p50_ms", "p99_ms", "per_second")...)
	columns[tui.ColumnNamed(columns, "p50_ms")].Priority = 8 // dropped first
	columns[tui.ColumnNamed(columns, "per_second")].Priority = 7
	most := tui.PlainColumn("MAINLY", table.Text, 0, func(r *show.Row) string { return mainParts(r.Budget(), m.Width) })
	most.MinWidth = 40 // a cut sentence is of little use
	return append(columns, most)
}

// budgetName returns the name of the collection, with its database unless that is the default.
func budgetName(b *latency.Budget) string {
	switch b.Database {
	case "", "default":
		return words.Sanitize(cmp.Or(b.Name, "all"))
	}
	return words.Sanitize(b.Database + "." + b.Name)
}

// mainParts returns the main parts of a budget, e.g. "92% waiting for consistency": only the largest unless the
// terminal is wide.
func mainParts(b *latency.Budget, w int) string {
	const wide = 140
	var parts []string
	for _, x := range b.Main() {
		parts = append(parts, words.Percent(math.Round(100*x.Share))+" "+x.Activity)
	}
	if w < wide {
		parts = parts[:min(1, len(parts))]
	}
	return strings.Join(parts, ", ")
}

// roomyBody is the height from which a page has room for more than a line above its list.
const roomyBody = 15

// verdictLines describes where the time of a budget goes, in one line, or in up to three if there is room.
func verdictLines(m *tui.Model, b *latency.Budget, w, h int) []string {
	text := words.Sanitize(latency.Verdict(b))
	lines := draw.Wrap(text, w-2)
	if most := 1 + 2*render.BoolInt(h >= roomyBody); len(lines) > most {
		rest := strings.Join(lines[most-1:], " ")
		lines = append(lines[:most-1], draw.Cut(rest, w-2))
	}
	for i := range lines {
		lines[i] = " " + m.Styles.Strong.On(lines[i])
	}
	return lines
}

// newWaterfallPage returns the page with the phases of a request in order.
func newWaterfallPage(m *tui.Model, key tui.BudgetKey) tui.Page {
	p := &tui.TablePage[*show.Row]{
		Name: "latency-" + string(key.Request), CrumbName: budgetText(key), CommandLine: budgetCommand(key),
		Rows: func(m *tui.Model) ([]*show.Row, string) {
			b := m.Times().Find(key)
			if b == nil {
				return nil, noBudget(m, key)
			}
			return show.Rows(b), ""
		},
		List: budgetList("phase"),
	}
	p.Columns = func(int) []tui.Column[*show.Row] {
		return phaseColumns(m, "phase", "mean_ms", "share", "bar", "most_at", "low_ms", "high_ms", "p50_ms", "p99_ms",
			"per_second")
	}
	p.Open = openPhase
	p.Head = func(m *tui.Model, w, h int) []string {
		b := m.Times().Find(key)
		lines := verdictLines(m, b, w, h)
		return append(lines,
			" "+m.Styles.Dim.On(draw.Cut(words.Sanitize(show.Rates(b))+"; "+m.Times().Latency().Window.Why, w-2)))
	}
	return p
}

// noBudgets returns the reason why a list of requests is empty.
func noBudgets(m *tui.Model, l *latency.Latency) string {
	if _, away := m.Revision(); away && m.Env().Cluster.Runtime == nil {
		return "no latency data from that time"
	}
	return words.Sanitize(show.EmptyText(l))
}

// noBudget returns the reason why the page of a request type is empty.
func noBudget(m *tui.Model, key tui.BudgetKey) string {
	if l := m.Times().Latency(); len(l.Budgets) == 0 {
		return noBudgets(m, l)
	}
	return "no " + budgetText(key) + " ended between the last two scrapes"
}

// budgetText returns the display name of a budget, e.g. "search of docs".
func budgetText(key tui.BudgetKey) string {
	text := string(key.Request)
	if key.Name != "" {
		text += " of " + key.Name
	}
	return words.Sanitize(text)
}

func budgetCommand(key tui.BudgetKey) string {
	c := shellquote.Shell("latency")
	switch {
	case key.Name != "" && key.Database != "" && key.Database != "default":
		c = c.Arg(key.Database + "." + key.Name)
	case key.Name != "":
		c = c.Arg(key.Name)
	}
	return c.Word("--request", string(key.Request)).String()
}

// openPhase opens the processes that report a phase. Process metrics are not per collection, so the phase of
// a collection leads to the same phase of all collections.
func openPhase(m *tui.Model, r *show.Row) tui.Cmd {
	b, p := r.Budget(), r.Phase()
	if !p.Known && p.Name != latency.Total {
		m.Notify(tui.ToneWarn, "unknown: "+p.Why)
		return nil
	}
	var apart string
	if len(p.Nodes) == 0 && b.Name != "" {
		b = m.Times().Latency().Find("", b.Request)
		p, apart = samePhase(b, p), "all collections (process metrics are not per collection); "
	}
	if p == nil || len(p.Nodes) == 0 {
		m.Notify(tui.ToneInfo, "no process reports its part of "+string(r.Phase().Name))
		return nil
	}
	return m.Push(newPhasePage(m, tui.KeyOfBudget(b), p, apart))
}

// samePhase returns the phase of b that has the name and parent of p, nil if there is none.
func samePhase(b *latency.Budget, p *latency.Phase) (same *latency.Phase) {
	b.Root.Walk(func(x *latency.Phase, _ int) {
		if x.Name == p.Name && x.Parent == p.Parent {
			same = x
		}
	})
	return same
}

// newPhasePage returns the page that shows the time of a phase in each process. note is a note about the
// scope of these times.
func newPhasePage(m *tui.Model, key tui.BudgetKey, phase *latency.Phase, note string) tui.Page {
	p := &tui.TablePage[*show.Row]{
		Name: "latency-" + string(phase.Name), CrumbName: string(phase.Name),
		CommandLine: budgetCommand(key) + " -o wide",
		Rows: func(m *tui.Model) ([]*show.Row, string) {
			b := m.Times().Find(key)
			if b == nil {
				return nil, noBudget(m, key)
			}
			if x := samePhase(b, phase); x != nil && len(x.Nodes) > 0 {
				return show.Processes(b, x), ""
			}
			return nil, "no process reports its part of " + string(phase.Name) + " any more"
		},
		List: budgetList("process"),
	}
	p.OriginalOrder = "longest wait first"
	p.Columns = func(int) []tui.Column[*show.Row] {
		name := tui.SortedColumn("process", "PROCESS", table.Text, 0, (*show.Row).Process, nil)
		return append([]tui.Column[*show.Row]{name},
			phaseColumns(m, "mean_ms", "share", "calls", "call_ms", "bar", "p50_ms", "p99_ms", "per_second")...)
	}
	p.Look = nil
	p.Open = func(m *tui.Model, r *show.Row) tui.Cmd {
		return m.Describe(model.Ref{Resource: "nodes", ID: r.Process(), Name: r.Process()})
	}
	p.Head = func(m *tui.Model, w, h int) []string {
		text := string(phase.Name)
		if doing := phase.Activity(); doing != "" {
			text = doing
		}
		text += "; " + note + "MS: wait per " + string(key.Request) + ", PER CALL: ms per call"
		var lines []string
		for _, line := range draw.Wrap(text, w-2) {
			lines = append(lines, " "+m.Styles.Dim.On(line))
		}
		return lines
	}
	return p
}

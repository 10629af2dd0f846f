package tui

import (
	"cmp"
	"math"
	"strings"

	"kitescope/inspect/latency"
	"kitescope/inspect/model"
	"kitescope/paste"
	"kitescope/render"
	show "kitescope/render/latency"
	"kitescope/table"
	"kitescope/tui/draw"
	"kitescope/tui/sheet"
	"kitescope/words"
)

// latencyKind is the page of all budgets: where requests spend their time, by collection. A budget leads to its phases, a phase
// to the processes that say something of it, and these to their pages.
func latencyKind() PageKind {
	return PageKind{Name: "latency", Doc: "Where requests spend their time: by collection, phase and process.", Open: newLatencyPage}
}

func newLatencyPage(m *Model, _ []string) (Page, error) {
	p := &TablePage[*show.Row]{
		Name: "latency", Prints: "latency",
		Rows: func(m *Model) ([]*show.Row, string) {
			l := m.data.times.latency
			switch {
			case l == nil:
				return nil, "…"
			case len(l.Budgets) == 0:
				return nil, words.Harmless(show.Nothing(l))
			}
			rows := make([]*show.Row, len(l.Budgets))
			for i, b := range l.Budgets {
				rows[i] = show.Whole(b)
			}
			return rows, ""
		},
		List: budgetList("request"),
	}
	p.Columns = func(int) []Column[*show.Row] { return budgetColumns(m) }
	p.Least = 28
	p.AsItCame = "by kind of request, the collection that takes most time first"
	p.Open = func(m *Model, r *show.Row) Cmd { return m.Push(newWaterfallPage(m, keyOfBudget(r.Budget()))) }
	p.Head = func(m *Model, w, h int) []string {
		l := m.data.times.latency
		lines := verdictLines(m, sheet.Busiest(l), w, h)
		about := append([]string{l.Window.Why}, show.Silent(l)...)
		return append(lines, " "+m.Styles.Dim.On(draw.Cut(words.Harmless(strings.Join(about, "; ")), w-2)))
	}
	return p, nil
}

// budgetList is what lists of phases have in common.
func budgetList(noun string) List[*show.Row] {
	return List[*show.Row]{
		Noun: noun, AsItCame: "in the order of the request",
		Key: func(r *show.Row) string {
			b, p := r.Budget(), r.Phase()
			return strings.Join([]string{string(b.Request), b.Database, b.Name, string(p.Name), string(p.Parent), r.Process()}, "\x00")
		},
		Look: func(r *show.Row) RowLook { return RowLook{Role: r.Look()} },
	}
}

// phaseColumns are columns of phases as the report has them; the widest bar is of the whole request.
func phaseColumns(m *Model, names ...string) []Column[*show.Row] {
	o := render.ReportOptions{Options: render.Options{ASCII: m.Config.ASCII, Width: m.Width}}
	var list []Column[*show.Row]
	for _, c := range show.Columns(&o, names...) {
		switch c.Name {
		case "phase":
			c.Kind = table.ID // a name that is cut says little
		case "bar":
			if m.Width < leastReason {
				c.Shown = shortened(c.Shown)
			}
		}
		list = append(list, ReportColumn(c))
	}
	return list
}

// leastReason is a terminal that has room for the reason why a phase is unknown beside it.
const leastReason = 100

// shortened has no reason where a bar should be: enter says it.
func shortened(bar func(*show.Row) string) func(*show.Row) string {
	return func(r *show.Row) string {
		if !r.Phase().Known && r.Phase().Name != latency.Total {
			return "enter says why"
		}
		return bar(r)
	}
}

// leastTrends is a terminal that has room for how everything was.
const leastTrends = 120

// budgetColumns are a collection and a kind of request, how long it takes, what takes the time, and how that was.
func budgetColumns(m *Model) []Column[*show.Row] {
	columns := []Column[*show.Row]{
		SortedColumn("collection", "COLLECTION", table.Text, 0, func(r *show.Row) string { return budgetName(r.Budget()) }, nil),
		SortedColumn("request", "REQUEST", table.ID, 1, func(r *show.Row) string { return string(r.Budget().Request) }, nil),
	}
	columns = append(columns, phaseColumns(m, "mean_ms", "p50_ms", "p99_ms", "per_second")...)
	columns[ColumnNamed(columns, "p50_ms")].Priority++ // the first to go
	columns = append(columns, PlainColumn("MOST OF IT", table.Text, 0, func(r *show.Row) string { return mostOf(r.Budget()) }))
	if m.Width < leastTrends || !m.data.times.moved() {
		return columns
	}
	for place, title := range [...]string{momentP50: "P50 SINCE OPENED", momentP99: "P99", momentRate: "/S"} {
		columns = append(columns, PlainColumn(title, table.ID, 8+place, func(r *show.Row) string {
			return m.spark(keyOfBudget(r.Budget()), place, 16)
		}))
	}
	return columns
}

// budgetName is the collection's, with its database where that is not the usual one.
func budgetName(b *latency.Budget) string {
	switch b.Database {
	case "", "default":
		return words.Harmless(cmp.Or(b.Name, "all"))
	}
	return words.Harmless(b.Database + "." + b.Name)
}

// mostOf are the parts that matter: "92% waiting for consistency".
func mostOf(b *latency.Budget) string {
	var parts []string
	for _, x := range b.Main() {
		parts = append(parts, words.Percent(math.Round(100*x.Share))+" "+x.Doing)
	}
	return strings.Join(parts, ", ")
}

// moved reports whether any budget has more than one moment to draw.
func (t *times) moved() bool {
	for _, x := range t.trends {
		if x.Moved(momentRate) {
			return true
		}
	}
	return false
}

// spark draws how a budget was since the UI was opened, in at most n cells.
func (m *Model) spark(key budgetKey, place, n int) string {
	values := render.Resample(m.data.times.trends[key].Values(place), n)
	top := 0.0
	for _, v := range values {
		top = max(top, v)
	}
	return render.Sparkline(values, top, m.Config.ASCII)
}

// roomyBody is how high a page is that has room for more than a line above its list.
const roomyBody = 15

// verdictLines say where the time of a budget goes: in a line, or in up to three where there is room.
func verdictLines(m *Model, b *latency.Budget, w, h int) []string {
	text := words.Harmless(latency.Verdict(b))
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

// newWaterfallPage is where the time of a request goes: its phases in order.
func newWaterfallPage(m *Model, key budgetKey) Page {
	p := &TablePage[*show.Row]{
		Name: "latency-" + string(key.request), Called: budgetCalled(key), Prints: budgetCommand(key),
		Rows: func(m *Model) ([]*show.Row, string) {
			b := m.data.times.find(key)
			if b == nil {
				return nil, "no " + budgetCalled(key) + " ended in the last round, or nothing is known of it any more"
			}
			return show.Rows(b), ""
		},
		List: budgetList("phase"),
	}
	p.Columns = func(int) []Column[*show.Row] {
		return phaseColumns(m, "phase", "mean_ms", "share", "bar", "most_at", "low_ms", "high_ms", "p50_ms", "p99_ms", "per_second")
	}
	p.Open = openPhase
	p.Head = func(m *Model, w, h int) []string {
		b := m.data.times.find(key)
		lines := verdictLines(m, b, w, h)
		if text := m.trendText(key); text != "" && h >= roomyBody {
			lines = append(lines, " "+draw.Cut(text, w-2))
		}
		return append(lines, " "+m.Styles.Dim.On(draw.Cut(words.Harmless(show.Rates(b))+"; "+m.data.times.latency.Window.Why, w-2)))
	}
	return p
}

// budgetCalled is what a person calls a budget: "search of docs".
func budgetCalled(key budgetKey) string {
	text := string(key.request)
	if key.name != "" {
		text += " of " + key.name
	}
	return words.Harmless(text)
}

func budgetCommand(key budgetKey) string {
	c := paste.Shell("latency")
	switch {
	case key.name != "" && key.database != "" && key.database != "default":
		c = c.Arg(key.database + "." + key.name)
	case key.name != "":
		c = c.Arg(key.name)
	}
	return c.Word("--request", string(key.request)).String()
}

// trendText are p50, p99 and the rate as they were since the UI was opened, and as they were last; "" if there is nothing to compare.
func (m *Model) trendText(key budgetKey) string {
	const cells = 12
	t := m.data.times.trends[key]
	if !t.Moved(momentRate) {
		return ""
	}
	last := t.Last()
	var parts []string
	for place, name := range [...]string{momentP50: "p50", momentP99: "p99", momentRate: "requests/s"} {
		value := words.UnknownMark
		switch v := last[place]; {
		case math.IsNaN(v):
		case place == momentRate:
			value = words.ThreeDigits(v)
		default:
			value = latency.Milliseconds(v)
		}
		parts = append(parts, name+" "+m.spark(key, place, cells)+" "+value)
	}
	return strings.Join(parts, "   ") + "   since opened"
}

// openPhase goes from a phase to the processes that say something of it. They do not tell collections apart: those of a
// collection's phase are those of the same phase of all collections.
func openPhase(m *Model, r *show.Row) Cmd {
	b, p := r.Budget(), r.Phase()
	if !p.Known && p.Name != latency.Total {
		m.Say(ToneWarn, "unknown: "+p.Why)
		return nil
	}
	var apart string
	if len(p.Of) == 0 && b.Name != "" {
		b = m.data.times.latency.Find("", b.Request)
		p, apart = samePhase(b, p), "of all collections, which processes do not tell apart: "
	}
	if p == nil || len(p.Of) == 0 {
		m.Say(ToneInfo, "no process tells its part of "+string(r.Phase().Name))
		return nil
	}
	return m.Push(newPhasePage(m, keyOfBudget(b), p, apart))
}

// samePhase is the phase of another budget that is at the same place, nil if it has none.
func samePhase(b *latency.Budget, p *latency.Phase) (same *latency.Phase) {
	b.Root.Walk(func(x *latency.Phase, _ int) {
		if x.Name == p.Name && x.Parent == p.Parent {
			same = x
		}
	})
	return same
}

// newPhasePage is what each process says of a phase; apart is what there is to say of whose it is.
func newPhasePage(m *Model, key budgetKey, of *latency.Phase, apart string) Page {
	p := &TablePage[*show.Row]{
		Name: "latency-" + string(of.Name), Called: string(of.Name), Prints: budgetCommand(key) + " -o wide",
		Rows: func(m *Model) ([]*show.Row, string) {
			b := m.data.times.find(key)
			if b == nil {
				return nil, "no " + budgetCalled(key) + " ended in the last round, or nothing is known of it any more"
			}
			if x := samePhase(b, of); x != nil && len(x.Of) > 0 {
				return show.Processes(b, x), ""
			}
			return nil, "no process tells its part of " + string(of.Name) + " any more"
		},
		List: budgetList("process"),
	}
	p.AsItCame = "the one that a request waits for longest first"
	p.Columns = func(int) []Column[*show.Row] {
		name := SortedColumn("process", "PROCESS", table.Text, 0, (*show.Row).Process, nil)
		return append([]Column[*show.Row]{name}, phaseColumns(m, "mean_ms", "share", "calls", "call_ms", "bar", "p50_ms", "p99_ms", "per_second")...)
	}
	p.Look = nil
	p.Open = func(m *Model, r *show.Row) Cmd {
		return m.Push(newDetailPage(model.Ref{Resource: "nodes", ID: r.Process(), Name: r.Process()}))
	}
	p.Head = func(m *Model, w, h int) []string {
		text := string(of.Name)
		if doing := of.Doing(); doing != "" {
			text = doing
		}
		text += ", " + apart + "MS is what the " + string(key.request) + " waits, A CALL what one takes"
		var lines []string
		for _, line := range draw.Wrap(text, w-2) {
			lines = append(lines, " "+m.Styles.Dim.On(line))
		}
		return lines
	}
	return p
}

// Package latency writes where requests spend their time. It lays out a latency.Latency as a render.Sheet: for people
// a waterfall of the phases of each budget, for scripts an item per phase.
//
//  1. rowsOf (rows.go) makes a row of each phase and of each process that reported about the phase.
//  2. columns (columns.go) returns the keys for scripts and the columns of the table.
//  3. newSheet writes the verdict, then a table for each budget, then the unknown processes.
//
// Other lists of phases share the rows and columns (shared.go).
package latency

import (
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"kitescope/inspect/latency"
	"kitescope/internal/encode"
	"kitescope/internal/table"
	"kitescope/internal/words"
	"kitescope/render"
	"kitescope/render/webpage"
)

// Report holds the input of Write.
type Report struct {
	Latency *latency.Latency
	// Budgets are the selected budgets.
	Budgets []*latency.Budget
	// Where is the cluster, At the time of the report, Version the version of kitescope.
	Where, Version string
	At             time.Time
}

// Write writes where requests spend their time.
func Write(w io.Writer, r *Report, f render.Format, o render.ReportOptions) error {
	return newSheet(r, f, &o).Write(w, f)
}

// Formats returns the formats of the report.
func Formats() render.Formats {
	return render.FormatsOf(map[string]string{
		"table": "the main phases in a sentence, and all phases with bars (default)",
		"wide":  "the same with bounds, rates, quantiles of a call, and each process",
		"json":  "one JSON object, a phase per line (docs/reference/json.md)",
		"jsonl": "one JSON object per line and phase",
		"html":  "one page, for mail and browsers",
		"name":  "",
	})
}

// Schema returns the keys of phases that selections can use.
func Schema(o render.ReportOptions) *table.Schema {
	return table.New(schema(), nil, columns(&o, phaseID)).Schema()
}

func newSheet(r *Report, f render.Format, o *render.ReportOptions) *render.Sheet {
	list := table.New(schema(), rowsOf(r.Budgets), columns(o, phaseNames(f)))
	asked := render.Select(o, list, nil)
	s := &render.Sheet{
		Kind: "Latency", Options: o, Head: head(r), Items: asked.Items,
		About: func(e *encode.Encoder) { writeHead(e, r.Latency, r.Budgets, latency.Verdict) },
	}
	wide := f.Name() == "wide" || f.Name() == "csv"
	for i, b := range r.Budgets {
		part := render.Part{List: asked.Part(func(x *Row) bool { return x.budget == b && (wide || x.at == nil) })}
		if i > 0 {
			part.Head = append(part.Head, render.Line{Role: render.RoleTitle, Text: latency.Verdict(b)})
		}
		part.Head = append(part.Head, render.Line{Role: render.RoleDim, Text: rates(b)})
		if tail := latency.Tail(b); tail != "" {
			part.Head = append(part.Head, render.Line{Role: render.RoleDim, Text: tail})
		}
		s.Parts = append(s.Parts, part)
	}
	s.Foot = append(asked.More(o), foot(r, o)...)
	return s
}

// AddTo adds a table for each budget to a page. It adds unknown processes to the notes of the page.
func (r *Report) AddTo(p *webpage.Page) {
	page, _ := Formats().Parse("html")
	s := newSheet(r, page, &render.ReportOptions{})
	for i := range s.Parts {
		for j := range s.Parts[i].Head {
			line := &s.Parts[i].Head[j]
			line.Text = words.Sentence(line.Text)
		}
	}
	p.Add("Where the time goes", s.Blocks()...)
	for _, l := range render.PageLines(unknown(r)) {
		p.Notes = append(p.Notes, "Unknown: "+l.Text)
	}
}

// head returns the verdict, the window, and the unknown processes.
func head(r *Report) []render.Line {
	first := render.Line{Role: render.RoleTitle, Text: EmptyText(r.Latency)}
	if len(r.Budgets) > 0 {
		first.Text = latency.Verdict(r.Budgets[0])
	}
	return append([]render.Line{first, {Role: render.RoleDim, Text: r.Latency.Window.Why}}, unknown(r)...)
}

// EmptyText returns the first line of a report without budgets: why they are unknown, or that no request ended.
func EmptyText(l *latency.Latency) string {
	if len(l.Unknown) > 0 {
		return "where requests spend their time is unknown: " + l.Unknown[0].Reason
	}
	return "no search, query or write ended in that time"
}

// rates returns the number of requests, their rates and their quantiles in one line.
func rates(b *latency.Budget) string {
	if !b.Root.Known {
		return "number of requests unknown: " + short(b.Root.Why)
	}
	parts := []string{words.Plural(int64(b.Requests), "request")}
	add := func(v latency.Value, unit string) {
		if v.Known && v.Value > 0 {
			parts = append(parts, words.ThreeDigits(v.Value)+unit)
		}
	}
	add(b.PerSecond, " a second")
	add(b.VectorsPerSecond, " vectors a second")
	for _, q := range []struct {
		name string
		of   latency.Interval
	}{{"p50", b.P50}, {"p95", b.P95}, {"p99", b.P99}} {
		if q.of.High > 0 {
			parts = append(parts, q.name+" "+between(q.of))
		}
	}
	if b.Failed.Known && b.Failed.Value > 0 {
		parts = append(parts, words.Number(int64(b.Failed.Value))+" failed (not included)")
	}
	return strings.Join(parts, ", ")
}

// between returns the bounds of a time as text, e.g. "64 to 128 ms".
func between(i latency.Interval) string {
	if i.High > 1e12 {
		return "over " + bound(i.Low) + " ms"
	}
	return bound(i.Low) + " to " + bound(i.High) + " ms"
}

// short shortens a reason such as "proxy-9: 401 Unauthorized" to "proxy-9 did not report", because the process's
// own error is above the tables.
func short(why string) string {
	if who, _, ok := strings.Cut(why, ": "); ok && !strings.Contains(who, " ") {
		return who + " did not report"
	}
	return why
}

// bound returns one end of an interval. The bounds of buckets are whole numbers.
func bound(ms float64) string {
	if ms == math.Trunc(ms) {
		return words.Number(int64(ms))
	}
	return figure(ms)
}

// unknown returns a line for each process that reported nothing: at most five, and a line with the number of the
// rest.
func unknown(r *Report) (lines []render.Line) {
	const most = 5
	for i, u := range r.Latency.Unknown {
		if name(u) == words.UnknownMark { // all processes: the first line has the reason
			continue
		}
		if i == most {
			lines = append(lines, render.Line{
				Role: render.RoleWarn,
				Text: "and " + strconv.Itoa(len(r.Latency.Unknown)-most) + " more processes reported nothing",
			})
			break
		}
		lines = append(lines, render.Line{Role: render.RoleWarn, Text: name(u) + ": " + u.Reason})
	}
	return lines
}

func name(u latency.Unknown) string {
	if u.Role == "" {
		return words.OrUnknown(u.Address)
	}
	return u.Node.Name(u.Role)
}

// foot explains the marks of the table.
func foot(r *Report, o *render.ReportOptions) (lines []render.Line) {
	estimated := false
	for _, b := range r.Budgets {
		b.Root.Walk(func(p *latency.Phase, _ int) { estimated = estimated || p.Estimate && p.Known })
	}
	if estimated {
		text := "~ is an estimate: calls run in parallel, the slowest counts, and Milvus reports only the time of each"
		if o.Width == 0 || o.Width > len(text) {
			text += " (-o wide has bounds)"
		}
		lines = append(lines, render.Line{Role: render.RoleDim, Text: text})
	}
	return lines
}

// writeHead writes the entries before the items: the window, the verdicts and the unknown processes.
func writeHead(e *encode.Encoder, l *latency.Latency, budgets []*latency.Budget, verdict func(*latency.Budget) string) {
	w := l.Window
	e.Key("window")
	e.BeginObject()
	if !w.From.IsZero() {
		e.Entry("from", w.From.UTC().Format(time.RFC3339))
		e.Entry("to", w.To.UTC().Format(time.RFC3339))
	}
	e.Entry("since_start", w.SinceStart)
	e.Entry("text", w.Why)
	e.EndObject()
	e.Key("verdicts")
	e.BeginList()
	for _, b := range budgets {
		e.BeginObject()
		if b.Name != "" {
			e.Entry("collection", b.Name)
		}
		e.Entry("request", string(b.Request))
		e.Entry("verdict", verdict(b))
		e.EndObject()
	}
	e.EndList()
	e.Key("unknown_processes")
	e.BeginList()
	for _, u := range l.Unknown {
		e.BeginObject()
		e.Entry("process", name(u))
		e.Entry("reason", u.Reason)
		e.EndObject()
	}
	e.EndList()
}

// Round writes a line with the time for each budget. A watch prints it after each interval.
func Round(w io.Writer, l *latency.Latency, budgets []*latency.Budget, at time.Time, o render.ReportOptions) error {
	clock := at.Format(time.TimeOnly)
	s := &render.Sheet{Options: &o}
	for _, b := range budgets {
		line := render.Line{Role: render.RoleDim, Text: clock + "  ", After: []render.Piece{{Text: latency.Verdict(b)}}}
		s.Head = append(s.Head, line)
	}
	if len(budgets) == 0 {
		s.Head = []render.Line{{Role: render.RoleDim, Text: clock + "  " + EmptyText(l)}}
	}
	return s.Write(w, render.Format{})
}

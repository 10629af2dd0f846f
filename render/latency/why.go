package latency

import (
	"cmp"
	"io"
	"strings"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/latency"
	"kitescope/inspect/why"
	"kitescope/internal/encode"
	"kitescope/internal/table"
	"kitescope/internal/words"
	"kitescope/render"
	"kitescope/render/clusters"
)

// WhyReport holds the input of WriteWhy: why requests take as long as they do.
type WhyReport struct {
	Latency *latency.Latency
	// Answers are the selected answers.
	Answers []*why.Answer
	// Report has the symptoms that clients notice, and their causes. It is nil if they are unknown.
	Report *check.Report
	// Where is the cluster, At the time of the report, Version the version of kitescope.
	Where, Version string
	At             time.Time
}

// WriteWhy writes why requests take as long as they do.
func WriteWhy(w io.Writer, r *WhyReport, f render.Format, o render.ReportOptions) error {
	return whySheet(r, f, &o).Write(w, f)
}

// WhyFormats returns the formats of the report.
func WhyFormats() render.Formats {
	return render.FormatsOf(map[string]string{
		"table": "the reason in a sentence, the phases that matter, and what explains each (default)",
		"wide":  "the same with the object of each finding and bounds",
		"json":  "one JSON object, a phase per line (docs/reference/json.md)",
		"jsonl": "one JSON object per line and phase",
		"name":  "",
	})
}

// WhySheet returns the report as a part of another document.
func WhySheet(r *WhyReport) *render.Sheet {
	ticket, _ := WhyFormats().Parse("markdown")
	return whySheet(r, ticket, &render.ReportOptions{})
}

// WhySchema returns the keys of reasons that selections can use.
func WhySchema(render.ReportOptions) *table.Schema {
	return table.New(whyRows(), nil, whyColumns(phaseID)).Schema()
}

func whyRows() table.Schema {
	return table.Schema{
		Name: "reasons", Singular: "reason", Names: []string{"phase"}, Sparse: true,
		Order: []string{"phase", "mean_ms", "share", "gain", "finding", "object"},
	}
}

// minWeight is the share of the time of all requests below which the table leaves a request out. The first answer
// always stays.
const minWeight = 0.05

// reasonRow is a reason and its answer.
type reasonRow struct {
	answer *why.Answer
	*why.Reason
}

func whyColumns(name func(*latency.Phase) string) []table.ColumnOf[*reasonRow] {
	text := render.TextKey[*reasonRow]
	number := func(name string, of func(*reasonRow) float64) table.ColumnOf[*reasonRow] {
		return render.Key(name, table.Number, func(r *reasonRow) table.Cell { return table.OfFloat(of(r)) })
	}
	finding := text("finding", func(r *reasonRow) string {
		return r.findingText(func() string { return r.Finding.Check })
	})
	return []table.ColumnOf[*reasonRow]{
		text("collection", func(r *reasonRow) string { return r.answer.Budget.Name }),
		text("database", func(r *reasonRow) string { return r.answer.Budget.Database }),
		text("request", func(r *reasonRow) string { return string(r.answer.Budget.Request) }),
		text("verdict", func(r *reasonRow) string { return r.answer.Verdict() }),
		text("phase", func(r *reasonRow) string { return string(r.Phase.Name) }).WithTitle("PHASE", 0,
			func(r *reasonRow) string { return r.phase(name) }),
		text("parent", func(r *reasonRow) string { return string(r.Phase.Parent) }),
		number("mean_ms", func(r *reasonRow) float64 { return r.Phase.Ms }).WithTitle("MS", 0,
			func(r *reasonRow) string { return meanText(&Row{budget: r.answer.Budget, phase: r.Phase}) }),
		number("share", func(r *reasonRow) float64 { return r.Phase.Share }).WithTitle("SHARE", 0,
			func(r *reasonRow) string { return words.Share(r.Phase.Share) }),
		render.Key("estimate", table.Bool, func(r *reasonRow) table.Cell { return table.OfBool(r.Phase.Estimate) }),
		finding.WithTitle("FINDING", 0, func(r *reasonRow) string {
			return r.findingText(func() string { return r.Finding.Check })
		}).WithRole((*reasonRow).look),
		text("object", func(r *reasonRow) string {
			return r.findingText(func() string { return r.Finding.Object.Resource + "/" + r.Finding.Object.ID })
		}).WithTitle("OBJECT", 2, func(r *reasonRow) string {
			return r.findingText(func() string { return clusters.ObjectText(r.Finding.Object) })
		}).WideOnly(),
		text("message", func(r *reasonRow) string { return r.findingText(func() string { return r.Finding.Message }) }),
		text("hint", func(r *reasonRow) string { return r.findingText(func() string { return r.Finding.Advice() }) }),
		number("gain_low", func(r *reasonRow) float64 { return r.Gain.Low }),
		number("gain_high", func(r *reasonRow) float64 { return r.Gain.High }),
		text("gain_with", func(r *reasonRow) string { return r.otherPhases(",") }),
		table.DisplayColumn("gain", "COULD SAVE", 0, gainText),
	}
}

// phase returns the name of the phase. For unexplained time it appends the processes between which the time is spent.
func (r *reasonRow) phase(name func(*latency.Phase) string) string {
	text := name(r.Phase)
	reads := r.answer.Budget.Request == latency.Search || r.answer.Budget.Request == latency.Query
	switch {
	case r.Phase.Name != latency.Unexplained:
		return text
	case r.Phase.Parent == latency.WaitForWorkers:
		return text + ", in workers"
	case r.Phase.Parent == latency.WaitForNodes:
		return text + ", leader to workers"
	case reads:
		return text + ", proxy to leader"
	}
	return text + ", at the proxy"
}

// findingText returns a text from the finding, or "" without a finding.
func (r *reasonRow) findingText(get func() string) string {
	if r.Finding == nil {
		return ""
	}
	return get()
}

func (r *reasonRow) look() table.Role {
	if r.Finding == nil {
		return render.RolePlain
	}
	return clusters.SeverityRole(r.Finding.Severity)
}

// gainText returns the GainText of a reason. A star marks a gain that needs several phases together.
func gainText(r *reasonRow) string {
	if len(r.OtherPhases) > 0 && !r.Bound {
		return GainText(r.Reason) + "*"
	}
	return GainText(r.Reason)
}

// GainText returns the possible reduction of the mean, e.g. "190 to 200 ms", "at most 12 ms", "almost nothing".
func GainText(r *why.Reason) string {
	high := latency.Milliseconds(r.Gain.High)
	switch {
	case r.Bound:
		return "at most " + high
	case r.Gain.High < minGain:
		return "almost nothing"
	case high == latency.Milliseconds(r.Gain.Low):
		return high
	case r.Gain.Low <= 0:
		return "up to " + high
	}
	return between(r.Gain)
}

// minGain is the gain in milliseconds below which it cannot be measured.
const minGain = 0.05

// otherPhases returns the names of the other phases that a gain includes.
func (r *reasonRow) otherPhases(separator string) string {
	names := make([]string, len(r.OtherPhases))
	for i, name := range r.OtherPhases {
		names[i] = string(name)
	}
	return strings.Join(names, separator)
}

func whySheet(r *WhyReport, f render.Format, o *render.ReportOptions) *render.Sheet {
	var rows []*reasonRow
	for _, a := range r.Answers {
		for i := range a.Reasons {
			rows = append(rows, &reasonRow{a, &a.Reasons[i]})
		}
	}
	asked := render.Select(o, table.New(whyRows(), rows, whyColumns(phaseNames(f))), nil)
	s := &render.Sheet{
		Kind: "Why", Options: o, Items: asked.Items, About: func(e *encode.Encoder) { writeWhyHead(e, r) },
		Nested: func(e *encode.Encoder, item int) { frames(e, asked.Rows[item].Frames) },
	}
	told, small := map[string]bool{}, 0
	felt, lines := clusters.ClientFindings(r.Report, len(r.Answers) == 0, o.ASCII)
	for _, f := range felt {
		told[f.Key()] = true
	}
	s.Head = lines
	switch {
	case len(r.Answers) > 0:
		s.Head = append(s.Head, render.Line{Role: render.RoleTitle, Text: r.Answers[0].Verdict()})
	case len(felt) == 0:
		s.Head = append(s.Head, render.Line{Role: render.RoleTitle, Text: EmptyText(r.Latency)})
	}
	s.Head = append(append(s.Head, render.Line{Role: render.RoleDim, Text: r.Latency.Window.Why}),
		unknown(&Report{Latency: r.Latency})...)
	for i, a := range r.Answers {
		if i > 0 && a.Weight < minWeight {
			small++
			continue
		}
		part := render.Part{List: asked.Part(func(x *reasonRow) bool { return x.answer == a })}
		if i > 0 {
			part.Head = append(part.Head, render.Line{Role: render.RoleTitle, Text: a.Verdict()})
		}
		part.Head = append(part.Head, render.Line{Role: render.RoleDim, Text: rates(a.Budget)})
		s.Parts = append(s.Parts, part)
	}
	for _, x := range asked.Rows {
		if x.answer == r.Answers[0] || x.answer.Weight >= minWeight {
			s.Foot = append(s.Foot, explain(x, told)...)
		}
	}
	s.Foot = append(s.Foot, asked.More(o)...)
	if small > 0 {
		text := "requests with less than " + words.Share(minWeight) + " of the total time are left out (" +
			words.Number(small) + "): name the collection, or use --request"
		s.Foot = append(s.Foot, render.Line{Role: render.RoleDim, Text: text})
	}
	if len(r.Answers) > 0 {
		s.Foot = append(s.Foot, render.Line{
			Role: render.RoleDim, Text: "all phases: kitescope latency; all findings: kitescope diagnose",
		})
	}
	return s
}

// explain returns lines that explain a phase: the finding, its fix, and the hottest functions. It writes each
// finding only once.
func explain(r *reasonRow, written map[string]bool) (lines []render.Line) {
	if f := r.Finding; f != nil && !written[f.Key()] {
		written[f.Key()] = true
		lines = append(lines, render.Line{}, render.Line{
			Role: clusters.SeverityRole(f.Severity), Text: f.Check,
			After: []render.Piece{{Role: render.RolePlain, Text: ": " + f.Message}},
		})
		if x := r.Effect; x != nil {
			lines = append(lines, render.Line{Text: "  hence " + x.Check + ": " + x.Message})
		}
		if len(r.OtherPhases) > 0 {
			lines = append(lines,
				render.Line{Text: "  * of " + string(r.Phase.Name) + ", " + r.otherPhases(", ") + " together"})
		}
		lines = append(lines, clusters.FixLines(f, 2)...)
	}
	for _, x := range r.Frames {
		key := "frames of " + x.Process
		if written[key] {
			continue
		}
		written[key] = true
		var parts []string
		for _, f := range x.Hottest {
			parts = append(parts, words.Share(f.Part)+" "+f.Function)
		}
		lines = append(lines, render.Line{
			Role: render.RoleDim, Text: "  " + x.Process + " spends its CPU time on: " + strings.Join(parts, ", "),
		})
	}
	return lines
}

// writeWhyHead writes the entries before the items.
func writeWhyHead(e *encode.Encoder, r *WhyReport) {
	budgets := make([]*latency.Budget, len(r.Answers))
	verdicts := make(map[*latency.Budget]string, len(r.Answers))
	for i, a := range r.Answers {
		budgets[i], verdicts[a.Budget] = a.Budget, a.Verdict()
	}
	clusters.WriteClientFindings(e, r.Report)
	writeHead(e, r.Latency, budgets, func(b *latency.Budget) string { return cmp.Or(verdicts[b], latency.Verdict(b)) })
}

// frames writes the hottest functions of a reason.
func frames(e *encode.Encoder, list []why.Frames) {
	if len(list) == 0 {
		return
	}
	e.Entry("frames", list)
}

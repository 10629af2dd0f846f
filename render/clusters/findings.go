package clusters

import (
	"io"

	"kitescope/inspect/check"
	"kitescope/inspect/why"
	"kitescope/internal/encode"
	"kitescope/internal/table"
	"kitescope/render"
)

// Diagnosis is what diagnose and preflight show: a report, and what was asked about it.
type Diagnosis struct {
	Report *check.Report
	// Since is nil without an older state to compare with.
	Since *check.Comparison
	// Onsets say when findings began; nil where nobody asked.
	Onsets map[*check.Finding]*why.Onset
	// Stale are entries of the baseline that accept nothing any more.
	Stale []check.Stale
	// Bar says which findings fail the run.
	Bar check.Bar
	// All shows the checks that found nothing one by one, too.
	All bool
	// Version is kitescope's own, for formats that name their writer.
	Version string
	// Preflight is the change of version that is judged; nil of a diagnosis.
	Preflight *Preflight
}

// Preflight is a change of Milvus's version, judged before it is made.
type Preflight struct {
	From, To string
	// Next is the version to go to first: To, where none in between must not be left out.
	Next string
	Back bool
}

// title names what is shown, for the heading of a page.
func (d *Diagnosis) title() string {
	if d.Preflight != nil {
		return "Preflight"
	}
	return "Diagnosis"
}

// Text says the change in words.
func (p *Preflight) Text() string {
	way := "upgrade"
	if p.Back {
		way = "going back"
	}
	text := way + " from " + render.Harmless(p.From) + " to " + render.Harmless(p.To)
	if p.Next != p.To {
		text += ", first to " + render.Harmless(p.Next)
	}
	return text
}

// gone are the findings of the older state that are no longer there, or can no longer be seen.
func (d *Diagnosis) gone() []check.Change {
	if d.Since == nil {
		return nil
	}
	var list []check.Change
	for _, c := range d.Since.Changes {
		if c.After == nil {
			list = append(list, c)
		}
	}
	return list
}

// outcome is how a check ended, once what is accepted is taken out.
type outcome struct {
	*check.Result
	// word is "ok", "findings", "accepted", "skipped" or "failed".
	word     string
	findings []*check.Finding
	accepted int
}

const acceptedWord = "accepted"

// outcomes are those of all checks, in their order.
func (d *Diagnosis) outcomes() []outcome {
	left, accepted := make(map[string][]*check.Finding), make(map[string]int)
	for _, f := range d.Report.Findings {
		left[f.Check] = append(left[f.Check], f)
	}
	for _, f := range d.Report.Accepted {
		accepted[f.Check]++
	}
	list := make([]outcome, len(d.Report.Results))
	for i, x := range d.Report.Results {
		o := outcome{Result: x, word: x.Status.String(), findings: left[x.Check.ID], accepted: accepted[x.Check.ID]}
		if x.Status == check.Found && len(o.findings) == 0 {
			o.word = acceptedWord
		}
		list[i] = o
	}
	return list
}

// tally counts outcomes by their word.
func tally(list []outcome) map[string]int {
	counts := make(map[string]int)
	for _, o := range list {
		counts[o.word]++
	}
	return counts
}

// FindingsFormats are the formats of findings.
func FindingsFormats() render.Formats {
	return render.FormatsOf(map[string]string{
		"table":    "findings with impact and hint, what follows from them below (default)",
		"wide":     "the same with all evidence",
		"json":     "one JSON object: findings, results of all checks, source (docs/reference/json.md)",
		"jsonl":    "one finding a line",
		"csv":      "one finding a line, as in RFC 4180",
		"name":     "",
		"markdown": "for tickets and wikis",
		"html":     "a single page to keep or mail, with the balance",
	})
}

// Findings writes a report.
func Findings(w io.Writer, d *Diagnosis, f render.Format, o render.ReportOptions) error {
	asked := render.Ask(&o, d.table(), nil)
	where, state := d.Headline()
	s := &render.Sheet{
		Kind: "Findings", Options: &o, Whole: diagnosisDocument(d), Items: asked.Items,
		Head: []render.Line{{Role: render.RoleTitle, Text: where}, {Role: render.RoleDim, Text: state}},
		Own: map[string]func(io.Writer) error{
			"jsonl": func(w io.Writer) error { return writeFindingLines(w, d) },
			"html":  func(w io.Writer) error { return writeHTML(w, d) },
		},
		About: func(e *encode.Encoder) {
			writeSource(e, &d.Report.Cluster.Origin, d.Report.Cluster.Gaps)
			e.Entry("preflight", d.Preflight)
		},
	}
	if d.Preflight == nil {
		s.Head = append(s.Head, ImpactLines(ImpactOf(d.Report), o.ASCII)...)
	}
	if o.Asks() {
		s.Parts = []render.Part{asked.List("no findings"), {Head: append(asked.More(&o), d.Summary(o.ASCII, false)...)}}
		return s.Write(w, f)
	}
	worst, _ := d.Report.Worst()
	brief := worst > check.Info && f.Name() == "table" && d.Onsets == nil && d.Preflight == nil // what hurts fits on the first screen
	s.Parts = append(d.Parts(o.ASCII, f.Name() == "wide" || f.Name() == "markdown", brief), render.Part{Head: d.Summary(o.ASCII, brief && !d.All)})
	return s.Write(w, f)
}

// FindingsSchema is what can be asked of the findings that Findings writes.
func FindingsSchema(render.ReportOptions) *table.Schema {
	return (&Diagnosis{Report: &check.Report{}}).table().Schema()
}

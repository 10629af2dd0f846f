package clusters

import (
	"io"

	"kitescope/inspect/check"
	"kitescope/inspect/why"
	"kitescope/internal/encode"
	"kitescope/internal/table"
	"kitescope/render"
)

// Diagnosis holds the input of diagnose and preflight: a report and the options that apply to it.
type Diagnosis struct {
	Report *check.Report
	// Since compares the report with an older state. It is nil without an older state.
	Since *check.Comparison
	// Onsets holds the onsets of findings. It is nil if they were not computed.
	Onsets map[*check.Finding]*why.Onset
	// Stale holds the entries of the baseline that no longer match a finding.
	Stale []check.StaleEntry
	// Bar selects the findings that make the run fail.
	Bar check.Threshold
	// All also lists each check that found nothing.
	All bool
	// Version is the version of kitescope, for formats that name their generator.
	Version string
	// Preflight is the version change that is checked, or nil for a diagnosis.
	Preflight *Preflight
}

// Preflight is a change of the version of Milvus that is checked in advance.
type Preflight struct {
	From, To string
	// Next is the version to go to first. It equals To if a direct change is possible.
	Next string
	Back bool
}

// title returns the name of the report for the title of a page.
func (d *Diagnosis) title() string {
	if d.Preflight != nil {
		return "Preflight"
	}
	return "Diagnosis"
}

// Text returns a description of the version change.
func (p *Preflight) Text() string {
	way := "upgrade"
	if p.Back {
		way = "rollback"
	}
	text := way + " from " + render.Harmless(p.From) + " to " + render.Harmless(p.To)
	if p.Next != p.To {
		text += ", first to " + render.Harmless(p.Next)
	}
	return text
}

// gone returns the findings of the older state that have disappeared, or can no longer be checked.
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

// outcome is the result of a check without its accepted findings.
type outcome struct {
	*check.Result
	// word is "ok", "findings", "accepted", "skipped" or "failed".
	word     string
	findings []*check.Finding
	accepted int
}

const acceptedWord = "accepted"

// outcomes returns the outcomes of all checks, in the order of the report.
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

// FindingsFormats returns the formats of findings.
func FindingsFormats() render.Formats {
	return render.FormatsOf(map[string]string{
		"table":    "findings with impact and hint, consequences below (default)",
		"wide":     "the same with all evidence",
		"json":     "one JSON object: findings, results of all checks, source (docs/reference/json.md)",
		"jsonl":    "one finding per line",
		"csv":      "one finding per line, as in RFC 4180",
		"name":     "",
		"markdown": "for tickets and wikis",
		"html":     "a single page to keep or mail, with the balance",
	})
}

// Findings writes a report of findings.
func Findings(w io.Writer, d *Diagnosis, f render.Format, o render.ReportOptions) error {
	asked := render.Select(&o, d.table(), nil)
	where, state := d.Headline()
	s := &render.Sheet{
		Kind: "Findings", Options: &o, WriteAll: diagnosisDocument(d), Items: asked.Items,
		Head: []render.Line{{Role: render.RoleTitle, Text: where}, {Role: render.RoleDim, Text: state}},
		Writers: map[string]func(io.Writer) error{
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
	if o.HasQuery() {
		s.Parts = []render.Part{asked.List("no findings"), {Head: append(asked.More(&o), d.Summary(o.ASCII, false)...)}}
		return s.Write(w, f)
	}
	worst, _ := d.Report.Worst()
	// brief, so that errors and warnings fit on the first screen
	brief := worst > check.Info && f.Name() == "table" && d.Onsets == nil && d.Preflight == nil
	s.Parts = append(d.Parts(o.ASCII, f.Name() == "wide" || f.Name() == "markdown", brief),
		render.Part{Head: d.Summary(o.ASCII, brief && !d.All)})
	return s.Write(w, f)
}

// FindingsSchema returns the keys of findings that selections can use.
func FindingsSchema(render.ReportOptions) *table.Schema {
	return (&Diagnosis{Report: &check.Report{}}).table().Schema()
}

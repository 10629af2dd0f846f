package clusters

import (
	"io"
	"math"
	"strings"

	"kitescope/inspect/check"
	"kitescope/inspect/model"
	"kitescope/inspect/why"
	"kitescope/internal/encode"
	"kitescope/render"
)

// writeFindingLines writes one finding per line. Findings that are gone come last.
func writeFindingLines(w io.Writer, d *Diagnosis) error {
	e := encode.JSON(w, 0)
	for _, f := range d.Report.Findings {
		writeFinding(e, d.Report, f, d.Since.ChangeOf(f), d.onset(f))
		e.Line()
	}
	for _, c := range d.gone() {
		writeFinding(e, d.Report, c.Before, &c, nil)
		e.Line()
	}
	return e.Flush()
}

func diagnosisDocument(d *Diagnosis) render.Document {
	return func(e *encode.Encoder) {
		r := d.Report
		outcomes := d.outcomes()
		e.BeginObject()
		writeHead(e, "Diagnosis", &r.Cluster.Origin, r.Cluster.Gaps)
		writeRuntime(e, r.Cluster.Runtime)
		e.Entry("version", r.Cluster.Version.Text)
		e.Entry("preflight", d.Preflight)
		e.Entry("judged_at", r.Now)
		writeUnsettled(e, r)
		if d.Preflight == nil {
			writeImpact(e, r.Cluster)
		}
		e.Key("summary")
		writeTally(e, d, outcomes)
		e.Key("items")
		writeFindingList(e, d, r.Findings)
		e.Key("accepted")
		writeFindingList(e, d, r.Accepted)
		if d.Since != nil {
			writeSince(e, d)
		}
		e.NonZero("stale_baseline", d.Stale)
		e.Key("checks")
		e.BeginList()
		for i := range outcomes {
			writeOutcome(e, &outcomes[i])
		}
		e.EndList()
		e.EndObject()
	}
}

// writeRuntime writes how many processes responded. It writes nothing if the processes were not queried.
func writeRuntime(e *encode.Encoder, r *model.Runtime) {
	if r == nil {
		return
	}
	e.Key("runtime")
	e.BeginObject()
	e.Entry("kind", r.Kind)
	e.Entry("location", r.Location)
	e.Entry("from", r.From)
	e.Entry("to", r.To)
	answered := 0
	for _, n := range r.Nodes {
		if n.Outcome == model.Answered {
			answered++
		}
	}
	e.Entry("sessions", len(r.Nodes))
	e.Entry("answered", answered)
	e.EndObject()
}

// writeUnsettled writes the collections that changed while the processes were queried.
func writeUnsettled(e *encode.Encoder, r *check.Report) {
	if len(r.Unsettled) == 0 {
		return
	}
	e.Key("unsettled")
	e.BeginList()
	for _, id := range r.Unsettled {
		e.Text(id.String())
	}
	e.EndList()
}

func writeTally(e *encode.Encoder, d *Diagnosis, outcomes []outcome) {
	counts := tally(outcomes)
	blind := 0
	for _, o := range outcomes {
		if len(o.Unseen) > 0 {
			blind++
		}
	}
	e.BeginObject()
	e.Entry("error", d.Report.Count(check.Error))
	e.Entry("warning", d.Report.Count(check.Warning))
	e.Entry("info", d.Report.Count(check.Info))
	e.Entry(acceptedWord, len(d.Report.Accepted))
	e.Entry("checks_ok", counts[check.OK.String()])
	e.Entry("checks_with_findings", counts[check.Found.String()]+counts[acceptedWord])
	e.Entry("checks_skipped", counts[check.Skipped.String()])
	e.Entry("checks_failed", counts[check.Broken.String()])
	e.Entry("checks_partly_blind", blind)
	e.Entry("fails", d.Bar.Failing(d.Report, d.Since))
	e.EndObject()
}

func writeFindingList(e *encode.Encoder, d *Diagnosis, list []*check.Finding) {
	e.BeginList()
	for _, f := range list {
		writeFinding(e, d.Report, f, d.Since.ChangeOf(f), d.onset(f))
	}
	e.EndList()
}

// writeFinding writes a finding. change is nil without an older state. began is nil if the onset was not
// computed.
func writeFinding(e *encode.Encoder, r *check.Report, f *check.Finding, change *check.Change, began *why.Onset) {
	e.BeginObject()
	writeFindingEntries(e, r, f, change)
	writeOnset(e, began)
	e.EndObject()
}

func writeFindingEntries(e *encode.Encoder, r *check.Report, f *check.Finding, change *check.Change) {
	if change != nil {
		e.Entry("change", change.Kind.String())
		e.NonZero("change_reason", change.Why)
	}
	writeFindingBody(e, r, f)
	if f.Cause != "" {
		e.Key("cause")
		writeCause(e, r, f.Cause)
	}
}

func writeFindingBody(e *encode.Encoder, r *check.Report, f *check.Finding) {
	e.Entry("check", f.Check)
	e.Entry("title", titleOf(r, f.Check))
	e.Entry("severity", f.Severity.String())
	e.Entry("object", f.Object)
	e.Entry("message", f.Message)
	e.Entry("evidence", f.Evidence)
	writeFigures(e, f)
	e.Entry("impact", f.Impact)
	e.Entry("hint", f.Advice())
	writeFix(e, f)
	if f.Cost > 0 {
		e.Entry("cost", f.Cost)
	}
	writeSlows(e, r, f)
	e.Entry("objects", f.Objects)
}

// writeSlows writes the measured effect of a finding on request times. It writes nothing if the metrics do not
// show any.
func writeSlows(e *encode.Encoder, r *check.Report, f *check.Finding) {
	if len(f.Slows) == 0 {
		return
	}
	e.Key("slows")
	e.BeginList()
	for _, s := range f.Slows {
		e.BeginObject()
		if s.Collection != 0 {
			e.Entry("collection", r.Cluster.CollectionName(s.Collection))
			e.Entry("collection_id", s.Collection.String())
		}
		e.Entry("request", string(s.Request))
		e.Entry("phase", string(s.Phase))
		e.Entry("ms", s.Ms)
		e.Entry("mean_ms", s.Mean)
		e.Entry("gain_low", s.Gain.Low)
		e.Entry("gain_high", s.Gain.High)
		e.EndObject()
	}
	e.EndList()
}

// titleOf returns the title of a check in a report, or "" if the report does not have the check.
func titleOf(r *check.Report, id string) string {
	for _, x := range r.Results {
		if x.Check.ID == id {
			return x.Check.Title
		}
	}
	return ""
}

// writeCause writes the finding with the given key as the cause of another finding.
func writeCause(e *encode.Encoder, r *check.Report, key string) {
	id, _, _ := strings.Cut(key, " ")
	e.BeginObject()
	e.Entry("check", id)
	if f := findingOf(r, key); f != nil {
		e.Entry("object", f.Object)
	}
	e.EndObject()
}

// findingOf returns the finding with the given key, accepted or not, or nil for an unknown key.
func findingOf(r *check.Report, key string) *check.Finding {
	for _, list := range [][]*check.Finding{r.Findings, r.Accepted} {
		for _, f := range list {
			if f.Key() == key {
				return f
			}
		}
	}
	return nil
}

func writeSince(e *encode.Encoder, d *Diagnosis) {
	e.Key("since")
	writeOrigin(e, &d.Since.Before.Cluster.Origin)
	e.Key("no_longer")
	e.BeginList()
	for _, c := range d.gone() {
		writeFinding(e, d.Since.Before, c.Before, &c, nil)
	}
	e.EndList()
}

func writeOutcome(e *encode.Encoder, o *outcome) {
	e.BeginObject()
	e.Entry("check", o.Check.ID)
	e.Entry("title", o.Check.Title)
	e.Entry("severity", o.Check.Severity.String())
	e.Entry("status", o.word)
	e.Entry("reason", o.Reason)
	e.Entry("findings", len(o.findings))
	e.Entry(acceptedWord, o.accepted)
	e.Entry("unseen", o.Unseen)
	e.EndObject()
}

// writeFigures writes the numbers in the evidence. It writes nothing if the evidence has no numbers.
func writeFigures(e *encode.Encoder, f *check.Finding) {
	begun := false
	for _, x := range f.Evidence {
		for _, n := range x.Figures {
			if n.Unit == "" || math.IsNaN(n.Value) || math.IsInf(n.Value, 0) {
				continue
			}
			if !begun {
				begun = true
				e.Key("figures")
				e.BeginList()
			}
			e.BeginObject()
			e.Entry("name", x.Name)
			e.Key("value")
			if whole := int64(n.Value); float64(whole) == n.Value {
				e.Int(whole)
			} else {
				e.Number(n.Value)
			}
			e.Entry("unit", n.Unit)
			e.EndObject()
		}
	}
	if begun {
		e.EndList()
	}
}

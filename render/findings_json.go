package render

import (
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/model"
)

func writeFindingsJSON(w io.Writer, d *Diagnosis, o *Options) error {
	return jsonWriter.structured(w, diagnosisDocument(d), itemsOnly, o)
}

func writeFindingsYAML(w io.Writer, d *Diagnosis, o *Options) error {
	return yamlWriter.structured(w, diagnosisDocument(d), itemsOnly, o)
}

// writeFindingLines writes one finding a line, what is no longer found last.
func writeFindingLines(w io.Writer, d *Diagnosis, _ *Options) error {
	e := newJSON(w, 0)
	for _, f := range d.Report.Findings {
		writeFinding(e, d.Report, f, d.Since.Of(f))
		e.line()
	}
	for _, c := range d.gone() {
		writeFinding(e, d.Report, c.Before, &c)
		e.line()
	}
	return e.output.flush()
}

func diagnosisDocument(d *Diagnosis) document {
	return func(e encoder) {
		r := d.Report
		outcomes := d.outcomes()
		e.beginObject()
		writeHead(e, "Diagnosis", &r.Cluster.Origin, r.Cluster.Gaps)
		writeRuntime(e, r.Cluster.Runtime)
		e.key("version")
		e.text(r.Cluster.Version.Text)
		writeMoment(e, "judged_at", r.Now)
		writeUnsettled(e, r)
		e.key("summary")
		writeTally(e, d, outcomes)
		e.key("items")
		writeFindingList(e, d, r.Findings)
		e.key("accepted")
		writeFindingList(e, d, r.Accepted)
		if d.Since != nil {
			writeSince(e, d)
		}
		writeStale(e, d.Stale)
		e.key("checks")
		e.beginList()
		for i := range outcomes {
			writeOutcome(e, &outcomes[i])
		}
		e.endList()
		e.endObject()
	}
}

// writeRuntime says which processes were heard. Without it the nodes were not asked.
func writeRuntime(e encoder, r *model.Runtime) {
	if r == nil {
		return
	}
	e.key("runtime")
	e.beginObject()
	e.key("kind")
	e.text(r.Kind)
	e.key("location")
	e.text(r.Location)
	writeMoment(e, "from", r.From)
	writeMoment(e, "to", r.To)
	answered := 0
	for _, n := range r.Nodes {
		if n.Outcome == model.Answered {
			answered++
		}
	}
	e.key("sessions")
	e.integer(int64(len(r.Nodes)))
	e.key("answered")
	e.integer(int64(answered))
	e.endObject()
}

// writeUnsettled names the collections that changed while the processes were asked.
func writeUnsettled(e encoder, r *check.Report) {
	if len(r.Unsettled) == 0 {
		return
	}
	e.key("unsettled")
	e.beginList()
	for _, id := range r.Unsettled {
		e.text(id.String())
	}
	e.endList()
}

func writeMoment(e encoder, key string, t time.Time) {
	if !t.IsZero() {
		e.key(key)
		e.time(t.UnixNano())
	}
}

func writeTally(e encoder, d *Diagnosis, outcomes []outcome) {
	counts := tally(outcomes)
	blind := 0
	for _, o := range outcomes {
		if len(o.Unseen) > 0 {
			blind++
		}
	}
	e.beginObject()
	for _, n := range []struct {
		name  string
		count int
	}{
		{"error", d.Report.Count(check.Error)},
		{"warning", d.Report.Count(check.Warning)},
		{"info", d.Report.Count(check.Info)},
		{acceptedWord, len(d.Report.Accepted)},
		{"checks_ok", counts[check.OK.String()]},
		{"checks_with_findings", counts[check.Found.String()] + counts[acceptedWord]},
		{"checks_skipped", counts[check.Skipped.String()]},
		{"checks_failed", counts[check.Broken.String()]},
		{"checks_partly_blind", blind},
	} {
		e.key(n.name)
		e.integer(int64(n.count))
	}
	e.key("fails")
	e.boolean(d.Failing())
	e.endObject()
}

func writeFindingList(e encoder, d *Diagnosis, list []*check.Finding) {
	e.beginList()
	for _, f := range list {
		writeFinding(e, d.Report, f, d.Since.Of(f))
	}
	e.endList()
}

// writeFinding writes one finding; change is nil without an older state.
func writeFinding(e encoder, r *check.Report, f *check.Finding, change *check.Change) {
	writeFindingAt(e, r, f, change, time.Time{})
}

// writeFindingAt is writeFinding with the time at which the change was seen, if it is known.
func writeFindingAt(e encoder, r *check.Report, f *check.Finding, change *check.Change, at time.Time) {
	e.beginObject()
	writeMoment(e, "at", at)
	if change != nil {
		e.key("change")
		e.text(change.Kind.String())
		if change.Why != "" {
			e.key("change_reason")
			e.text(change.Why)
		}
	}
	writeFindingBody(e, r, f)
	if f.Cause != "" {
		e.key("cause")
		writeCause(e, r, f.Cause)
	}
	e.endObject()
}

func writeFindingBody(e encoder, r *check.Report, f *check.Finding) {
	e.key("check")
	e.text(f.Check)
	e.key("title")
	e.text(titleOf(r, f.Check))
	e.key("severity")
	e.text(f.Severity.String())
	e.key("object")
	writeRef(e, f.Object)
	e.key("message")
	e.text(f.Message)
	e.key("evidence")
	e.beginList()
	for _, x := range f.Evidence {
		e.beginObject()
		e.key("name")
		e.text(x.Name)
		e.key("value")
		e.text(x.Value)
		e.key("source")
		e.text(x.Source)
		e.endObject()
	}
	e.endList()
	writeFigures(e, f)
	e.key("impact")
	e.text(f.Impact)
	e.key("hint")
	e.text(string(f.Hint))
	if f.Cost > 0 {
		e.key("cost")
		e.number(f.Cost)
	}
	e.key("objects")
	e.beginList()
	for _, r := range f.Objects {
		writeRef(e, r)
	}
	e.endList()
}

// titleOf is the title of a check of a report.
func titleOf(r *check.Report, id string) string {
	for _, x := range r.Results {
		if x.Check.ID == id {
			return x.Check.Title
		}
	}
	return ""
}

// writeCause names the finding that another follows from.
func writeCause(e encoder, r *check.Report, key string) {
	id, _, _ := strings.Cut(key, " ")
	e.beginObject()
	e.key("check")
	e.text(id)
	if f := findingOf(r, key); f != nil {
		e.key("object")
		writeRef(e, f.Object)
	}
	e.endObject()
}

// findingOf is the finding of a key, accepted or not; nil if there is none.
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

func writeRef(e encoder, r model.Ref) {
	e.beginObject()
	for _, s := range []struct{ name, value string }{{"resource", r.Resource}, {"id", r.ID}, {"name", r.Name}} {
		e.key(s.name)
		e.text(s.value)
	}
	e.endObject()
}

func writeSince(e encoder, d *Diagnosis) {
	e.key("since")
	writeOrigin(e, &d.Since.Before.Cluster.Origin)
	e.key("no_longer")
	e.beginList()
	for _, c := range d.gone() {
		writeFinding(e, d.Since.Before, c.Before, &c)
	}
	e.endList()
}

func writeStale(e encoder, list []check.Stale) {
	if len(list) == 0 {
		return
	}
	e.key("stale_baseline")
	e.beginList()
	for _, s := range list {
		e.beginObject()
		for _, x := range []struct{ name, value string }{
			{"check", s.Check}, {"object", s.Object}, {"until", s.Until}, {"note", s.Note}, {"reason", s.Reason},
		} {
			e.key(x.name)
			e.text(x.value)
		}
		e.endObject()
	}
	e.endList()
}

func writeOutcome(e encoder, o *outcome) {
	e.beginObject()
	for _, s := range []struct{ name, value string }{
		{"check", o.Check.ID}, {"title", o.Check.Title}, {"severity", o.Check.Severity.String()}, {"status", o.word}, {"reason", o.Reason},
	} {
		e.key(s.name)
		e.text(s.value)
	}
	e.key("findings")
	e.integer(int64(len(o.findings)))
	e.key(acceptedWord)
	e.integer(int64(o.accepted))
	e.key("unseen")
	e.texts(o.Unseen)
	e.endObject()
}

// writeFigures writes what of the evidence is a number; nothing if none is.
func writeFigures(e encoder, f *check.Finding) {
	known := func(x check.Evidence) bool {
		return x.Figure.Unit != "" && !math.IsNaN(x.Figure.Value) && !math.IsInf(x.Figure.Value, 0)
	}
	if !slices.ContainsFunc(f.Evidence, known) {
		return
	}
	e.key("figures")
	e.beginList()
	for _, x := range f.Evidence {
		if !known(x) {
			continue
		}
		e.beginObject()
		e.key("name")
		e.text(x.Name)
		e.key("value")
		if whole := int64(x.Figure.Value); float64(whole) == x.Figure.Value {
			e.integer(whole)
		} else {
			e.number(x.Figure.Value)
		}
		e.key("unit")
		e.text(x.Figure.Unit)
		e.endObject()
	}
	e.endList()
}

package render

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"strings"

	"kitescope/doc"
	"kitescope/inspect/check"
	"kitescope/inspect/model"
)

// SARIF 2.1.0 (OASIS, "Static Analysis Results Interchange Format"): section 3 names the
// properties. A cluster has no files: objects are logical locations.
const (
	sarifVersion = "2.1.0"
	sarifSchema  = "https://json.schemastore.org/sarif-2.1.0.json"
)

func writeSARIF(w io.Writer, d *Diagnosis, o *Options) error {
	return jsonWriter.structured(w, sarifDocument(d), everything, o)
}

func sarifDocument(d *Diagnosis) document {
	return func(e *doc.Encoder) {
		e.BeginObject()
		e.Entry("$schema", sarifSchema)
		e.Entry("version", sarifVersion)
		e.Key("runs")
		e.BeginList()
		sarifRun(e, d)
		e.EndList()
		e.EndObject()
	}
}

func sarifRun(e *doc.Encoder, d *Diagnosis) {
	rules := make(map[string]int)
	where, state := d.headline()
	e.BeginObject()
	e.Key("tool")
	e.BeginObject()
	e.Key("driver")
	e.BeginObject()
	e.Entry("name", "kitescope")
	e.NonZero("version", d.Version)
	e.Key("rules")
	e.BeginList()
	for i, x := range d.Report.Results {
		rules[x.Check.ID] = i
		sarifRule(e, x.Check)
	}
	e.EndList()
	e.EndObject()
	e.EndObject()
	sarifInvocation(e, d)
	e.Key("results")
	e.BeginList()
	for _, f := range d.Report.Findings {
		sarifResult(e, d, f, rules, false)
	}
	for _, f := range d.Report.Accepted {
		sarifResult(e, d, f, rules, true)
	}
	for _, c := range d.gone() {
		if c.Kind == check.Gone {
			sarifAbsent(e, d.Since.Before.Cluster, c.Before, rules)
		}
	}
	e.EndList()
	e.Key("properties")
	e.BeginObject()
	e.Entry("cluster", where)
	e.Entry("state", state)
	e.EndObject()
	e.EndObject()
}

// sarifLevel is a severity in SARIF's words (3.27.10).
func sarifLevel(s check.Severity) string {
	if s == check.Info {
		return "note"
	}
	return s.String()
}

func sarifText(e *doc.Encoder, key, text string) {
	e.Key(key)
	e.BeginObject()
	e.Entry("text", text)
	e.EndObject()
}

func sarifRule(e *doc.Encoder, x *check.Check) {
	e.BeginObject()
	e.Entry("id", x.ID)
	sarifText(e, "shortDescription", x.Title+".")
	for _, m := range []struct{ key, text string }{{"fullDescription", x.Doc}, {"help", x.Remedy}} {
		e.Key(m.key)
		e.BeginObject()
		e.Entry("text", m.text)
		e.Entry("markdown", m.text)
		e.EndObject()
	}
	e.Key("defaultConfiguration")
	e.BeginObject()
	e.Entry("level", sarifLevel(x.Severity))
	e.EndObject()
	e.EndObject()
}

// sarifInvocation says when, and which checks could not look: a run in which one broke was
// not successful.
func sarifInvocation(e *doc.Encoder, d *Diagnosis) {
	outcomes := d.outcomes()
	e.Key("invocations")
	e.BeginList()
	e.BeginObject()
	e.Entry("executionSuccessful", tally(outcomes)[check.Broken.String()] == 0)
	e.Entry("endTimeUtc", d.Report.Now)
	e.Key("toolExecutionNotifications")
	e.BeginList()
	for _, o := range outcomes {
		switch {
		case o.Status == check.Broken:
			sarifNotification(e, o.Check, "error", "the check failed: "+o.Reason)
		case o.Status == check.Skipped:
			sarifNotification(e, o.Check, "warning", "the check was skipped: "+o.Reason)
		case len(o.Unseen) > 0:
			sarifNotification(e, o.Check, "warning", "the check did not see everything: "+strings.Join(harmlessAll(o.Unseen), "; "))
		}
	}
	e.EndList()
	e.EndObject()
	e.EndList()
}

func sarifNotification(e *doc.Encoder, x *check.Check, level, text string) {
	e.BeginObject()
	e.Entry("level", level)
	sarifText(e, "message", text)
	e.Key("associatedRule")
	e.BeginObject()
	e.Entry("id", x.ID)
	e.EndObject()
	e.EndObject()
}

func sarifResult(e *doc.Encoder, d *Diagnosis, f *check.Finding, rules map[string]int, accepted bool) {
	e.BeginObject()
	sarifHead(e, d.Report.Cluster, f, rules)
	if c := d.Since.Of(f); c != nil {
		e.Key("baselineState") // 3.27.24
		switch c.Kind {
		case check.Same:
			e.Text("unchanged")
		case check.Worse, check.Better:
			e.Text("updated")
		default:
			e.Text("new")
		}
	}
	if accepted {
		e.Key("suppressions")
		e.BeginList()
		e.BeginObject()
		e.Entry("kind", "external")
		e.EndObject()
		e.EndList()
	}
	if len(f.Objects) > 0 {
		e.Key("relatedLocations")
		e.BeginList()
		for _, r := range f.Objects {
			sarifLocation(e, r)
		}
		e.EndList()
	}
	e.Key("properties")
	e.BeginObject()
	e.NonZero("impact", f.Impact)
	e.NonZero("hint", string(f.Hint))
	e.NonZero("cause", f.Cause)
	if f.Cost > 0 {
		e.Entry("cost", f.Cost)
	}
	e.Key("evidence")
	e.BeginList()
	for i := range f.Evidence {
		e.Text(EvidenceText(&f.Evidence[i]))
	}
	e.EndList()
	e.EndObject()
	e.EndObject()
}

// sarifAbsent is a finding of the older state that is gone.
func sarifAbsent(e *doc.Encoder, cluster *model.Cluster, f *check.Finding, rules map[string]int) {
	e.BeginObject()
	sarifHead(e, cluster, f, rules)
	e.Entry("baselineState", "absent")
	e.EndObject()
}

// sarifHead is what identifies a result. Its fingerprint stays over restarts, as a baseline does.
func sarifHead(e *doc.Encoder, cluster *model.Cluster, f *check.Finding, rules map[string]int) {
	e.Entry("ruleId", f.Check)
	if i, ok := rules[f.Check]; ok {
		e.Entry("ruleIndex", i)
	}
	e.Entry("level", sarifLevel(f.Severity))
	sarifText(e, "message", Harmless(f.Message))
	e.Key("locations")
	e.BeginList()
	sarifLocation(e, f.Object)
	e.EndList()
	e.Key("partialFingerprints")
	e.BeginObject()
	e.Key("kitescopeFinding/v1")
	sum := sha256.Sum256([]byte(f.Check + " " + check.ObjectKey(cluster, f.Object)))
	e.Text(hex.EncodeToString(sum[:16]))
	e.EndObject()
}

func sarifLocation(e *doc.Encoder, r model.Ref) {
	e.BeginObject()
	e.Key("logicalLocations")
	e.BeginList()
	e.BeginObject()
	e.Entry("name", Harmless(refTitle(r)))
	e.Entry("fullyQualifiedName", Harmless(refPath(r)))
	e.Entry("kind", "resource")
	e.EndObject()
	e.EndList()
	e.EndObject()
}

// refTitle is what people call an object, refPath what identifies it.
func refTitle(r model.Ref) string {
	switch {
	case r.Resource == "":
		return "cluster"
	case r.Name != "":
		return r.Name
	}
	return r.ID
}

func refPath(r model.Ref) string {
	if r.Resource == "" {
		return "cluster"
	}
	return r.Resource + "/" + r.ID
}

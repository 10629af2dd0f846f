package render

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"strings"

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
	return func(e encoder) {
		e.beginObject()
		e.key("$schema")
		e.text(sarifSchema)
		e.key("version")
		e.text(sarifVersion)
		e.key("runs")
		e.beginList()
		sarifRun(e, d)
		e.endList()
		e.endObject()
	}
}

func sarifRun(e encoder, d *Diagnosis) {
	rules := make(map[string]int)
	where, state := d.headline()
	e.beginObject()
	e.key("tool")
	e.beginObject()
	e.key("driver")
	e.beginObject()
	e.key("name")
	e.text("kitescope")
	if d.Version != "" {
		e.key("version")
		e.text(d.Version)
	}
	e.key("rules")
	e.beginList()
	for i, x := range d.Report.Results {
		rules[x.Check.ID] = i
		sarifRule(e, x.Check)
	}
	e.endList()
	e.endObject()
	e.endObject()
	sarifInvocation(e, d)
	e.key("results")
	e.beginList()
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
	e.endList()
	e.key("properties")
	e.beginObject()
	e.key("cluster")
	e.text(where)
	e.key("state")
	e.text(state)
	e.endObject()
	e.endObject()
}

// sarifLevel is a severity in SARIF's words (3.27.10).
func sarifLevel(s check.Severity) string {
	if s == check.Info {
		return "note"
	}
	return s.String()
}

func sarifText(e encoder, key, text string) {
	e.key(key)
	e.beginObject()
	e.key("text")
	e.text(text)
	e.endObject()
}

func sarifRule(e encoder, x *check.Check) {
	e.beginObject()
	e.key("id")
	e.text(x.ID)
	sarifText(e, "shortDescription", x.Title+".")
	for _, m := range []struct{ key, text string }{{"fullDescription", x.Doc}, {"help", x.Remedy}} {
		e.key(m.key)
		e.beginObject()
		e.key("text")
		e.text(m.text)
		e.key("markdown")
		e.text(m.text)
		e.endObject()
	}
	e.key("defaultConfiguration")
	e.beginObject()
	e.key("level")
	e.text(sarifLevel(x.Severity))
	e.endObject()
	e.endObject()
}

// sarifInvocation says when, and which checks could not look: a run in which one broke was
// not successful.
func sarifInvocation(e encoder, d *Diagnosis) {
	outcomes := d.outcomes()
	e.key("invocations")
	e.beginList()
	e.beginObject()
	e.key("executionSuccessful")
	e.boolean(tally(outcomes)[check.Broken.String()] == 0)
	if !d.Report.Now.IsZero() {
		e.key("endTimeUtc")
		e.time(d.Report.Now.UnixNano())
	}
	e.key("toolExecutionNotifications")
	e.beginList()
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
	e.endList()
	e.endObject()
	e.endList()
}

func sarifNotification(e encoder, x *check.Check, level, text string) {
	e.beginObject()
	e.key("level")
	e.text(level)
	sarifText(e, "message", text)
	e.key("associatedRule")
	e.beginObject()
	e.key("id")
	e.text(x.ID)
	e.endObject()
	e.endObject()
}

func sarifResult(e encoder, d *Diagnosis, f *check.Finding, rules map[string]int, accepted bool) {
	e.beginObject()
	sarifHead(e, d.Report.Cluster, f, rules)
	if c := d.Since.Of(f); c != nil {
		e.key("baselineState") // 3.27.24
		switch c.Kind {
		case check.Same:
			e.text("unchanged")
		case check.Worse, check.Better:
			e.text("updated")
		default:
			e.text("new")
		}
	}
	if accepted {
		e.key("suppressions")
		e.beginList()
		e.beginObject()
		e.key("kind")
		e.text("external")
		e.endObject()
		e.endList()
	}
	if len(f.Objects) > 0 {
		e.key("relatedLocations")
		e.beginList()
		for _, r := range f.Objects {
			sarifLocation(e, r)
		}
		e.endList()
	}
	e.key("properties")
	e.beginObject()
	for _, s := range []struct{ name, value string }{{"impact", f.Impact}, {"hint", string(f.Hint)}, {"cause", f.Cause}} {
		if s.value != "" {
			e.key(s.name)
			e.text(s.value)
		}
	}
	if f.Cost > 0 {
		e.key("cost")
		e.number(f.Cost)
	}
	e.key("evidence")
	e.beginList()
	for i := range f.Evidence {
		e.text(EvidenceText(&f.Evidence[i]))
	}
	e.endList()
	e.endObject()
	e.endObject()
}

// sarifAbsent is a finding of the older state that is gone.
func sarifAbsent(e encoder, cluster *model.Cluster, f *check.Finding, rules map[string]int) {
	e.beginObject()
	sarifHead(e, cluster, f, rules)
	e.key("baselineState")
	e.text("absent")
	e.endObject()
}

// sarifHead is what identifies a result. Its fingerprint stays over restarts, as a baseline does.
func sarifHead(e encoder, cluster *model.Cluster, f *check.Finding, rules map[string]int) {
	e.key("ruleId")
	e.text(f.Check)
	if i, ok := rules[f.Check]; ok {
		e.key("ruleIndex")
		e.integer(int64(i))
	}
	e.key("level")
	e.text(sarifLevel(f.Severity))
	sarifText(e, "message", Harmless(f.Message))
	e.key("locations")
	e.beginList()
	sarifLocation(e, f.Object)
	e.endList()
	e.key("partialFingerprints")
	e.beginObject()
	e.key("kitescopeFinding/v1")
	sum := sha256.Sum256([]byte(f.Check + " " + check.ObjectKey(cluster, f.Object)))
	e.text(hex.EncodeToString(sum[:16]))
	e.endObject()
}

func sarifLocation(e encoder, r model.Ref) {
	e.beginObject()
	e.key("logicalLocations")
	e.beginList()
	e.beginObject()
	e.key("name")
	e.text(Harmless(refTitle(r)))
	e.key("fullyQualifiedName")
	e.text(Harmless(refPath(r)))
	e.key("kind")
	e.text("resource")
	e.endObject()
	e.endList()
	e.endObject()
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

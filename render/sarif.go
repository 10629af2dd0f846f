package render

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"strings"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/model"
	"kitescope/internal/encode"
	"kitescope/internal/table"
)

// SARIF 2.1.0 (OASIS, "Static Analysis Results Interchange Format"): section 3 names the
// properties. A cluster has no files: objects are logical locations.
const (
	sarifVersion = "2.1.0"
	sarifSchema  = "https://json.schemastore.org/sarif-2.1.0.json"
)

// A log of one run, as far as it is used here.
type (
	sarifLog struct {
		Schema  string `doc:"$schema"`
		Version string
		Runs    []sarifRun
	}
	sarifRun struct {
		Tool struct {
			Driver struct {
				Name    string
				Version string `doc:",omitzero"`
				Rules   []sarifRule
			}
		}
		Invocations []sarifInvocation
		Results     []sarifResult
		Properties  struct{ Cluster, State string }
	}
	sarifRule struct {
		ID                   string
		ShortDescription     sarifText     `doc:"shortDescription"`
		FullDescription      sarifMarkdown `doc:"fullDescription"`
		Help                 sarifMarkdown
		DefaultConfiguration struct{ Level string } `doc:"defaultConfiguration"`
	}
	sarifText       struct{ Text string }
	sarifMarkdown   struct{ Text, Markdown string }
	sarifInvocation struct {
		ExecutionSuccessful bool                `doc:"executionSuccessful"`
		EndTimeUTC          time.Time           `doc:"endTimeUtc"`
		Notifications       []sarifNotification `doc:"toolExecutionNotifications"`
	}
	sarifNotification struct {
		Level          string
		Message        sarifText
		AssociatedRule struct{ ID string } `doc:"associatedRule"`
	}
	sarifResult struct {
		RuleID              string `doc:"ruleId"`
		RuleIndex           *int   `doc:"ruleIndex"`
		Level               string
		Message             sarifText
		Locations           []sarifLocation
		PartialFingerprints struct {
			Finding string `doc:"kitescopeFinding/v1"`
		} `doc:"partialFingerprints"`
		BaselineState    string             `doc:"baselineState,omitzero"`
		Suppressions     []sarifSuppression `doc:",omitzero"`
		RelatedLocations []sarifLocation    `doc:"relatedLocations,omitzero"`
		Properties       *sarifProperties
	}
	sarifSuppression struct{ Kind string }
	sarifLocation    struct {
		Logical [1]sarifLogicalLocation `doc:"logicalLocations"`
	}
	sarifLogicalLocation struct {
		Name string
		Path string `doc:"fullyQualifiedName"`
		Kind string
	}
	sarifProperties struct {
		Impact, Hint, Cause string  `doc:",omitzero"`
		Cost                float64 `doc:",omitzero"`
		Evidence            []sarifEvidence
	}
	sarifEvidence string // a line each
)

var sarifWriter = &writer{name: "sarif", doc: "SARIF 2.1.0, for code scanning and editors", show: table.Hidden}

func writeSARIF(w io.Writer, d *Diagnosis, o *Options) error {
	return jsonWriter.structured(w, func(e *encode.Encoder) { e.Value(sarifLog{sarifSchema, sarifVersion, []sarifRun{newSARIFRun(d)}}) }, Everything, o)
}

func newSARIFRun(d *Diagnosis) sarifRun {
	var run sarifRun
	rules := make(map[string]int)
	driver := &run.Tool.Driver
	driver.Name, driver.Version = "kitescope", d.Version
	for i, x := range d.Report.Results {
		rules[x.Check.ID] = i
		rule := sarifRule{
			ID: x.Check.ID, ShortDescription: sarifText{x.Check.Title + "."},
			FullDescription: sarifMarkdown{x.Check.Doc, x.Check.Doc}, Help: sarifMarkdown{x.Check.Remedy, x.Check.Remedy},
		}
		rule.DefaultConfiguration.Level = sarifLevel(x.Check.Severity)
		driver.Rules = append(driver.Rules, rule)
	}
	run.Invocations = []sarifInvocation{newSARIFInvocation(d)}
	for _, f := range d.Report.Findings {
		run.Results = append(run.Results, newSARIFFinding(d, f, rules))
	}
	for _, f := range d.Report.Accepted {
		result := newSARIFFinding(d, f, rules)
		result.Suppressions = []sarifSuppression{{"external"}}
		run.Results = append(run.Results, result)
	}
	for _, c := range d.gone() {
		if c.Kind == check.Gone {
			result := newSARIFResult(d.Since.Before.Cluster, c.Before, rules)
			result.BaselineState = "absent"
			run.Results = append(run.Results, result)
		}
	}
	run.Properties.Cluster, run.Properties.State = d.headline()
	return run
}

// sarifLevel is a severity in SARIF's words (3.27.10).
func sarifLevel(s check.Severity) string {
	if s == check.Info {
		return "note"
	}
	return s.String()
}

// newSARIFInvocation says when, and which checks could not look: a run in which one broke was
// not successful.
func newSARIFInvocation(d *Diagnosis) sarifInvocation {
	outcomes := d.outcomes()
	run := sarifInvocation{ExecutionSuccessful: tally(outcomes)[check.Broken.String()] == 0, EndTimeUTC: d.Report.Now}
	notify := func(o *outcome, level, text string) {
		n := sarifNotification{Level: level, Message: sarifText{text}}
		n.AssociatedRule.ID = o.Check.ID
		run.Notifications = append(run.Notifications, n)
	}
	for i := range outcomes {
		switch o := &outcomes[i]; {
		case o.Status == check.Broken:
			notify(o, "error", "the check failed: "+o.Reason)
		case o.Status == check.Skipped:
			notify(o, "warning", "the check was skipped: "+o.Reason)
		case len(o.Unseen) > 0:
			notify(o, "warning", "the check did not see everything: "+strings.Join(HarmlessAll(o.Unseen), "; "))
		}
	}
	return run
}

// newSARIFFinding is a finding of the report.
func newSARIFFinding(d *Diagnosis, f *check.Finding, rules map[string]int) sarifResult {
	result := newSARIFResult(d.Report.Cluster, f, rules)
	if c := d.Since.Of(f); c != nil {
		switch c.Kind { // 3.27.24
		case check.Same:
			result.BaselineState = "unchanged"
		case check.Worse, check.Better:
			result.BaselineState = "updated"
		default:
			result.BaselineState = "new"
		}
	}
	for _, r := range f.Objects {
		result.RelatedLocations = append(result.RelatedLocations, newSARIFLocation(r))
	}
	result.Properties = &sarifProperties{Impact: f.Impact, Hint: f.Advice(), Cause: f.Cause, Cost: max(f.Cost, 0)}
	for i := range f.Evidence {
		result.Properties.Evidence = append(result.Properties.Evidence, sarifEvidence(EvidenceText(&f.Evidence[i])))
	}
	return result
}

// newSARIFResult is what identifies a result. Its fingerprint stays over restarts, as a baseline does.
func newSARIFResult(cluster *model.Cluster, f *check.Finding, rules map[string]int) sarifResult {
	result := sarifResult{
		RuleID: f.Check, Level: sarifLevel(f.Severity), Message: sarifText{Harmless(f.Message)}, Locations: []sarifLocation{newSARIFLocation(f.Object)},
	}
	if i, ok := rules[f.Check]; ok {
		result.RuleIndex = &i
	}
	sum := sha256.Sum256([]byte(f.Check + " " + check.ObjectKey(cluster, f.Object)))
	result.PartialFingerprints.Finding = hex.EncodeToString(sum[:16])
	return result
}

func newSARIFLocation(r model.Ref) sarifLocation {
	return sarifLocation{[1]sarifLogicalLocation{{Harmless(refTitle(r)), Harmless(refPath(r)), "resource"}}}
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

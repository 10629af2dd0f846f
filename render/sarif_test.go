package render

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"
	"time"
)

// The parts of SARIF 2.1.0 that are written; reading is strict, so that a misspelt property
// fails. Numbers are the sections of the specification.
type (
	sarifFile struct { // 3.13
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifOne `json:"runs"`
	}
	sarifOne struct { // 3.14
		Tool struct { // 3.18
			Driver struct { // 3.19
				Name    string        `json:"name"`
				Version string        `json:"version"`
				Rules   []sarifRule49 `json:"rules"`
			} `json:"driver"`
		} `json:"tool"`
		Invocations []struct { // 3.20
			Successful    *bool  `json:"executionSuccessful"`
			End           string `json:"endTimeUtc"`
			Notifications []struct {
				Level          string       `json:"level"`
				Message        sarifMessage `json:"message"`
				AssociatedRule struct {
					ID string `json:"id"`
				} `json:"associatedRule"`
			} `json:"toolExecutionNotifications"`
		} `json:"invocations"`
		Results    []sarifFound      `json:"results"`
		Properties map[string]string `json:"properties"`
	}
	sarifRule49 struct { // 3.49
		ID      string       `json:"id"`
		Short   sarifMessage `json:"shortDescription"`
		Full    sarifMessage `json:"fullDescription"`
		Help    sarifMessage `json:"help"`
		Default struct {
			Level string `json:"level"`
		} `json:"defaultConfiguration"`
	}
	sarifMessage struct { // 3.11, 3.12
		Text     string `json:"text"`
		Markdown string `json:"markdown"`
	}
	sarifFound struct { // 3.27
		RuleID       string            `json:"ruleId"`
		RuleIndex    *int              `json:"ruleIndex"`
		Level        string            `json:"level"`
		Message      sarifMessage      `json:"message"`
		Locations    []sarifPlace      `json:"locations"`
		Related      []sarifPlace      `json:"relatedLocations"`
		Fingerprints map[string]string `json:"partialFingerprints"`
		Baseline     string            `json:"baselineState"`
		Suppressions []struct {
			Kind string `json:"kind"`
		} `json:"suppressions"`
		Properties map[string]any `json:"properties"`
	}
	sarifPlace struct { // 3.28
		Logical []struct { // 3.33
			Name, FullyQualifiedName, Kind string
		} `json:"logicalLocations"`
	}
)

func TestSARIF(t *testing.T) {
	levels := []string{"none", "note", "warning", "error"}
	for name, d := range diagnoses(t) {
		t.Run(name, func(t *testing.T) {
			dec := json.NewDecoder(bytes.NewReader(written(t, d, "sarif", Options{})))
			dec.DisallowUnknownFields()
			var file sarifFile
			if err := dec.Decode(&file); err != nil {
				t.Fatal(err)
			}
			if file.Version != "2.1.0" || file.Schema == "" || len(file.Runs) != 1 || file.Runs[0].Tool.Driver.Name != "kitescope" {
				t.Fatalf("it is no SARIF 2.1.0 with one run of kitescope: %+v", file)
			}
			run := file.Runs[0]
			rules := run.Tool.Driver.Rules
			if len(rules) != len(d.Report.Results) {
				t.Errorf("%d rules for %d checks", len(rules), len(d.Report.Results))
			}
			for _, r := range rules {
				if r.ID == "" || r.Short.Text == "" || r.Full.Text == "" || r.Help.Text == "" || !slices.Contains(levels, r.Default.Level) {
					t.Errorf("a rule lacks something: %+v", r)
				}
			}
			if len(run.Invocations) != 1 || run.Invocations[0].Successful == nil {
				t.Fatal("it does not say whether the run was successful")
			}
			if _, err := time.Parse(time.RFC3339, run.Invocations[0].End); err != nil {
				t.Error(err)
			}
			for _, n := range run.Invocations[0].Notifications {
				if n.Message.Text == "" || n.AssociatedRule.ID == "" || !slices.Contains(levels, n.Level) {
					t.Errorf("a notification lacks something: %+v", n)
				}
			}
			checkResults(t, d, run.Results, rules)
		})
	}
}

func checkResults(t *testing.T, d *Diagnosis, results []sarifFound, rules []sarifRule49) {
	t.Helper()
	states := map[string]int{}
	suppressed := 0
	prints := map[string]bool{}
	for _, r := range results {
		states[r.Baseline]++
		suppressed += len(r.Suppressions)
		if r.Message.Text == "" || !slices.Contains([]string{"note", "warning", "error"}, r.Level) || len(r.Locations) != 1 {
			t.Errorf("a result lacks something: %+v", r)
		}
		if r.RuleIndex == nil || rules[*r.RuleIndex].ID != r.RuleID {
			t.Errorf("the result of %s points at another rule", r.RuleID)
		}
		for _, place := range slices.Concat(r.Locations, r.Related) {
			if len(place.Logical) != 1 || place.Logical[0].Name == "" || place.Logical[0].FullyQualifiedName == "" || place.Logical[0].Kind != "resource" {
				t.Errorf("a place of %s is nowhere: %+v", r.RuleID, place)
			}
		}
		for _, print := range r.Fingerprints {
			if prints[print] {
				t.Errorf("two results have the fingerprint %s", print)
			}
			prints[print] = true
		}
	}
	if suppressed != len(d.Report.Accepted) {
		t.Errorf("%d are suppressed, %d accepted", suppressed, len(d.Report.Accepted))
	}
	for state := range states {
		known := []string{""}
		if d.Since != nil {
			known = []string{"new", "unchanged", "updated", "absent"} // 3.27.24
		}
		if !slices.Contains(known, state) {
			t.Errorf("there is no baseline state %q", state)
		}
	}
}

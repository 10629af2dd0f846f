package tui

import (
	"strings"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/internal/words"
	"kitescope/render/clusters"
	"kitescope/tui/draw"
)

// findingText returns a finding as text for the clipboard.
func findingText(f *check.Finding) string {
	lines := []string{
		f.Severity.String() + ": " + words.Sanitize(f.Message), f.Check + "  " + clusters.ObjectText(f.Object),
	}
	for _, text := range costLines(f) {
		lines = append(lines, "cost: "+text)
	}
	if f.Impact != "" {
		lines = append(lines, "impact: "+words.Sanitize(f.Impact))
	}
	for _, s := range f.Steps() {
		for _, line := range clusters.CommandLines(s) {
			lines = append(lines, line.Prompt+line.Text)
		}
		if text := clusters.StepText(s); text != "" {
			lines = append(lines, text)
		}
	}
	for i := range f.Evidence {
		lines = append(lines, "- "+clusters.EvidenceText(&f.Evidence[i]))
	}
	return strings.Join(lines, "\n")
}

// copyFix copies the command of a step, and reports whether it changes the cluster.
func copyFix(m *Model, s check.Step) Cmd {
	text, what := withClusterFlags(m, string(s.Command)), "fix"
	if s.Changes {
		what += ", " + check.ChangesCluster
	}
	return m.Copy(text, what+": "+draw.Cut(words.OneLine(text), 60))
}

// skippedFacts returns the reasons why checks could not run, one line for each, with the names of the checks as
// second text. Checks that need the processes, if these were not queried, are one line with a hint.
func skippedFacts(r *check.Report) []Fact {
	var list []Fact
	var asking []string
	all := " of " + words.Plural(len(r.Results), "check")
	for _, u := range r.NotRun() {
		ids := check.IDs(u.Checks)
		if r.Cluster.Runtime == nil && u.Status == check.Skipped && strings.Contains(u.Reason, facts.NotAsked) {
			asking = append(asking, ids...)
			continue
		}
		list = append(list, Fact{
			words.Sanitize(u.Reason) + " · " + words.Number(len(ids)) + all + " could not run", strings.Join(ids, ", "),
		})
	}
	if n := len(asking); n > 0 {
		text := words.Number(n) + all + " " + words.Agree(n, "needs", "need") +
			" the nodes: open live, or a bundle saved with --live"
		list = append([]Fact{{text, strings.Join(asking, ", ")}}, list...)
	}
	for _, x := range r.Results {
		if x.Status == check.Found && len(x.Unseen) > 0 {
			list = append(list, Fact{
				x.Check.ID + ": checked on partial data", words.Sanitize(strings.Join(x.Unseen, "; ")),
			})
		}
	}
	return list
}

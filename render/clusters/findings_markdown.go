package clusters

import (
	"io"
	"strconv"
	"strings"

	"kitescope/inspect/check"
	"kitescope/internal/encode"
	"kitescope/internal/words"
	"kitescope/render"
)

// writeMarkdown writes for tickets and wikis: CommonMark, and no table, which not all of
// them have.
func writeMarkdown(w io.Writer, d *Diagnosis, _ *render.Options) error {
	m := &render.Markdown{Out: encode.NewOutput(w, encode.Pieces)}
	where, state := d.headline()
	outcomes := d.outcomes()
	m.Line("# " + d.title() + " of " + render.MarkdownText(where))
	m.Line("", render.MarkdownText(state), "", "**"+render.MarkdownText(CountText(d.Report.Findings))+"**; "+render.MarkdownText(checksText(d, outcomes))+".")
	if d.Since != nil {
		m.Line("", render.MarkdownText(d.sinceText())+".")
	}
	MarkdownFindings(m, d, 2)
	markdownRest(m, d, outcomes)
	return m.Out.Flush()
}

// MarkdownFindings writes the findings, with headings of a level and those below it, and those that are gone since an older state.
func MarkdownFindings(m *render.Markdown, d *Diagnosis, level int) {
	for _, b := range check.Tree(d.Report.Findings) {
		markdownFinding(m, d, &b, level)
	}
	if list := d.gone(); len(list) > 0 {
		m.Line("", strings.Repeat("#", level)+" No longer found", "")
		for _, c := range list {
			text := render.MarkdownText(c.Before.Message) + " (`" + c.Before.Check + "`)"
			if c.Kind == check.Lost {
				text += ": cannot be seen now, " + render.MarkdownText(c.Why)
			}
			m.Line("- " + text)
		}
	}
}

// MarkdownRest writes what the checks could not look at, and which findings are accepted.
func MarkdownRest(m *render.Markdown, d *Diagnosis) { markdownRest(m, d, d.outcomes()) }

// MarkdownFix writes what to do about a finding, nothing where that is not known: commands as they are copied, and what they do.
func MarkdownFix(m *render.Markdown, f *check.Finding) {
	if f == nil || len(f.Steps()) == 0 {
		return
	}
	m.Line("", "**Fix.**")
	for _, s := range f.Steps() {
		if lines := stepCommand(s); len(lines) > 0 {
			m.Fence(strings.Join(lines, "\n"), map[string]string{"shell": "sh", "python": "python"}[languageOf(s)])
		}
		if s.Text != "" {
			m.Line("", render.MarkdownText(sentence(string(s.Text))))
		}
	}
}

// markdownFinding is a section; what follows from it are sections below it.
func markdownFinding(m *render.Markdown, d *Diagnosis, b *check.Branch, level int) {
	const deepest = 6
	title := strings.Repeat("#", min(level+b.Depth, deepest)) + " " + b.Severity.String()
	if change := d.changeText(b.Finding); change != "" {
		title += " (" + change + ")"
	}
	m.Line("", title+": "+render.MarkdownText(b.Message), "")
	m.Line("- check: `" + b.Check + "`")
	m.Line("- object: " + render.MarkdownText(ObjectText(b.Object)))
	if cost := CostText(b.Finding); cost != "" {
		m.Line("- costs: " + render.MarkdownText(cost))
	}
	if f := findingOf(d.Report, b.Cause); f != nil {
		m.Line("- follows from: " + render.MarkdownText(f.Message))
	}
	for _, line := range d.onsetLines(b.Finding) {
		m.Line("- " + line.label + ": " + render.MarkdownText(line.text))
	}
	if b.Impact != "" {
		m.Line("", "**Impact.** "+render.MarkdownText(b.Impact))
	}
	MarkdownFix(m, b.Finding)
	if len(b.Evidence) > 0 {
		m.Line("", "Evidence:", "")
	}
	for i := range b.Evidence {
		m.Line("- " + render.MarkdownText(EvidenceText(&b.Evidence[i])))
	}
	if len(b.Objects) > 0 {
		m.Line("", "Objects:", "")
	}
	for _, r := range b.Objects {
		m.Line("- " + render.MarkdownText(ObjectText(r)))
	}
}

// markdownRest says what could not be looked at, and which findings are accepted.
func markdownRest(m *render.Markdown, d *Diagnosis, outcomes []outcome) {
	counts := tally(outcomes)
	if counts[check.Skipped.String()]+counts[check.Broken.String()] > 0 {
		m.Line("", "## Not looked at", "")
	}
	for _, u := range d.Report.Unlooked() {
		m.Line("- " + u.Status.String() + ", " + render.MarkdownText(u.Reason) + ": `" + strings.Join(check.IDs(u.Checks), "`, `") + "`")
	}
	if len(d.Report.Accepted) > 0 {
		m.Line("", "## Accepted", "")
	}
	for _, f := range d.Report.Accepted {
		m.Line("- " + render.MarkdownText(f.Message) + " (`" + f.Check + "`)")
	}
	if len(d.Stale) > 0 {
		m.Line("", "## Entries of the baseline that accept nothing", "")
	}
	for _, s := range d.Stale {
		m.Line("- " + render.MarkdownText(s.Check+" "+s.Object) + ": " + render.MarkdownText(s.Reason))
	}
	if d.All && counts[check.OK.String()] > 0 {
		m.Line("", "## Not found", "")
		for _, o := range outcomes {
			if o.Status == check.OK {
				m.Line("- `" + o.Check.ID + "`: " + render.MarkdownText(o.Check.Title))
			}
		}
	}
}

// checksText counts checks by how they ended: "31 checks ok, 4 skipped".
func checksText(d *Diagnosis, outcomes []outcome) string {
	counts := tally(outcomes)
	parts := []string{words.Plural(counts[check.OK.String()], "check") + " ok"}
	for _, word := range []string{check.Skipped.String(), check.Broken.String()} {
		if counts[word] > 0 {
			parts = append(parts, strconv.Itoa(counts[word])+" "+word)
		}
	}
	if n := len(d.Report.Accepted); n > 0 {
		parts = append(parts, words.Plural(n, "finding")+" accepted")
	}
	return strings.Join(parts, ", ")
}

package render

import (
	"io"
	"strconv"
	"strings"

	"kitescope/inspect/check"
	"kitescope/internal/encode"
	"kitescope/internal/words"
)

// writeMarkdown writes for tickets and wikis: CommonMark, and no table, which not all of
// them have.
func writeMarkdown(w io.Writer, d *Diagnosis, _ *Options) error {
	m := &Markdown{encode.NewOutput(w, encode.Pieces)}
	where, state := d.headline()
	outcomes := d.outcomes()
	m.Line("# " + d.title() + " of " + MarkdownText(where))
	m.Line("", MarkdownText(state), "", "**"+MarkdownText(CountText(d.Report.Findings))+"**; "+MarkdownText(checksText(d, outcomes))+".")
	if d.Since != nil {
		m.Line("", MarkdownText(d.sinceText())+".")
	}
	m.Findings(d, 2)
	m.rest(d, outcomes)
	return m.Out.Flush()
}

// Findings writes the findings, with headings of a level and those below it, and those that are gone since an older state.
func (m *Markdown) Findings(d *Diagnosis, level int) {
	for _, b := range check.Tree(d.Report.Findings) {
		m.finding(d, &b, level)
	}
	if list := d.gone(); len(list) > 0 {
		m.Line("", strings.Repeat("#", level)+" No longer found", "")
		for _, c := range list {
			text := MarkdownText(c.Before.Message) + " (`" + c.Before.Check + "`)"
			if c.Kind == check.Lost {
				text += ": cannot be seen now, " + MarkdownText(c.Why)
			}
			m.Line("- " + text)
		}
	}
}

// Rest writes what the checks could not look at, and which findings are accepted.
func (m *Markdown) Rest(d *Diagnosis) { m.rest(d, d.outcomes()) }

// Sheet writes a report as part of a page.
func (m *Markdown) Sheet(s *Sheet) {
	for i := range s.Head {
		m.sheetLine(&s.Head[i])
	}
	m.Tables(s.Parts)
	for i := range s.Foot {
		m.sheetLine(&s.Foot[i])
	}
}

// Fence writes code as it is.
func (m *Markdown) Fence(code, language string) {
	lines := strings.Split(strings.TrimRight(words.HarmlessLines(code), "\n"), "\n")
	fence := fenceOf(lines)
	m.Line("", fence+language)
	m.Line(lines...)
	m.Line(fence)
}

// Markdown is a page of Markdown that is being written.
type Markdown struct{ Out encode.Output }

// Line adds lines, which are Markdown already.
func (m *Markdown) Line(lines ...string) {
	for _, s := range lines {
		m.Out.Buf = append(append(m.Out.Buf, s...), '\n')
	}
	m.Out.Drain()
}

// finding is a section; what follows from it are sections below it.
func (m *Markdown) finding(d *Diagnosis, b *check.Branch, level int) {
	const deepest = 6
	title := strings.Repeat("#", min(level+b.Depth, deepest)) + " " + b.Severity.String()
	if change := d.changeText(b.Finding); change != "" {
		title += " (" + change + ")"
	}
	m.Line("", title+": "+MarkdownText(b.Message), "")
	m.Line("- check: `" + b.Check + "`")
	m.Line("- object: " + MarkdownText(ObjectText(b.Object)))
	if cost := CostText(b.Finding); cost != "" {
		m.Line("- costs: " + MarkdownText(cost))
	}
	if f := findingOf(d.Report, b.Cause); f != nil {
		m.Line("- follows from: " + MarkdownText(f.Message))
	}
	for _, line := range d.onsetLines(b.Finding) {
		m.Line("- " + line.label + ": " + MarkdownText(line.text))
	}
	if b.Impact != "" {
		m.Line("", "**Impact.** "+MarkdownText(b.Impact))
	}
	m.Fix(b.Finding)
	if len(b.Evidence) > 0 {
		m.Line("", "Evidence:", "")
	}
	for i := range b.Evidence {
		m.Line("- " + MarkdownText(EvidenceText(&b.Evidence[i])))
	}
	if len(b.Objects) > 0 {
		m.Line("", "Objects:", "")
	}
	for _, r := range b.Objects {
		m.Line("- " + MarkdownText(ObjectText(r)))
	}
}

// rest says what could not be looked at, and which findings are accepted.
func (m *Markdown) rest(d *Diagnosis, outcomes []outcome) {
	counts := tally(outcomes)
	if counts[check.Skipped.String()]+counts[check.Broken.String()] > 0 {
		m.Line("", "## Not looked at", "")
	}
	for _, u := range d.Report.Unlooked() {
		m.Line("- " + u.Status.String() + ", " + MarkdownText(u.Reason) + ": `" + strings.Join(check.IDs(u.Checks), "`, `") + "`")
	}
	if len(d.Report.Accepted) > 0 {
		m.Line("", "## Accepted", "")
	}
	for _, f := range d.Report.Accepted {
		m.Line("- " + MarkdownText(f.Message) + " (`" + f.Check + "`)")
	}
	if len(d.Stale) > 0 {
		m.Line("", "## Entries of the baseline that accept nothing", "")
	}
	for _, s := range d.Stale {
		m.Line("- " + MarkdownText(s.Check+" "+s.Object) + ": " + MarkdownText(s.Reason))
	}
	if d.All && counts[check.OK.String()] > 0 {
		m.Line("", "## Not found", "")
		for _, o := range outcomes {
			if o.Status == check.OK {
				m.Line("- `" + o.Check.ID + "`: " + MarkdownText(o.Check.Title))
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

// linkAt reports whether a colon makes a link of what stands around it, as GitHub's Markdown does without any brackets
// (GFM, 6.9): of an address, and of mailto: and xmpp:.
func linkAt(s string, colon int) bool {
	before := strings.ToLower(s[max(0, colon-len("mailto")):colon])
	return strings.HasPrefix(s[colon:], "://") || strings.HasSuffix(before, "mailto") || strings.HasSuffix(before, "xmpp")
}

// mdBlock is text that a paragraph begins with: no list, heading or rule.
func mdBlock(s string) string {
	s = MarkdownText(s)
	digits := len(s) - len(strings.TrimLeft(s, "0123456789"))
	switch {
	case s == "":
	case strings.IndexByte("-+=", s[0]) >= 0:
		return "\\" + s
	case digits > 0 && digits < len(s) && strings.IndexByte(".)", s[digits]) >= 0:
		return s[:digits] + "\\" + s[digits:]
	}
	return s
}

// MarkdownText is text in Markdown in which no character means anything: names come from outside.
func MarkdownText(s string) string {
	s = Harmless(s)
	var b strings.Builder
	for i := range len(s) {
		switch c := s[i]; c {
		case '\\', '`', '*', '_', '{', '}', '[', ']', '#', '|', '~', '!', '$':
			b.WriteByte('\\')
			b.WriteByte(c)
		case '<':
			b.WriteString("&lt;")
		case '>':
			b.WriteString("&gt;")
		case '&':
			b.WriteString("&amp;")
		case '@': // in a ticket it would call somebody
			b.WriteString("&#64;")
		case ':':
			b.WriteString([]string{":", "&#58;"}[BoolInt(linkAt(s, i))])
		case '.':
			b.WriteString([]string{".", "&#46;"}[BoolInt(strings.EqualFold(s[max(0, i-3):i], "www"))])
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

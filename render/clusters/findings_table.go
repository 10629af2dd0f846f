package clusters

import (
	"io"
	"strconv"
	"strings"

	"kitescope/inspect/check"
	"kitescope/internal/words"
	"kitescope/render"
)

func writeFindings(w io.Writer, d *Diagnosis, o *render.Options) error {
	return writeReport(w, d, o, false)
}

func writeFindingsWide(w io.Writer, d *Diagnosis, o *render.Options) error {
	return writeReport(w, d, o, true)
}

// writeReport writes for people: findings, worst first, each with what follows from it
// below; then what was looked at and what was not.
func writeReport(w io.Writer, d *Diagnosis, o *render.Options, wide bool) error {
	p := newPage(w, o)
	where, state := d.headline()
	p.put(0, 2, render.RoleTitle, where)
	p.put(0, 2, render.RoleDim, state)
	for _, b := range check.Tree(d.Report.Findings) {
		if b.Depth == 0 {
			p.blank()
		}
		p.finding(d, &b, wide)
	}
	p.noLonger(d)
	p.blank()
	p.summary(d)
	return p.out.Flush()
}

// Cells of a finding: its lines stand under its glyph, what follows from it further in.
const (
	stepIn  = 2
	textIn  = 4
	labelIn = 8
)

func (p *page) finding(d *Diagnosis, b *check.Branch, wide bool) {
	in := 0
	if b.Depth > 0 {
		in = stepIn * b.Depth
		elbow := "└ "
		if p.ascii {
			elbow = "` "
		}
		p.out.Buf = p.paint.Paint(render.AppendSpaces(p.out.Buf, in-stepIn), render.RoleDim, elbow)
		p.title(d, b.Finding, 0, in)
	} else {
		p.title(d, b.Finding, 0, 0)
	}
	about := []string{b.Check, ObjectText(b.Object)}
	if cost := CostText(b.Finding); cost != "" {
		about = append(about, "costs "+cost)
	}
	if n := len(b.Objects); n > 0 {
		about = append(about, "with "+words.Plural(n, "object"))
	}
	if b.Depth == 0 && b.Cause != "" {
		about = append(about, "follows from "+render.Harmless(b.Cause))
	}
	p.put(in+textIn, stepIn, render.RoleDim, strings.Join(about, "  "))
	for _, line := range d.onsetLines(b.Finding) {
		p.after(line.label, render.RoleDim, in+textIn, labelIn, render.RolePlain, line.text)
	}
	if b.Impact != "" {
		p.after("impact", render.RoleDim, in+textIn, labelIn, render.RolePlain, render.Harmless(b.Impact))
	}
	p.fix(in, b.Finding)
	if !wide {
		return
	}
	for i := range b.Evidence {
		p.after("fact", render.RoleDim, in+textIn, labelIn, render.RolePlain, EvidenceText(&b.Evidence[i]))
	}
	for _, r := range b.Objects {
		p.after("object", render.RoleDim, in+textIn, labelIn, render.RolePlain, ObjectText(r))
	}
}

// title is the first line: glyph, severity, message. done are cells of the line that are written.
func (p *page) title(d *Diagnosis, f *check.Finding, indent, done int) {
	role := SeverityRole(f.Severity)
	first := SeverityGlyph(f.Severity, p.ascii) + " " + f.Severity.String()
	if change := d.changeText(f); change != "" {
		first += " [" + change + "]"
	}
	hang := max(render.Width([]byte(first))+1, textIn)
	text := render.Harmless(f.Message)
	lines := p.wrap(text, done+indent+hang)
	if len(lines) > 1 { // what does not fit stands with the other lines of the finding
		lines = append(lines[:1], p.wrap(strings.TrimSpace(strings.TrimPrefix(text, lines[0])), done+textIn)...)
	}
	p.out.Buf = p.paint.Paint(render.AppendSpaces(p.out.Buf, indent), role, first)
	p.out.Buf = append(p.paint.Paint(append(p.out.Buf, ' '), render.RoleTitle, lines[0]), '\n')
	for _, line := range lines[1:] {
		p.out.Buf = append(p.paint.Paint(render.AppendSpaces(p.out.Buf, done+textIn), render.RoleTitle, line), '\n')
	}
}

// noLonger lists findings of the older state that are not there now.
func (p *page) noLonger(d *Diagnosis) {
	list := d.gone()
	if len(list) == 0 {
		return
	}
	p.blank()
	p.put(0, 0, render.RoleTitle, "no longer found")
	for i := range list {
		c := &list[i]
		role, glyph, text := render.RoleGood, render.Glyph(render.RoleGood, p.ascii), render.Harmless(c.Before.Message)
		if c.Kind == check.Lost {
			role, glyph, text = render.RoleWarn, words.UnknownMark, text+"  (cannot be seen now: "+render.Harmless(c.Why)+")"
		}
		p.after(glyph, role, stepIn, render.Width([]byte(glyph))+1, render.RolePlain, text)
	}
}

// summary says what was looked at. Nothing that is unknown is good news.
func (p *page) summary(d *Diagnosis) {
	outcomes := d.outcomes()
	counts := tally(outcomes)
	parts := []string{words.Plural(counts[check.OK.String()], "check") + " ok"}
	for _, word := range []string{check.Skipped.String(), check.Broken.String()} {
		if counts[word] > 0 {
			parts = append(parts, strconv.Itoa(counts[word])+" "+word)
		}
	}
	line := CountText(d.Report.Findings)
	if n := len(d.Report.Accepted); n > 0 {
		line += ", " + strconv.Itoa(n) + " accepted"
	}
	p.put(0, stepIn, d.verdict(counts), line+"; "+strings.Join(parts, ", "))
	if d.Since != nil {
		p.put(0, stepIn, render.RolePlain, d.sinceText())
	}
	for _, s := range d.Stale {
		p.put(0, stepIn, render.RoleWarn, "baseline: "+render.Harmless(s.Check)+" "+render.Harmless(s.Object)+": "+s.Reason)
	}
	p.unjudged(d.Report, outcomes)
	if d.All {
		p.looked(outcomes)
	}
}

// verdict is the role of a report: good only if every check could look.
func (d *Diagnosis) verdict(counts map[string]int) render.Role {
	worst, found := d.Report.Worst()
	switch {
	case found && worst > check.Info:
		return SeverityRole(worst)
	case counts[check.Skipped.String()]+counts[check.Broken.String()] > 0:
		return render.RoleTitle
	}
	return render.RoleGood
}

// unjudged names the checks that could not look, by what kept them, and those that did not
// see everything.
func (p *page) unjudged(r *check.Report, outcomes []outcome) {
	for _, u := range r.Unlooked() {
		role := render.RoleDim
		if u.Status == check.Broken {
			role = render.RoleWarn
		}
		p.put(stepIn, stepIn, role, u.Status.String()+", "+render.Harmless(u.Reason)+": "+strings.Join(check.IDs(u.Checks), ", "))
	}
	for _, o := range outcomes {
		if len(o.Unseen) > 0 && o.Status == check.Found {
			p.put(stepIn, stepIn, render.RoleDim, "partly blind, "+o.Check.ID+": "+strings.Join(render.HarmlessAll(o.Unseen), "; "))
		}
	}
}

// looked lists the checks that looked at everything and found nothing new.
func (p *page) looked(outcomes []outcome) {
	for _, o := range outcomes {
		switch {
		case o.word == acceptedWord:
			p.put(stepIn, stepIn, render.RoleDim, acceptedWord+", "+words.Plural(o.accepted, "finding")+": "+o.Check.ID)
		case o.Status == check.OK:
			p.after(render.Glyph(render.RoleGood, p.ascii), render.RoleGood, stepIn, 1+render.Width([]byte(render.Glyph(render.RoleGood, p.ascii))), render.RoleDim, o.Check.ID+": not found: "+lowerFirst(o.Check.Title))
		}
	}
}

func lowerFirst(s string) string {
	if len(s) < 2 || s[1] >= 'A' && s[1] <= 'Z' { // an abbreviation
		return s
	}
	return strings.ToLower(s[:1]) + s[1:]
}

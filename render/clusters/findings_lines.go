package clusters

import (
	"slices"
	"strconv"
	"strings"

	"kitescope/inspect/check"
	"kitescope/internal/words"
	"kitescope/render"
)

// Indents and widths of findings, in cells: stepIndent per level of the tree, textIndent for lines below the glyph,
// labelIndent for the width of labels.
const (
	stepIndent  = 2
	textIndent  = 4
	labelIndent = 10
)

// labelled returns a line of text after a label.
func labelled(indent int, label string, role render.Role, text string) render.Line {
	return render.Line{
		Role: render.RoleDim, Text: strings.Repeat(" ", indent) + render.Padded(label, labelIndent),
		After: []render.Piece{{Role: role, Text: text}},
	}
}

// Parts returns the findings, worst first, each followed by its consequences, and then the findings that are gone
// since an older state. With detail it includes evidence and objects. With brief it writes only the title and the
// object of each info.
func (d *Diagnosis) Parts(ascii, detail, brief bool) []render.Part {
	var parts []render.Part
	for _, b := range check.Tree(d.Report.Findings) {
		if b.Depth == 0 {
			parts = append(parts, render.Part{})
		}
		last := &parts[len(parts)-1]
		last.Head = append(last.Head, d.lines(&b, ascii, detail, brief && b.Severity == check.Info)...)
	}
	list := d.gone()
	if len(list) == 0 {
		return parts
	}
	lines := []render.Line{{Role: render.RoleTitle, Text: "no longer found"}}
	for i := range list {
		c := &list[i]
		role, glyph, text := render.RoleGood, render.Glyph(render.RoleGood, ascii), c.Before.Message
		if c.Kind == check.Lost {
			role, glyph, text = render.RoleWarn, words.UnknownMark, text+"  (cannot be checked now: "+c.Why+")"
		}
		lines = append(lines, render.Line{Role: role, Text: "  " + glyph + " ", After: []render.Piece{{Text: text}}})
	}
	return append(parts, render.Part{Head: lines})
}

// lines returns the lines of a finding: its title and its object and, unless brief is set, its onset, impact and fix.
func (d *Diagnosis) lines(b *check.Branch, ascii, detail, brief bool) []render.Line {
	in := stepIndent * b.Depth
	first := SeverityGlyph(b.Severity, ascii) + " " + b.Severity.String()
	if change := d.changeText(b.Finding); change != "" {
		first += " [" + change + "]"
	}
	if b.Depth > 0 {
		elbow := "└ "
		if ascii {
			elbow = "` "
		}
		first = strings.Repeat(" ", in-stepIndent) + elbow + first
	}
	about := []string{b.Check}
	if b.Requests == nil { // otherwise the title has it
		about = append(about, ObjectText(b.Object))
	}
	if cost := CostText(b.Finding); cost != "" {
		about = append(about, "cost "+cost)
	}
	if n := len(b.Objects); n > 0 && b.Requests == nil {
		about = append(about, "with "+words.Plural(n, "object"))
	}
	if b.Depth == 0 && b.Cause != "" {
		about = append(about, "follows from "+b.Cause)
	}
	in += textIndent
	lines := []render.Line{
		{
			Role: SeverityRole(b.Severity), Text: first + " ",
			After: []render.Piece{{Role: render.RoleTitle, Text: b.Message}},
		},
		{Role: render.RoleDim, Text: strings.Repeat(" ", in) + strings.Join(about, "  ")},
	}
	if brief {
		return lines
	}
	for i, x := range d.onsetLines(b.Finding) {
		if i > 0 { // the label is too long for its column, and the text belongs to the line above
			x.label, x.text = "", x.label+" "+x.text
		}
		lines = append(lines, labelled(in, x.label, render.RolePlain, x.text))
	}
	if b.Impact != "" && b.Requests == nil { // the first lines of the report have the impact of requests
		lines = append(lines, labelled(in, "impact", render.RolePlain, b.Impact))
	}
	if b.Requests == nil || b.Depth == 0 { // otherwise the cause has the fix
		lines = append(lines, FixLines(b.Finding, in)...)
	}
	if !detail {
		return lines
	}
	for i := range b.Evidence {
		lines = append(lines, labelled(in, "evidence", render.RolePlain, EvidenceText(&b.Evidence[i])))
	}
	for _, r := range b.Objects {
		lines = append(lines, labelled(in, "object", render.RolePlain, ObjectText(r)))
	}
	return lines
}

// Summary returns the counts of findings and checks. If brief is set it leaves out why checks were skipped.
func (d *Diagnosis) Summary(ascii, brief bool) []render.Line {
	outcomes := d.outcomes()
	counts := tally(outcomes)
	lines := []render.Line{{Role: d.verdict(counts), Text: d.Counts()}}
	add := func(role render.Role, text string) { lines = append(lines, render.Line{Role: role, Text: text}) }
	if d.Since != nil {
		add(render.RolePlain, d.sinceText())
	}
	for _, s := range d.Stale {
		add(render.RoleWarn, "baseline: "+s.Check+" "+s.Object+": "+s.Reason)
	}
	for _, u := range d.Report.NotRun() {
		role := render.RoleDim
		switch {
		case u.Status == check.Broken:
			role = render.RoleWarn
		case brief:
			continue
		}
		add(role, "  "+u.Status.Label()+": "+u.Reason+": "+strings.Join(check.IDs(u.Checks), ", "))
	}
	if n := counts[check.Skipped.String()]; brief && n > 0 {
		add(render.RoleDim, "  why "+strconv.Itoa(n)+" could not run: --all")
	}
	for _, o := range outcomes {
		switch {
		case len(o.Unseen) > 0 && o.Status == check.Found && !brief:
			add(render.RoleDim, "  partial data, "+o.Check.ID+": "+strings.Join(o.Unseen, "; "))
		case d.All && o.word == acceptedWord:
			add(render.RoleDim, "  "+acceptedWord+", "+words.Plural(o.accepted, "finding")+": "+o.Check.ID)
		case d.All && o.Status == check.OK:
			add(render.RoleDim,
				"  "+render.Glyph(render.RoleGood, ascii)+" "+o.Check.ID+": not found: "+
					words.LowerFirst(o.Check.Title))
		}
	}
	return lines
}

// Counts returns the number of findings and of checks, e.g. "3 findings (1 error, 2 warnings); 31 checks ok, 4 could
// not run".
func (d *Diagnosis) Counts() string {
	counts := tally(d.outcomes())
	text := CountText(d.Report.Findings)
	if d.unexplained() {
		text += ", though requests fail, hang or are slow (the checks for that did not run)"
	}
	if n := len(d.Report.Accepted); n > 0 {
		text += ", " + strconv.Itoa(n) + " accepted"
	}
	ended := []string{words.Plural(counts[check.OK.String()], "check") + " ok"}
	for _, s := range []check.Status{check.Skipped, check.Broken} {
		if n := counts[s.String()]; n > 0 {
			ended = append(ended, strconv.Itoa(n)+" "+s.Label())
		}
	}
	if len(ended) == 1 && counts[check.OK.String()] == 0 { // each check found something
		return text
	}
	return text + "; " + strings.Join(ended, ", ")
}

// unexplained reports whether clients notice a problem but no finding explains it, because other checks were
// selected.
func (d *Diagnosis) unexplained() bool {
	return d.Preflight == nil && len(ImpactOf(d.Report).Affected()) > 0 &&
		!slices.ContainsFunc(slices.Concat(d.Report.Findings, d.Report.Accepted), func(f *check.Finding) bool {
			return f.Requests != nil
		})
}

// verdict returns the role of a report. It is good only if all checks could run.
func (d *Diagnosis) verdict(counts map[string]int) render.Role {
	worst, found := d.Report.Worst()
	switch {
	case d.unexplained():
		return render.RoleWarn
	case found && worst > check.Info:
		return SeverityRole(worst)
	case counts[check.Skipped.String()]+counts[check.Broken.String()] > 0:
		return render.RoleTitle
	}
	return render.RoleGood
}

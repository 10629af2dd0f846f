// Package fix draws a finding opened: what is wrong, the fix as a block that the eye finds, what it costs, what it follows from and
// what follows from it, and by what evidence it is known. What enters are a finding and the report that has it; what leaves are lines
// for a terminal, and texts for a clipboard.
package fix

import (
	"strings"

	"kitescope/inspect/check"
	"kitescope/internal/words"
	"kitescope/render"
	"kitescope/tui/draw"
)

// Opened is a finding and what is known beside it.
type Opened struct {
	*check.Finding
	// Causes are what it follows from, the nearest first; Follows is what follows from it, directly.
	Causes, Follows []*check.Finding
	// Began are lines that say when it began, as far as that is known.
	Began []Fact
	// Checked is what came of checking again, "" if nobody did.
	Checked string
}

// Fact is a line with a label.
type Fact struct{ Label, Text string }

// Open is a finding of a report with its chain of causes, both ways.
func Open(r *check.Report, f *check.Finding) *Opened {
	o := &Opened{Finding: f}
	byKey := make(map[string]*check.Finding, len(r.Findings))
	for _, x := range r.Findings {
		byKey[x.Key()] = x
		if x.Cause == f.Key() {
			o.Follows = append(o.Follows, x)
		}
	}
	for x := byKey[f.Cause]; x != nil && x != f && len(o.Causes) < len(r.Findings); x = byKey[x.Cause] {
		o.Causes = append(o.Causes, x)
	}
	return o
}

// Cells of a label, and how many findings or objects of a chain are named.
const (
	labelCells = 10
	mostNamed  = 6
)

// mark is the left edge of what is to be done.
const mark = "▌ "

// sheet collects lines of w cells.
type sheet struct {
	w     int
	lines []draw.Line
}

// Lines are the finding in lines of w cells. brief has the fix first and what it is about behind it, for a place of a few lines
// beside a list that has the message already.
func (o *Opened) Lines(w int, brief bool) []draw.Line {
	s := &sheet{w: w}
	if brief {
		s.fix(o)
		s.message(o)
		s.about(o)
	} else {
		s.message(o)
		s.about(o)
		s.gap()
		s.fix(o)
		s.gap()
	}
	s.rest(o)
	return s.lines
}

// Short is the finding in few lines, for a list of them: what, since when, and the fix.
func (o *Opened) Short(w int) []draw.Line {
	s := &sheet{w: w}
	s.message(o)
	for _, x := range o.Began {
		s.put("  "+x.Label, x.Text)
	}
	if steps := o.Steps(); len(steps) > 0 {
		s.steps(steps[:1], draw.Piece{Role: render.RoleAccent, Text: mark})
		if n := len(steps) - 1; n > 0 {
			s.add(draw.Piece{Role: render.RoleAccent, Text: mark}, draw.Piece{Role: render.RoleDim, Text: "and " + words.Plural(n, "more step")})
		}
	}
	return s.lines
}

func (s *sheet) add(pieces ...draw.Piece) {
	s.lines = append(s.lines, draw.Line(pieces).CutTo(s.w))
}

func (s *sheet) gap() {
	if len(s.lines) > 0 && len(s.lines[len(s.lines)-1]) > 0 {
		s.lines = append(s.lines, nil)
	}
}

// message is what is wrong, whole.
func (s *sheet) message(o *Opened) {
	role := render.SeverityRole(o.Severity)
	glyph := render.SeverityGlyph(o.Severity, false) + " "
	for _, line := range draw.Wrap(words.Harmless(o.Message), s.w-len("x ")) {
		s.add(draw.Piece{Role: role, Text: glyph}, draw.Piece{Role: render.RoleTitle, Text: line})
		glyph = "  "
	}
}

// about is what the finding is of, in one line where that fits.
func (s *sheet) about(o *Opened) {
	text := o.Severity.String() + " · " + render.ObjectText(o.Object) + " · " + o.Check
	for _, line := range draw.Wrap(text, s.w-len("x ")) {
		s.add(draw.Piece{Role: render.RoleDim, Text: "  " + line})
	}
}

// fix is the block of what to do, marked at its left.
func (s *sheet) fix(o *Opened) {
	mark := draw.Piece{Role: render.RoleAccent, Text: mark}
	steps := o.Steps()
	if len(steps) == 0 {
		s.add(mark, draw.Piece{Role: render.RoleTitle, Text: "FIX  "}, draw.Piece{Role: render.RoleDim, Text: "none known: e explains the check"})
		return
	}
	head := []draw.Piece{mark, {Role: render.RoleTitle, Text: "FIX"}}
	if o.Command() != "" {
		head = append(head, draw.Piece{Role: render.RoleDim, Text: "  y copies the command"})
	}
	s.add(head...)
	s.steps(steps, mark)
}

func (s *sheet) steps(steps []check.Step, mark draw.Piece) {
	for i, step := range steps {
		if i > 0 && step.Command != "" {
			s.add(mark)
		}
		if step.Python {
			s.add(mark, draw.Piece{Role: render.RoleDim, Text: "in Python, with pymilvus:"})
		}
		for _, line := range render.CommandLines(step) {
			prompt := draw.Piece{Role: render.RoleDim, Text: line.Prompt}
			for _, text := range draw.Broken(line.Text, s.w-draw.Width(line.Prompt)-draw.Width(mark.Text), !step.Python) {
				s.add(mark, prompt, draw.Piece{Role: render.RoleAccent, Text: text})
				prompt.Text = draw.Pad(draw.Width(line.Prompt))
			}
		}
		for _, text := range draw.Wrap(words.Harmless(string(step.Text)), s.w-draw.Width(mark.Text)) {
			s.add(mark, draw.Piece{Text: text})
		}
	}
}

// put adds a labelled text.
func (s *sheet) put(label, text string) { s.putIn(label, render.RolePlain, text) }

func (s *sheet) putIn(label string, role render.Role, text string) {
	for _, line := range draw.Wrap(text, s.w-labelCells) {
		s.add(draw.Piece{Role: render.RoleDim, Text: draw.Fit(label, labelCells)}, draw.Piece{Role: role, Text: line})
		label = ""
	}
}

// rest is what else is known of it.
func (s *sheet) rest(o *Opened) {
	if o.Checked != "" {
		s.put("CHECKED", words.Harmless(o.Checked))
	}
	label := "COST"
	for _, text := range Costs(o.Finding) {
		s.put(label, text)
		label = ""
	}
	s.chain("CAUSE", o.Causes)
	s.chain("CAUSES", o.Follows)
	for _, x := range o.Began {
		s.put(strings.ToUpper(x.Label), x.Text)
	}
	label = "EVIDENCE"
	for i := range o.Evidence {
		s.put(label, render.EvidenceText(&o.Evidence[i]))
		label = ""
	}
	s.put("WITH", Objects(o.Finding))
}

// chain names findings of the chain, each in a line.
func (s *sheet) chain(label string, list []*check.Finding) {
	for i, f := range list {
		if i == mostNamed {
			s.put("", "and "+words.Number(len(list)-i)+" more")
			return
		}
		glyph := render.SeverityGlyph(f.Severity, false) + " "
		s.add(draw.Piece{Role: render.RoleDim, Text: draw.Fit(label, labelCells)}, draw.Piece{Role: render.SeverityRole(f.Severity), Text: glyph},
			draw.Piece{Text: draw.Cut(words.Harmless(f.Message), max(0, s.w-labelCells-draw.Width(glyph)))})
		label = ""
	}
}

// Costs are what a finding costs: its share of query work, milliseconds where metrics tell, and what that means.
func Costs(f *check.Finding) []string {
	var list []string
	if text := render.CostText(f); text != "" {
		list = append(list, text)
	}
	for i := range f.Slows[:min(1, len(f.Slows))] {
		x := &f.Slows[i]
		list = append(list, words.ThreeDigits(x.Ms)+" ms of the "+words.ThreeDigits(x.Mean)+" ms of a mean "+string(x.Request)+" ("+strings.ReplaceAll(string(x.Phase), "_", " ")+")")
	}
	if f.Impact != "" {
		list = append(list, words.Harmless(f.Impact))
	}
	return list
}

// Objects names the first of the further objects of a finding.
func Objects(f *check.Finding) string {
	var names []string
	for _, r := range f.Objects[:min(mostNamed, len(f.Objects))] {
		names = append(names, render.ObjectText(r))
	}
	text := strings.Join(names, ", ")
	if more := len(f.Objects) - mostNamed; more > 0 {
		text += ", and " + words.Number(more) + " more"
	}
	return text
}

package tui

import (
	"strings"
	"time"

	"kitescope/inspect/check"
	"kitescope/internal/words"
	"kitescope/render"
	"kitescope/render/clusters"
	"kitescope/tui/draw"
)

// openedFinding is a finding with its related data.
type openedFinding struct {
	*check.Finding
	// Causes are the causes of the finding, the nearest first. Follows are its direct effects.
	Causes, Follows []*check.Finding
	// Began are lines with the start of the finding, as far as known.
	Began []Fact
}

// Fact is a line with a label.
type Fact struct{ Label, Text string }

// openFinding returns a finding of a report with its causes and effects.
func openFinding(r *check.Report, f *check.Finding) *openedFinding {
	o := &openedFinding{Finding: f}
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

// The width of a label in cells, and the number of findings or objects of a chain that are named.
const (
	factLabelCells = 10
	maxNamed       = 6
)

// fixMark is the left edge of the fix.
const fixMark = "▌ "

// findingSheet collects lines of w cells.
type findingSheet struct {
	w     int
	lines []draw.Line
}

// Lines returns the finding in lines of w cells. If brief is set, the first line is the message, cut, followed by
// the fix, for a place of a few lines.
func (o *openedFinding) Lines(w int, brief bool) []draw.Line {
	s := &findingSheet{w: w}
	if brief {
		whole := &findingSheet{w: w}
		whole.message(o)
		title := whole.lines[0]
		if len(whole.lines) > 1 {
			title = append(title, draw.Piece{Role: render.RoleTitle, Text: " …"})
		}
		s.add(title...)
		s.fix(o, false)
		if len(whole.lines) > 1 {
			s.message(o)
		}
		s.about(o)
	} else {
		s.message(o)
		s.about(o)
		s.gap()
		s.fix(o, true)
		s.gap()
	}
	s.rest(o)
	return s.lines
}

// Short returns the finding in a few lines for a list: the message, the start and the first step of the fix.
func (o *openedFinding) Short(w int) []draw.Line {
	s := &findingSheet{w: w}
	s.message(o)
	for _, x := range o.Began {
		s.put("  "+x.Label, x.Text)
	}
	if steps := o.Steps(); len(steps) > 0 {
		s.steps(steps[:1], draw.Piece{Role: render.RoleAccent, Text: fixMark})
		if n := len(steps) - 1; n > 0 {
			s.add(draw.Piece{Role: render.RoleAccent, Text: fixMark}, draw.Piece{
				Role: render.RoleDim, Text: "and " + words.Plural(n, "more step"),
			})
		}
	}
	return s.lines
}

func (s *findingSheet) add(pieces ...draw.Piece) {
	s.lines = append(s.lines, draw.Line(pieces).CutTo(s.w))
}

func (s *findingSheet) gap() {
	if len(s.lines) > 0 && len(s.lines[len(s.lines)-1]) > 0 {
		s.lines = append(s.lines, nil)
	}
}

// message adds the complete message.
func (s *findingSheet) message(o *openedFinding) {
	role := clusters.SeverityRole(o.Severity)
	glyph := clusters.SeverityGlyph(o.Severity, false) + " "
	for _, line := range draw.Wrap(words.Sanitize(o.Message), s.w-len("x ")) {
		s.add(draw.Piece{Role: role, Text: glyph}, draw.Piece{Role: render.RoleTitle, Text: line})
		glyph = "  "
	}
}

// about adds the severity, the object and the check, in one line if they fit.
func (s *findingSheet) about(o *openedFinding) {
	text := o.Severity.String() + " · " + clusters.ObjectText(o.Object) + " · " + o.Check
	if o.Held.Absent {
		text += " · last seen " + o.Held.Seen.UTC().Format(time.TimeOnly)
	}
	for _, line := range draw.Wrap(text, s.w-len("x ")) {
		s.add(draw.Piece{Role: render.RoleDim, Text: "  " + line})
	}
}

// fix adds the steps of the fix, marked at the left. If titled is set, a command has a title above it.
func (s *findingSheet) fix(o *openedFinding, titled bool) {
	mark := draw.Piece{Role: render.RoleAccent, Text: fixMark}
	steps := o.Steps()
	if len(steps) == 0 {
		s.add(mark, draw.Piece{Role: render.RoleTitle, Text: "FIX  "}, draw.Piece{
			Role: render.RoleDim, Text: "none known: e explains the check",
		})
		return
	}
	head := []draw.Piece{mark, {Role: render.RoleTitle, Text: "FIX"}}
	if o.Command() != nil {
		head = append(head, draw.Piece{Role: render.RoleDim, Text: "  y copies the command"})
	}
	if titled || o.Command() == nil {
		s.add(head...)
	}
	s.steps(steps, mark)
}

func (s *findingSheet) steps(steps []check.Step, mark draw.Piece) {
	for i, step := range steps {
		if i > 0 && step.Command != "" {
			s.add(mark)
		}
		if step.Python {
			s.add(mark, draw.Piece{Role: render.RoleDim, Text: "in Python, with pymilvus:"})
		}
		for _, line := range clusters.CommandLines(step) {
			prompt := draw.Piece{Role: render.RoleDim, Text: line.Prompt}
			for _, text := range draw.BreakCommand(line.Text, s.w-draw.Width(line.Prompt)-draw.Width(mark.Text),
				!step.Python) {
				s.add(mark, prompt, draw.Piece{Role: render.RoleAccent, Text: text})
				prompt.Text = draw.Pad(draw.Width(line.Prompt))
			}
		}
		role := render.RolePlain
		if step.Changes {
			role = render.RoleWarn
		}
		for _, text := range draw.Wrap(clusters.StepText(step), s.w-draw.Width(mark.Text)) {
			s.add(mark, draw.Piece{Role: role, Text: text})
		}
	}
}

// put adds a text with a label.
func (s *findingSheet) put(label, text string) { s.putIn(label, render.RolePlain, text) }

func (s *findingSheet) putIn(label string, role render.Role, text string) {
	for _, line := range draw.Wrap(text, s.w-factLabelCells) {
		s.add(draw.Piece{Role: render.RoleDim, Text: draw.Fit(label, factLabelCells)}, draw.Piece{
			Role: role, Text: line,
		})
		label = ""
	}
}

// rest adds the other facts about the finding.
func (s *findingSheet) rest(o *openedFinding) {
	label := "COST"
	for _, text := range costLines(o.Finding) {
		s.put(label, text)
		label = ""
	}
	if o.Impact != "" {
		s.put("IMPACT", words.Sanitize(o.Impact))
	}
	s.chain("CAUSE", o.Causes)
	s.chain("EFFECTS", o.Follows)
	for _, x := range o.Began {
		s.put(strings.ToUpper(x.Label), x.Text)
	}
	label = "EVIDENCE"
	for i := range o.Evidence {
		s.put(label, clusters.EvidenceText(&o.Evidence[i]))
		label = ""
	}
	s.put("OBJECTS", objectNames(o.Finding))
}

// chain adds the findings of a chain, one a line.
func (s *findingSheet) chain(label string, list []*check.Finding) {
	for i, f := range list {
		if i == maxNamed {
			s.put("", "and "+words.Number(len(list)-i)+" more")
			return
		}
		glyph := clusters.SeverityGlyph(f.Severity, false) + " "
		s.add(draw.Piece{Role: render.RoleDim, Text: draw.Fit(label, factLabelCells)},
			draw.Piece{Role: clusters.SeverityRole(f.Severity), Text: glyph},
			draw.Piece{Text: draw.Cut(words.Sanitize(f.Message), max(0, s.w-factLabelCells-draw.Width(glyph)))})
		label = ""
	}
}

// costLines returns the cost of a finding: its share of query work, and milliseconds if metrics provide them.
func costLines(f *check.Finding) []string {
	var list []string
	if text := clusters.CostText(f); text != "" {
		list = append(list, text)
	}
	for i := range f.Slows[:min(1, len(f.Slows))] {
		x := &f.Slows[i]
		list = append(list, words.ThreeDigits(x.Ms)+" of "+words.ThreeDigits(x.Mean)+" ms of the mean "+
			string(x.Request)+" ("+strings.ReplaceAll(string(x.Phase), "_", " ")+")")
	}
	return list
}

// objectNames names the first of the additional objects of a finding.
func objectNames(f *check.Finding) string {
	var names []string
	for _, r := range f.Objects[:min(maxNamed, len(f.Objects))] {
		names = append(names, clusters.ObjectText(r))
	}
	text := strings.Join(names, ", ")
	if more := len(f.Objects) - maxNamed; more > 0 {
		text += ", and " + words.Number(more) + " more"
	}
	return text
}

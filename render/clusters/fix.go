package clusters

import (
	"strings"

	"kitescope/inspect/check"
	"kitescope/internal/encode"
	"kitescope/render"
)

// FixLine is a line of what to do about a finding, harmless: a line of a command behind its prompt, or a sentence.
type FixLine struct {
	Prompt string // "$ " of a shell, ">>> " of Python, "" of a sentence
	Text   string
	// Does is a sentence about the command above it.
	Does bool
}

// FixLines are the steps of a finding as lines, which may be broken only where they are sentences.
func FixLines(f *check.Finding) []FixLine {
	var lines []FixLine
	for _, s := range f.Steps() {
		lines = append(lines, CommandLines(s)...)
		if s.Text != "" {
			lines = append(lines, FixLine{Text: render.Harmless(string(s.Text)), Does: s.Command != ""})
		}
	}
	return lines
}

// CommandLines are those of a step's command, none if it has none.
func CommandLines(s check.Step) []FixLine {
	var lines []FixLine
	for _, line := range stepCommand(s) {
		prompt := "$ "
		if s.Python {
			prompt = ">>> "
		}
		lines = append(lines, FixLine{Prompt: prompt, Text: line})
	}
	return lines
}

// stepCommand are the lines of a step's command. One of a shell is one line, whatever is in its words.
func stepCommand(s check.Step) []string {
	switch {
	case s.Command == "":
		return nil
	case !s.Python:
		return []string{render.Harmless(string(s.Command))}
	}
	return render.HarmlessAll(strings.Split(string(s.Command), "\n"))
}

// languageOf says who reads the command of a step, "" where it has none.
func languageOf(s check.Step) string {
	switch {
	case s.Command == "":
		return ""
	case s.Python:
		return "python"
	}
	return "shell"
}

// writeFix writes the steps for scripts.
func writeFix(e *encode.Encoder, f *check.Finding) {
	e.Key("fix")
	e.BeginList()
	for _, s := range f.Steps() {
		e.BeginObject()
		if s.Command != "" {
			e.Entry("command", string(s.Command))
			e.Entry("language", languageOf(s))
		}
		e.NonZero("text", string(s.Text))
		e.EndObject()
	}
	e.EndList()
}

// fix writes what to do about a finding: commands whole, as a broken one cannot be copied.
func (p *page) fix(in int, f *check.Finding) {
	label := "fix"
	for _, line := range FixLines(f) {
		if line.Prompt == "" {
			role := render.RolePlain
			if line.Does {
				role = render.RoleDim
			}
			hang := labelIn
			if line.Does {
				hang += stepIn
			}
			p.after(label, render.RoleDim, in+textIn, hang, role, line.Text)
		} else {
			p.command(label, in+textIn, line)
		}
		label = strings.Repeat(" ", len("fix"))
	}
}

func (p *page) command(label string, in int, line FixLine) {
	p.out.Buf = p.paint.Paint(render.AppendSpaces(p.out.Buf, in), render.RoleDim, label)
	p.out.Buf = p.paint.Paint(render.AppendSpaces(p.out.Buf, labelIn-len(label)), render.RoleDim, line.Prompt)
	p.out.Buf = append(p.paint.Paint(p.out.Buf, render.RoleTitle, line.Text), '\n')
	p.out.Drain()
}

// sentence is a text as one that stands alone.
func sentence(text string) string {
	if text == "" {
		return ""
	}
	return render.Title(text) + "."
}

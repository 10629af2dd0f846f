package clusters

import (
	"strings"

	"kitescope/inspect/check"
	"kitescope/internal/encode"
	"kitescope/render"
)

// FixLines are the steps of a finding as lines behind a label. A command is never broken: it is to be copied.
func FixLines(f *check.Finding, in int) []render.Line {
	var lines []render.Line
	label := "fix"
	add := func(role render.Role, text string) *render.Line {
		lines = append(lines, labelled(in, label, role, text))
		label = ""
		return &lines[len(lines)-1]
	}
	for _, s := range f.Steps() {
		for _, c := range CommandLines(s) {
			line := add(render.RoleTitle, c.Text)
			line.Text, line.Code = line.Text+c.Prompt, true
		}
		if text := StepText(s); text != "" {
			role := render.RoleDim
			switch {
			case s.Changes:
				role = render.RoleWarn
			case s.Command == "":
				role = render.RolePlain
			}
			line := add(role, text)
			if s.Command != "" {
				line.Text += strings.Repeat(" ", stepIn)
			}
		}
	}
	return lines
}

// StepText returns the sentence of a step with its mark, if it changes the cluster: before what a command does, behind what to do.
func StepText(s check.Step) string {
	text, mark := render.Harmless(string(s.Text)), render.Harmless(s.Mark())
	switch {
	case mark == "":
		return text
	case text == "":
		return mark
	case s.Command == "":
		return text + " (" + mark + ")"
	default:
		return mark + ": " + text
	}
}

// CommandLine is a line of a command, harmless, behind its prompt: "$ " of a shell, ">>> " of Python.
type CommandLine struct{ Prompt, Text string }

// CommandLines are those of a step's command, none if it has none.
func CommandLines(s check.Step) []CommandLine {
	var lines []CommandLine
	for _, line := range stepCommand(s) {
		prompt := "$ "
		if s.Python {
			prompt = ">>> "
		}
		lines = append(lines, CommandLine{Prompt: prompt, Text: line})
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
		e.Entry("changes", s.Changes)
		e.NonZero("interrupts", string(s.Interrupts))
		e.NonZero("within_seconds", s.Within)
		e.NonZero("text", string(s.Text))
		e.EndObject()
	}
	e.EndList()
}

// sentence is a text as one that stands alone.
func sentence(text string) string {
	if text == "" {
		return ""
	}
	return render.Title(text) + "."
}

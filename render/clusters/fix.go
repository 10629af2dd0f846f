package clusters

import (
	"strings"

	"kitescope/inspect/check"
	"kitescope/internal/encode"
	"kitescope/render"
)

// FixLines returns the steps of a finding as lines after a label. It never wraps a command, because commands are
// copied.
func FixLines(f *check.Finding, indent int) []render.Line {
	var lines []render.Line
	label := "fix"
	add := func(role render.Role, text string) *render.Line {
		lines = append(lines, labelled(indent, label, role, text))
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
				line.Text += strings.Repeat(" ", stepIndent)
			}
		}
	}
	return lines
}

// StepText returns the text of a step. If the step changes the cluster, the mark comes before the effect of a
// command, or after an instruction.
func StepText(s check.Step) string {
	text, mark := render.Harmless(string(s.Text)), render.Harmless(s.Effect())
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

// CommandLine is one line of a command without control characters, and its prompt: "$ " for a shell, ">>> " for
// Python.
type CommandLine struct{ Prompt, Text string }

// CommandLines returns the lines of a step's command, or nil if the step has no command.
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

// stepCommand returns the lines of a step's command. A shell command is always one line, even if its words contain
// line breaks.
func stepCommand(s check.Step) []string {
	switch {
	case s.Command == "":
		return nil
	case !s.Python:
		return []string{render.Harmless(string(s.Command))}
	}
	return render.HarmlessAll(strings.Split(string(s.Command), "\n"))
}

// languageOf returns the language of a step's command: "python", "shell", or "" if the step has no command.
func languageOf(s check.Step) string {
	switch {
	case s.Command == "":
		return ""
	case s.Python:
		return "python"
	}
	return "shell"
}

// writeFix writes the steps of a finding as a list.
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

// sentence returns text as a sentence, with a capital letter and a period.
func sentence(text string) string {
	if text == "" {
		return ""
	}
	return render.Title(text) + "."
}

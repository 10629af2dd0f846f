package check

import "strings"

// Step is one thing to do about a finding: a command to copy, and a sentence that says what it does; either may be missing.
type Step struct {
	// Command is pasted as it is into a shell, or, where Python says so, into a session of pymilvus. It may have several lines.
	Command Hint
	Python  bool
	// Text is a sentence: what the command does, or what to do where no command does it.
	Text Hint
}

// Steps are what to do about a finding, in their order: its Fix, else its Hint as a sentence. None: nothing is known.
func (f *Finding) Steps() []Step {
	if len(f.Fix) > 0 || f.Hint == "" {
		return f.Fix
	}
	return []Step{{Text: f.Hint}}
}

// Command is the command of the first step that has one, "" if none has: what one copies.
func (f *Finding) Command() Hint {
	for _, s := range f.Steps() {
		if s.Command != "" {
			return s.Command
		}
	}
	return ""
}

// Advice is what to do as one text: "etcdctl defrag: gives the space back; then look at the log".
func (f *Finding) Advice() string {
	var parts []string
	for _, s := range f.Steps() {
		text := string(s.Command)
		switch {
		case text == "":
			text = string(s.Text)
		case s.Text != "":
			text += ": " + string(s.Text)
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "; then ")
}

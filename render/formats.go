package render

import (
	"strings"

	"kitescope/inspect/view"
)

// form is one format of a kind of document, which a W writes.
type form[W any] struct {
	name, doc string
	// scripts says that scripts read it: no colour, nothing beside it on standard error but trouble.
	scripts bool
	write   W
}

// forms are the formats of a kind of document, in the order of help. The first is that of the word "table".
type forms[W any] []form[W]

// parse finds the format of a -o word; "" is table, "text" too.
func (list forms[W]) parse(word string) (*form[W], error) {
	if word == "" || word == "text" {
		word = list[0].name
	}
	for i := range list {
		if list[i].name == word {
			return &list[i], nil
		}
	}
	return nil, &view.UnknownError{What: "output format", Word: word, Known: list.names()}
}

func (list forms[W]) names() []string {
	names := make([]string, len(list))
	for i := range list {
		names[i] = list[i].name
	}
	return names
}

// help explains the formats, one a line.
func (list forms[W]) help() string {
	var b strings.Builder
	for i := range list {
		b.WriteString("  " + list[i].name + strings.Repeat(" ", 10-len(list[i].name)) + list[i].doc + "\n")
	}
	return b.String()
}

// or is the format that was parsed, or the first if none was.
func (list forms[W]) or(parsed *form[W]) *form[W] {
	if parsed == nil {
		return &list[0]
	}
	return parsed
}

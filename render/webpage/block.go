package webpage

import (
	"html/template"
	"strings"

	"kitescope/internal/words"
)

// block writes one of the templates; what they are made of is ours, so that they do not fail.
func block(name string, data any) template.HTML {
	t, err := ready()
	if err != nil {
		return ""
	}
	var b strings.Builder
	if err := t.ExecuteTemplate(&b, name, data); err != nil {
		return ""
	}
	return template.HTML(b.String()) //nolint:gosec // written by a template that escapes
}

// From writes a template of the subject's own, in which those of this package can be used; texts in it are made harmless by text. It is parsed each
// time: what there is several of ranges over them.
func From(source string, data any) (template.HTML, error) {
	t, err := copied()
	if err != nil {
		return "", err
	}
	if t, err = t.New("subject").Parse(source); err != nil {
		return "", err
	}
	var b strings.Builder
	if err := t.Execute(&b, data); err != nil {
		return "", err
	}
	return template.HTML(b.String()), nil //nolint:gosec // written by a template that escapes
}

// Line is a line of prose; Class is a tone, "dim", "title", or "".
type Line struct {
	Class string
	// Name is what stands before it where Named is set.
	Named bool
	Name  string
	Text  string
}

// Lines are paragraphs.
func Lines(list ...Line) template.HTML {
	if len(list) == 0 {
		return ""
	}
	return block("lines", list)
}

// Prose is a paragraph.
func Prose(s string) template.HTML {
	if s == "" {
		return ""
	}
	return Lines(Line{Text: s})
}

// List is a list of texts.
func List(items []string) template.HTML {
	if len(items) == 0 {
		return ""
	}
	return block("list", items)
}

// Facts are names and values.
func Facts(list []Fact) template.HTML {
	if len(list) == 0 {
		return ""
	}
	return block("facts", list)
}

// Commands are what the reader copies.
func Commands(list []Command) template.HTML {
	if len(list) == 0 {
		return ""
	}
	return block("commands", list)
}

// Card is a figure that is to be seen first.
type Card struct{ Name, Value, Note string }

// Cards are figures side by side.
func Cards(list []Card) template.HTML {
	if len(list) == 0 {
		return ""
	}
	return block("cards", list)
}

// Table is a table with its title and what is said of it.
type Table struct {
	Title string
	Notes []Line
	Heads []Cell
	Rows  [][]Cell
}

// Cell is a text; Class is "n" for figures, a tone, "dim", or several of them.
type Cell struct{ Text, Class string }

// HTML is the table as a block; one without columns is its notes.
func (t *Table) HTML() template.HTML { return block("table", t) }

// Figure is a plot for light and for dark backgrounds; Dark may be "". Name says what it shows.
func Figure(name string, light, dark template.HTML) template.HTML {
	return block("figure", map[string]any{"Name": name, "Light": light, "Dark": dark})
}

// Inline is a picture of ours in SVG as an element of a page. The writer of SVG has escaped what texts are in it.
func Inline(svg string) template.HTML {
	_, rest, _ := strings.Cut(svg, "viewBox=")
	return template.HTML("<svg aria-hidden=\"true\" viewBox=" + strings.TrimSpace(rest)) //nolint:gosec // our own picture, of escaped text
}

// Fold is what is shown when it is asked for.
func Fold(title string, inner ...template.HTML) template.HTML {
	return block("fold", map[string]any{"Title": words.Harmless(title), "Inner": inner})
}

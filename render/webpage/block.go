package webpage

import (
	"html/template"
	"strings"

	"kitescope/internal/words"
)

// Block is a part of a section. The functions of this package return blocks.
type Block template.HTML

// block executes a template. It returns "" on errors, which cannot occur because templates and their data types
// are fixed.
func block(name string, data any) Block {
	t, err := parsed()
	if err != nil {
		return ""
	}
	var b strings.Builder
	if err := t.ExecuteTemplate(&b, name, data); err != nil {
		return ""
	}
	return Block(b.String())
}

// Line is a line of text. Class is a tone, "dim", "title" or "".
type Line struct {
	Class string
	// Name is written before the text if Named is set.
	Named bool
	Name  string
	Text  string
}

// Lines returns paragraphs.
func Lines(list ...Line) Block {
	if len(list) == 0 {
		return ""
	}
	return block("lines", list)
}

// Prose returns a paragraph.
func Prose(s string) Block {
	if s == "" {
		return ""
	}
	return Lines(Line{Text: s})
}

// List returns a list of texts.
func List(items []string) Block {
	if len(items) == 0 {
		return ""
	}
	return block("list", items)
}

// Facts returns a list of names and values.
func Facts(list []Fact) Block {
	if len(list) == 0 {
		return ""
	}
	return block("facts", list)
}

// Commands returns commands to copy.
func Commands(list []Command) Block {
	if len(list) == 0 {
		return ""
	}
	return block("commands", list)
}

// Card is a prominent value.
type Card struct{ Name, Value, Note string }

// Cards returns values side by side.
func Cards(list []Card) Block {
	if len(list) == 0 {
		return ""
	}
	return block("cards", list)
}

// Table is a table with a title and notes. Name is its accessible name if it has no title, and Class is its CSS
// class.
type Table struct {
	Title string
	Notes []Line
	Name  string
	Class string
	Heads []Cell
	Rows  [][]Cell
}

// Cell is a table cell. Class is "n" for numbers, a tone, "dim", or a combination.
type Cell struct {
	Text, Class string
	// Head marks the header of a row.
	Head bool
}

// HTML returns the table as a block, or only its notes if it has no columns.
func (t *Table) HTML() Block { return block("table", t) }

// Article is an element with its own heading: a mark and title, a word in a code font with a tooltip, a line of
// further facts, and blocks.
type Article struct {
	Class, Mark, Title, Code, CodeTitle string
	About                               []string
	Blocks                              []Block
}

// HTML returns the article as a block.
func (a *Article) HTML() Block { return block("article", a) }

// Figure returns a plot for light and dark backgrounds. dark can be "". name describes the plot.
func Figure(name string, light, dark Block) Block {
	return block("figure", map[string]any{"Name": name, "Light": light, "Dark": dark})
}

// WideFigure returns a Figure that scrolls if the screen is too narrow to read it.
func WideFigure(name string, light, dark Block) Block {
	return block("figure", map[string]any{"Name": name, "Light": light, "Dark": dark, "Scrolls": true})
}

// Inline converts an SVG picture of kitescope to an element of a page. The SVG writer has escaped its texts.
func Inline(svg string) Block {
	_, rest, _ := strings.Cut(svg, "viewBox=")
	return Block("<svg aria-hidden=\"true\" viewBox=" + strings.TrimSpace(rest))
}

// Fold returns blocks that are hidden until the reader opens them.
func Fold(title string, inner ...Block) Block {
	return block("fold", map[string]any{"Title": words.Sanitize(title), "Inner": inner})
}

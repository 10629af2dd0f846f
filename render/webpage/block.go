package webpage

import (
	"html/template"
	"strings"

	"kitescope/internal/words"
)

// Block is a part of a section: what the functions of this package make.
type Block template.HTML

// block writes one of the templates; what they are made of is ours, so that they do not fail.
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

// Line is a line of prose; Class is a tone, "dim", "title", or "".
type Line struct {
	Class string
	// Name is what stands before it where Named is set.
	Named bool
	Name  string
	Text  string
}

// Lines are paragraphs.
func Lines(list ...Line) Block {
	if len(list) == 0 {
		return ""
	}
	return block("lines", list)
}

// Prose is a paragraph.
func Prose(s string) Block {
	if s == "" {
		return ""
	}
	return Lines(Line{Text: s})
}

// List is a list of texts.
func List(items []string) Block {
	if len(items) == 0 {
		return ""
	}
	return block("list", items)
}

// Facts are names and values.
func Facts(list []Fact) Block {
	if len(list) == 0 {
		return ""
	}
	return block("facts", list)
}

// Commands are what the reader copies.
func Commands(list []Command) Block {
	if len(list) == 0 {
		return ""
	}
	return block("commands", list)
}

// Card is a figure that is to be seen first.
type Card struct{ Name, Value, Note string }

// Cards are figures side by side.
func Cards(list []Card) Block {
	if len(list) == 0 {
		return ""
	}
	return block("cards", list)
}

// Table is a table with its title and what is said of it. Name is how it is called where it has no title, Class how it looks.
type Table struct {
	Title string
	Notes []Line
	Name  string
	Class string
	Heads []Cell
	Rows  [][]Cell
}

// Cell is a text; Class is "n" for figures, a tone, "dim", or several of them.
type Cell struct {
	Text, Class string
	// Head says that it names its row.
	Head bool
}

// HTML is the table as a block; one without columns is its notes.
func (t *Table) HTML() Block { return block("table", t) }

// Article is something with a headline of its own: a mark and a title, a word in letters of code that has a title, what else is known in
// a line, and blocks.
type Article struct {
	Class, Mark, Title, Code, CodeTitle string
	About                               []string
	Blocks                              []Block
}

// HTML is the article as a block.
func (a *Article) HTML() Block { return block("article", a) }

// Figure is a plot for light and for dark backgrounds; Dark may be "". Name says what it shows.
func Figure(name string, light, dark Block) Block {
	return block("figure", map[string]any{"Name": name, "Light": light, "Dark": dark})
}

// WideFigure is a Figure that scrolls where the screen is too narrow to read it.
func WideFigure(name string, light, dark Block) Block {
	return block("figure", map[string]any{"Name": name, "Light": light, "Dark": dark, "Scrolls": true})
}

// Inline is a picture of ours in SVG as an element of a page. The writer of SVG has escaped what texts are in it.
func Inline(svg string) Block {
	_, rest, _ := strings.Cut(svg, "viewBox=")
	return Block("<svg aria-hidden=\"true\" viewBox=" + strings.TrimSpace(rest))
}

// Fold is what is shown when it is asked for.
func Fold(title string, inner ...Block) Block {
	return block("fold", map[string]any{"Title": words.Harmless(title), "Inner": inner})
}

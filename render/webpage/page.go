// Package webpage writes the pages that people keep, mail and print: one file of HTML that fetches nothing. What enters is a Page: its
// conclusion, what answers the reader, sections made of blocks, notes; what leaves is the file. The subjects (a diagnosis, a balance, a
// replay) say what there is, and this package alone how it looks and how it is used:
//
//  1. The conclusion comes first, then the answer as facts with the commands to copy, then the sections with figures, the notes last.
//  2. Light and dark as the reader's system is, from 375 pixels on, and on paper. What is wider than the screen scrolls by itself.
//  3. Landmarks, headings in their order, names for what scrolls, and contrasts that WCAG 2.1 AA asks for: axe-core finds nothing.
//  4. Its policy (CSP) forbids what it does not have. The one script copies commands; without it they are text as all else.
package webpage

import (
	"crypto/sha256"
	"encoding/base64"
	"html/template"
	"io"
	"strconv"
	"strings"
	"sync"

	"kitescope/internal/words"
)

// Tone is how good the news are. Unknown is neither.
type Tone string

// The tones.
const (
	Neutral Tone = ""
	Good    Tone = "good"
	Warn    Tone = "warn"
	Bad     Tone = "bad"
)

// Page is a page. Its texts may be anybody's: they are made harmless and escaped here; only a Block goes in as it is.
type Page struct {
	// Window is its title in the browser, Headline the conclusion in one sentence.
	Window, Headline string
	Tone             Tone
	// Under says what it is about, and when that was.
	Under []string
	// Facts answer the reader: cause, cure, gain. Commands are what to do, the first one first.
	Facts    []Fact
	Commands []Command
	// FixFirst puts the commands before the facts: where they are a few lines, and not the script of a plan.
	FixFirst bool
	Sections []Section
	// Notes are what one has to know to trust it, and reads last.
	Notes []string
	// Version is kitescope's.
	Version string
}

// Fact is a line of what is known, with who said so, or "".
type Fact struct{ Name, Value, Source string }

// Command is what the reader copies, with a sentence that says what it does. One without Code is a sentence alone.
type Command struct {
	Code string
	// Language is what it is pasted into: "shell" or "python".
	Language string
	Text     string
}

// Section is a part of a page with a heading.
type Section struct {
	Title  string
	Blocks []Block
}

// Add puts a section to the end, unless there is nothing in it.
func (p *Page) Add(title string, blocks ...Block) {
	var all []Block
	for _, b := range blocks {
		if b != "" {
			all = append(all, b)
		}
	}
	if len(all) > 0 {
		p.Sections = append(p.Sections, Section{Title: title, Blocks: all})
	}
}

// Write writes the page.
func Write(w io.Writer, p *Page) error {
	t, err := parsed()
	if err != nil {
		return err
	}
	return t.ExecuteTemplate(w, "page", &view{Page: p, Style: template.CSS(style), Script: template.JS(script), Hash: hash(script)}) //nolint:gosec // both are ours
}

// view is what the template sees.
type view struct {
	*Page
	Style  template.CSS
	Script template.JS
	Hash   string
}

// contents is from how many sections on a page lists them.
const contents = 4

// Contents reports whether the page lists its sections.
func (v *view) Contents() bool { return len(v.Sections) >= contents }

// numbered is a section with the name that links to it use.
type numbered struct {
	Section
	ID string
}

// Numbered are the sections; of those with one title each has a name of its own.
func (v *view) Numbered() []numbered {
	list, seen := make([]numbered, len(v.Sections)), map[string]int{}
	for i, s := range v.Sections {
		id := anchor(s.Title)
		if seen[id]++; seen[id] > 1 {
			id += "-" + strconv.Itoa(seen[id])
		}
		list[i] = numbered{s, id}
	}
	return list
}

// hash is what the policy knows the script by.
func hash(script string) string {
	sum := sha256.Sum256([]byte(script))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// parsed are the templates. What a block wrote goes into others as it is.
var parsed = sync.OnceValues(func() (*template.Template, error) {
	return template.New("").Funcs(template.FuncMap{
		"text": text, "sentence": words.Sentence, "code": code, "raw": func(b Block) template.HTML { return template.HTML(b) }, //nolint:gosec // written by a template that escapes
	}).Parse(blocks)
})

// text is a text of anybody's without what a browser or a terminal obeys.
func text(s any) string {
	switch v := s.(type) {
	case string:
		return words.Harmless(v)
	case Tone:
		return string(v)
	}
	return ""
}

// code is a command as it is pasted: its lines stay.
func code(s string) string { return words.HarmlessLines(strings.TrimRight(s, "\n")) }

// anchor is the name that links to a heading use.
func anchor(title string) string {
	parts := strings.FieldsFunc(strings.ToLower(title), func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') })
	return "s-" + strings.Join(parts, "-")
}

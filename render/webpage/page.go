// Package webpage writes reports as pages to keep, mail and print: a single HTML file that fetches nothing. Its
// input is a Page with a conclusion, facts, sections made of blocks, and notes. Subjects (a diagnosis, a balance,
// a replay) provide the contents, and this package determines appearance and behavior:
//
//  1. The conclusion comes first, followed by facts with the commands to copy, sections with figures, and
//     notes.
//  2. Pages follow the light or dark scheme of the system, and work on screens of at least 375 pixels and on
//     paper. Elements wider than the screen scroll on their own.
//  3. Pages have landmarks, ordered headings, names for scrolling elements, and contrasts according to WCAG 2.1
//     AA. The tool axe-core reports no violations.
//  4. The content security policy (CSP) forbids everything that the page does not contain. The only script
//     copies commands, which are plain text without it.
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

// Tone is the assessment of a conclusion.
type Tone string

// The tones. Neutral includes unknown.
const (
	Neutral Tone = ""
	Good    Tone = "good"
	Warn    Tone = "warn"
	Bad     Tone = "bad"
)

// Page is a page. Its texts can be untrusted because this package escapes them, except Blocks, which are inserted
// verbatim.
type Page struct {
	// Window is the title in the browser, and Headline the conclusion in one sentence.
	Window, Headline string
	Tone             Tone
	// Under describes the subject and the time.
	Under []string
	// Facts are the answer: cause, fix, gain. Commands are the actions to take, in order.
	Facts    []Fact
	Commands []Command
	// FixFirst writes the commands before the facts. It is for a few lines of commands, not for the script of a
	// plan.
	FixFirst bool
	Sections []Section
	// Notes describe how reliable the contents are. They are at the end of the page.
	Notes []string
	// Version is the version of kitescope.
	Version string
}

// Fact is a fact with its source, which can be "".
type Fact struct{ Name, Value, Source string }

// Command is a command to copy and a sentence that explains it. Without Code, it consists of the sentence.
type Command struct {
	Code string
	// Language is "shell" or "python".
	Language string
	Text     string
}

// Section is a part of a page with a heading.
type Section struct {
	Title  string
	Blocks []Block
}

// Add appends a section unless all its blocks are empty.
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
	return t.ExecuteTemplate(w, "page", &view{
		Page: p, Style: template.CSS(style), Script: template.JS(script), Hash: hash(script),
	}) //nolint:gosec // both are ours
}

// view is the data of the page template.
type view struct {
	*Page
	Style  template.CSS
	Script template.JS
	Hash   string
}

// minContents is the minimum number of sections for a table of contents.
const minContents = 4

// Contents reports whether the page has a table of contents.
func (v *view) Contents() bool { return len(v.Sections) >= minContents }

// numbered is a section with its anchor.
type numbered struct {
	Section
	ID string
}

// Numbered returns the sections with unique anchors.
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

// hash returns the source expression for a script in a content security policy.
func hash(script string) string {
	sum := sha256.Sum256([]byte(script))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// parsed parses the templates. Blocks are inserted into other templates verbatim.
var parsed = sync.OnceValues(func() (*template.Template, error) {
	return template.New("").Funcs(template.FuncMap{
		"text": text, "sentence": words.Sentence, "code": code,
		"raw": func(b Block) template.HTML { return template.HTML(b) }, //nolint:gosec // of a template
	}).Parse(blocks)
})

// text escapes characters in untrusted text that a browser or terminal would interpret.
func text(s any) string {
	switch v := s.(type) {
	case string:
		return words.Sanitize(v)
	case Tone:
		return string(v)
	}
	return ""
}

// code escapes a command for pasting and keeps its line breaks.
func code(s string) string { return words.SanitizeLines(strings.TrimRight(s, "\n")) }

// anchor returns the anchor of a heading.
func anchor(title string) string {
	parts := strings.FieldsFunc(strings.ToLower(title), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	})
	return "s-" + strings.Join(parts, "-")
}

// Package faulttest runs the fault library: cases under testdata/faults, each an edit of
// a real capture with what the checks have to say about it, and what they must not.
//
//  1. ParseCase reads a case; testdata/faults/README.md describes the format.
//  2. OpenBase reads a capture: the keys of its etcd, the recorded answers of its processes.
//  3. Case.Play edits a copy of both. Keys then go through package meta, answers through
//     package live, so that checks see what a real cluster would have shown them.
//  4. Case.Judge compares the report with what the case wants.
//
// An edit that changes nothing, or that names what is not there, is an error: a case
// cannot pass because its fault was never put in.
package faulttest

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"kitescope/inspect/check"
)

// Kind is what a case is there for.
type Kind string

// The kinds of cases.
const (
	// Fault: something is broken, and has to be named as the first or second finding.
	Fault Kind = "fault"
	// NearMiss: it looks like a fault and is none.
	NearMiss Kind = "near miss"
	// Healthy: a cluster that is well. Anything of severity warning or above is a false alarm.
	Healthy Kind = "healthy"
	// Blind: facts are missing, and checks have to say so.
	Blind Kind = "blind"
)

// Case is one case of the library.
type Case struct {
	Name string
	// Doc is the comment that the file begins with: what happened, and why it matters.
	Doc  string
	Kind Kind
	Base string
	// Now is how far the judge's clock is ahead of the base's.
	Now   time.Duration
	Edits []Line
	Want  []Want
	// Not and May are findings that must not, and that may appear besides; Unknown are
	// checks that have to be skipped.
	Not, May []Want
	Unknown  []Line
	// Miss says why the checks are known to fail the case, "" if they are not. Such a case
	// counts as missed, and one that passes after all is an error.
	Miss string
}

// Line is one line of a case.
type Line struct {
	Number int
	Text   string
}

func (l Line) errorf(format string, args ...any) error {
	return fmt.Errorf("line %d: "+format, append([]any{l.Number}, args...)...)
}

// Want is an expected, or forbidden, finding.
type Want struct {
	Line  Line
	Check string
	// Object is "resource/id", "" for any.
	Object string
	// Severity is -1 for any.
	Severity int
	// Top: it is the first or second of the findings that the edits brought.
	Top bool
	// Words are parts of the message.
	Words []string
	// Because is the check whose finding it follows from, "nothing" for none, "" for any or none.
	Because string
}

// anyWarning as the check of a forbidden finding means every check: nothing of severity
// warning or above but what is wanted, what follows from it, and what may be.
const anyWarning = "warning"

// ParseCase reads the text of a case.
func ParseCase(name, text string) (*Case, error) {
	c := &Case{Name: name}
	p := caseParser{c: c}
	number := 0
	for line := range strings.Lines(text) {
		number++
		if err := p.line(Line{number, strings.TrimRight(line, " \t\r\n")}); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	if err := p.finish(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return c, nil
}

// caseParser reads the sections of a case one after the other.
type caseParser struct {
	c       *Case
	doc     []string
	section string
	items   []Line
}

func (p *caseParser) line(l Line) error {
	text := strings.TrimSpace(l.Text)
	switch {
	case text == "":
		return nil
	case strings.HasPrefix(text, "#"):
		if p.section == "" {
			p.doc = append(p.doc, strings.TrimSpace(strings.TrimPrefix(text, "#")))
		}
		return nil
	case !strings.HasPrefix(l.Text, " "):
		if err := p.close(); err != nil {
			return err
		}
		section, rest, ok := strings.Cut(text, ":")
		if !ok {
			return l.errorf("%q is no section: a line that is not indented has the form word: text", text)
		}
		p.section, p.items = section, nil
		if rest = strings.TrimSpace(rest); rest != "" {
			p.items = []Line{{l.Number, rest}}
		}
		return nil
	case strings.HasPrefix(l.Text, "    ") && len(p.items) > 0:
		last := &p.items[len(p.items)-1]
		last.Text += " " + text
		return nil
	}
	p.items = append(p.items, Line{l.Number, text})
	return nil
}

// close takes over the section that ends here.
func (p *caseParser) close() (err error) {
	c := p.c
	switch p.section {
	case "":
		if len(p.items) > 0 {
			return p.items[0].errorf("a line before the first section")
		}
	case "kind":
		c.Kind = Kind(p.text())
		if !slices.Contains([]Kind{Fault, NearMiss, Healthy, Blind}, c.Kind) {
			return fmt.Errorf("unknown kind %q", c.Kind)
		}
	case "base":
		c.Base = p.text()
	case "now":
		c.Now, err = time.ParseDuration(strings.TrimPrefix(p.text(), "+"))
	case "miss":
		c.Miss = p.text()
	case "edits":
		c.Edits = append(c.Edits, p.items...)
	case "want":
		c.Want, err = appendWants(c.Want, p.items)
	case "not":
		c.Not, err = appendWants(c.Not, p.items)
	case "may":
		c.May, err = appendWants(c.May, p.items)
	case "unknown":
		c.Unknown = append(c.Unknown, p.items...)
	default:
		return fmt.Errorf("unknown section %q", p.section)
	}
	p.items = nil
	return err
}

func (p *caseParser) text() string {
	var parts []string
	for _, l := range p.items {
		parts = append(parts, l.Text)
	}
	return strings.Join(parts, " ")
}

func (p *caseParser) finish() error {
	if err := p.close(); err != nil {
		return err
	}
	c := p.c
	c.Doc = strings.Join(p.doc, " ")
	tops := 0
	for _, w := range c.Want {
		if w.Top {
			tops++
		}
	}
	switch {
	case c.Doc == "":
		return errors.New("it does not begin with a comment that says what happened")
	case c.Base == "" || c.Kind == "":
		return errors.New("base or kind is missing")
	case c.Kind == Fault && tops == 0:
		return errors.New("a fault without a wanted finding that is marked top")
	case c.Kind == Fault && !slices.ContainsFunc(c.Not, func(w Want) bool { return w.Check == anyWarning }):
		return errors.New("a fault that does not forbid other warnings")
	case c.Kind != Fault && tops > 0:
		return fmt.Errorf("a wanted finding is marked top in a case of kind %s", c.Kind)
	case c.Kind == NearMiss && len(c.Not) == 0:
		return errors.New("a near miss that forbids nothing")
	case c.Kind == Blind && len(c.Unknown) == 0:
		return errors.New("a blind case without a check that has to be unknown")
	case c.Kind == Healthy && (len(c.Want) > 0 || len(c.May) > 0):
		return errors.New("a healthy cluster of which something is wanted")
	}
	if c.Kind == Healthy {
		c.Not = append(c.Not, Want{Check: anyWarning, Severity: -1})
	}
	return nil
}

func appendWants(list []Want, lines []Line) ([]Want, error) {
	for _, l := range lines {
		w, err := parseWant(l)
		if err != nil {
			return nil, err
		}
		list = append(list, w)
	}
	return list, nil
}

// nothing is what a finding follows from that stands for itself.
const nothing = "nothing"

// explained reports whether a finding with this cause follows from what it should.
func (w *Want) explained(cause string) bool {
	switch w.Because {
	case "":
		return true
	case nothing:
		return cause == ""
	}
	return strings.HasPrefix(cause, w.Because+" ")
}

// parseWant reads "CHECK [RESOURCE/ID] [info|warning|error] [top] [because CHECK|nothing] ["words of the message"]...".
func parseWant(l Line) (Want, error) {
	words, err := split(l.Text)
	if err != nil {
		return Want{}, l.errorf("%w", err)
	}
	w := Want{Line: l, Check: words[0].text, Severity: -1}
	for i, word := range words[1:] {
		severity := slices.Index(severities(), word.text)
		switch {
		case words[i].text == "because" && w.Because == "":
			w.Because = word.text
		case word.text == "because" && i+2 < len(words):
		case word.quoted:
			w.Words = append(w.Words, word.text)
		case severity >= 0:
			w.Severity = severity
		case word.text == "top":
			w.Top = true
		case strings.Contains(word.text, "/") && w.Object == "":
			w.Object = word.text
		default:
			return w, l.errorf("%q is no object, severity, top or quoted text", word.text)
		}
	}
	return w, nil
}

func severities() []string {
	return []string{check.Info.String(), check.Warning.String(), check.Error.String()}
}

// word is one word of a line, or a quoted text.
type word struct {
	text   string
	quoted bool
}

// split cuts a line into words at spaces. "..." and `...` keep spaces; a quoted part may
// follow other text directly: a[b]+=`c d`.
func split(text string) ([]word, error) {
	var words []word
	for text = strings.TrimLeft(text, " "); text != ""; text = strings.TrimLeft(text, " ") {
		var w word
		for text != "" && text[0] != ' ' {
			if text[0] != '"' && text[0] != '`' {
				n := strings.IndexAny(text, " \"`")
				if n < 0 {
					n = len(text)
				}
				w.text, text = w.text+text[:n], text[n:]
				continue
			}
			quoted, err := strconv.QuotedPrefix(text)
			if err != nil {
				return nil, fmt.Errorf("a quote in %q does not end", text)
			}
			inner, err := strconv.Unquote(quoted)
			if err != nil {
				return nil, fmt.Errorf("quoted text %s: %w", quoted, err)
			}
			w.quoted = w.text == ""
			w.text, text = w.text+inner, text[len(quoted):]
		}
		words = append(words, w)
	}
	if len(words) == 0 {
		return nil, errors.New("an empty line")
	}
	return words, nil
}

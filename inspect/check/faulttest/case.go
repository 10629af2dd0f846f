// Package faulttest runs the fault library. Each case under testdata/faults edits a real capture and lists
// the findings that checks must report, and those that they must not.
//
//  1. ParseCase reads a case; testdata/faults/README.md describes the format.
//  2. OpenBase reads a capture: its etcd keys and the recorded responses of its processes.
//  3. Case.Play edits a copy of both. Package meta decodes the keys and package live the responses, so checks
//     see the same data as from a real cluster.
//  4. Case.Judge compares the report with the expectations of the case.
//
// An edit that changes nothing, or that names a missing object, is an error. So a case cannot pass because
// its fault was never injected.
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

// Kind is the purpose of a case.
type Kind string

// The kinds of cases.
const (
	// Fault: something is broken. It must be the first or second finding.
	Fault Kind = "fault"
	// NearMiss: it looks like a fault but is not one.
	NearMiss Kind = "near miss"
	// Healthy: a healthy cluster. Every finding of severity warning or above is a false alarm.
	Healthy Kind = "healthy"
	// Blind: facts are missing, and checks must report that.
	Blind Kind = "blind"
)

// Case is one case of the library.
type Case struct {
	Name string
	// Doc is the comment at the start of the file: what happened, and why it matters.
	Doc  string
	Kind Kind
	Base string
	// Now is the time by which the judge's clock is ahead of the base's.
	Now   time.Duration
	Edits []Line
	Want  []Want
	// Forbidden holds findings that must not appear, Allowed those that may appear. Unknown holds checks that must be
	// skipped.
	Forbidden, Allowed []Want
	Unknown            []Line
	// KnownMiss is the reason why the checks are known to fail the case, otherwise "". Such a case counts as
	// missed. If it passes, that is an error.
	KnownMiss string
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
	// Object is "resource/id", or "" for any.
	Object string
	// Severity is -1 for any.
	Severity int
	// Top requires the finding to be the first or second of those that the edits caused.
	Top bool
	// Words holds parts of the message.
	Words []string
	// Cause is the check of the finding that it follows from: "nothing" for none, "" for any or none.
	Cause string
}

// anyWarning as the check of a forbidden finding means every check: no finding of severity warning or above
// except wanted ones, their effects, and allowed ones.
const anyWarning = "warning"

// ParseCase parses the text of a case.
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

// caseParser parses the sections of a case in order.
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

// close stores the section that ends here.
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
		c.KnownMiss = p.text()
	case "edits":
		c.Edits = append(c.Edits, p.items...)
	case "want":
		c.Want, err = appendWants(c.Want, p.items)
	case "not":
		c.Forbidden, err = appendWants(c.Forbidden, p.items)
	case "may":
		c.Allowed, err = appendWants(c.Allowed, p.items)
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
	case c.Kind == Fault && !slices.ContainsFunc(c.Forbidden, func(w Want) bool { return w.Check == anyWarning }):
		return errors.New("a fault that does not forbid other warnings")
	case c.Kind != Fault && tops > 0:
		return fmt.Errorf("a wanted finding is marked top in a case of kind %s", c.Kind)
	case c.Kind == NearMiss && len(c.Forbidden) == 0:
		return errors.New("a near miss that forbids nothing")
	case c.Kind == Blind && len(c.Unknown) == 0:
		return errors.New("a blind case without a check that has to be unknown")
	case c.Kind == Healthy && (len(c.Want) > 0 || len(c.Allowed) > 0):
		return errors.New("a healthy cluster of which something is wanted")
	}
	if c.Kind == Healthy {
		c.Forbidden = append(c.Forbidden, Want{Check: anyWarning, Severity: -1})
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

// noCause is the value of Cause for a finding without a cause.
const noCause = "nothing"

// explained reports whether a finding with this cause meets Cause.
func (w *Want) explained(cause string) bool {
	switch w.Cause {
	case "":
		return true
	case noCause:
		return cause == ""
	}
	return strings.HasPrefix(cause, w.Cause+" ")
}

// parseWant parses "CHECK [RESOURCE/ID] [info|warning|error] [top] [because CHECK|nothing] ["words of the
// message"]...".
func parseWant(l Line) (Want, error) {
	words, err := split(l.Text)
	if err != nil {
		return Want{}, l.errorf("%w", err)
	}
	w := Want{Line: l, Check: words[0].text, Severity: -1}
	for i, word := range words[1:] {
		severity := slices.Index(severities(), word.text)
		switch {
		case words[i].text == "because" && w.Cause == "":
			w.Cause = word.text
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

// word is one word of a line, or one quoted text.
type word struct {
	text   string
	quoted bool
}

// split splits a line into words at spaces. Text in "..." or `...` keeps its spaces. A quoted part may
// directly follow other text: a[b]+=`c d`.
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

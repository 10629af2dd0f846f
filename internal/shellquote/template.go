package shellquote

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Template is a command for a POSIX shell as a person writes it, with places for values: kubectl logs {pod}. What a value is made
// of has no meaning to the shell, whatever it is: it becomes a word, as Word has it. That holds in front of a shell alone. A
// command that gives its words to another one (ssh, sh -c, eval) has them read once more.
type Template struct {
	text   string
	places []place
	// Quoted are names of places that stand between quotation marks, where a value is not put.
	Quoted []string
}

// place is {name} in a text.
type place struct {
	from, to int
	name     string
	// first says that a word begins there, which a command may take for a flag.
	first bool
}

// ParseTemplate reads a command. Where it could not tell for sure whether a place is between quotation marks, it is an error.
func ParseTemplate(text string) (Template, error) {
	s := scanner{text: text}
	for s.at < len(text) {
		if err := s.step(); err != nil {
			return Template{}, err
		}
	}
	if s.quote != 0 {
		return Template{}, fmt.Errorf("the quotation mark %c is not closed", s.quote)
	}
	return Template{text, s.places, s.quoted}, nil
}

// scanner follows the quotation of a command.
type scanner struct {
	text   string
	at     int
	quote  byte // ' or ", 0 outside of them
	places []place
	quoted []string
}

// notTaken are parts of the language within which quotation begins anew, or does not count.
var errNotTaken = errors.New("$(...) between quotation marks, `...`, $'...', ${...} with more than a name, and << are not taken: put them into a script, and run that")

func (s *scanner) step() error {
	c, rest := s.text[s.at], s.text[s.at+1:]
	switch {
	case s.quote == '\'':
		s.inside(c == '\'')
	case c == '\\':
		s.at += min(2, len(s.text)-s.at)
	case c == '`', c == '$' && s.complicated(rest):
		return errNotTaken
	case c == '$' && strings.HasPrefix(rest, "{"):
		s.at += strings.IndexByte(s.text[s.at:], '}') + 1
	case s.quote == '"':
		s.inside(c == '"')
	case c == '\'' || c == '"':
		s.quote = c
		s.at++
	case c == '<' && strings.HasPrefix(rest, "<"):
		return errNotTaken
	case c == '#' && s.begins(): // a comment
		if end := strings.IndexByte(s.text[s.at:], '\n'); end >= 0 {
			s.at += end
		} else {
			s.at = len(s.text)
		}
	default:
		name := placeAt(s.text[s.at:])
		if name == "" {
			s.at++
			return nil
		}
		to := s.at + len(name) + 2
		s.places = append(s.places, place{s.at, to, name, s.begins()})
		s.at = to
	}
	return nil
}

// inside goes on between quotation marks; ends says that this is the last of them.
func (s *scanner) inside(ends bool) {
	if name := placeAt(s.text[s.at:]); name != "" {
		s.quoted = append(s.quoted, name)
	}
	if ends {
		s.quote = 0
	}
	s.at++
}

// complicated reports whether what is behind a dollar sign has a quotation of its own.
func (s *scanner) complicated(rest string) bool {
	switch {
	case strings.HasPrefix(rest, "("):
		return s.quote != 0
	case strings.HasPrefix(rest, "'"), strings.HasPrefix(rest, `"`):
		return s.quote == 0
	case strings.HasPrefix(rest, "{"):
		name, _, closed := strings.Cut(rest[1:], "}")
		return !closed || strings.ContainsFunc(name, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	}
	return false
}

// begins reports whether a word begins here.
func (s *scanner) begins() bool {
	return s.at == 0 || strings.IndexByte(" \t\n;&|()<>", s.text[s.at-1]) >= 0
}

// placeAt is the name of the place that a text begins with, "" if none is there.
func placeAt(text string) string {
	if text[0] != '{' {
		return ""
	}
	name, _, closed := strings.Cut(text[1:], "}")
	if !closed || name == "" || name[0] < 'a' || name[0] > 'z' {
		return ""
	}
	for i := range len(name) {
		if c := name[i]; c != '_' && (c < 'a' || c > 'z') && (c < '0' || c > '9') {
			return ""
		}
	}
	return name
}

// Names are those of the places, in their order.
func (t *Template) Names() []string {
	names := make([]string, 0, len(t.places))
	for _, p := range t.places {
		names = append(names, p.name)
	}
	return names
}

// Fill is the command with the values of its places, and whether one of them had to be quoted. A value with characters that are
// not seen is an error, and one that a command would take for a flag.
func (t *Template) Fill(value func(name string) (string, error)) (command string, quoted bool, err error) {
	var b strings.Builder
	at := 0
	for _, p := range t.places {
		v, err := value(p.name)
		switch {
		case err != nil:
			return "", false, fmt.Errorf("{%s}: %w", p.name, err)
		case !utf8.ValidString(v) || strings.ContainsFunc(v, func(r rune) bool { return !unicode.IsPrint(r) }):
			return "", false, fmt.Errorf("{%s} has characters that are not seen: %s", p.name, Python(v))
		case p.first && strings.HasPrefix(v, "-"):
			return "", false, fmt.Errorf("{%s} would be taken for a flag: %s", p.name, v)
		}
		word := Word(v)
		quoted = quoted || word != v
		b.WriteString(t.text[at:p.from] + word)
		at = p.to
	}
	return b.String() + t.text[at:], quoted, nil
}

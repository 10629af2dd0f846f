package tui

import (
	"slices"
	"strings"

	"kitescope/inspect/view"
	"kitescope/internal/shellquote"
	"kitescope/internal/table"
)

// listing is the state of a table page, for generating the equivalent command line.
type listing struct {
	Resource *view.Resource
	Where    view.Selection
	Filter   *rowFilter
	Order    []table.SortKey
	All      bool
	Wide     bool
}

// Command returns the command line that prints the same table. Texts and regular expressions in the filter have
// no equivalent selector, so they become grep commands.
func (l *listing) Command() string {
	c := shellquote.Shell("get", l.Resource.Name).Arg(l.Where.Words()...)
	var greps strings.Builder
	for i := range l.Filter.terms {
		t := &l.Filter.terms[i]
		if word, ok := t.selector(); ok {
			c = c.Arg(word)
		} else {
			greps.WriteString(" | " + t.grep().String())
		}
	}
	if standard, err := l.Resource.ParseSort(nil); err != nil || !slices.Equal(standard, l.Order) {
		c = c.Flag("--sort=", strings.Join(sortWords(l.Resource, l.Order), ","))
	}
	if l.All {
		c = c.Word("--all")
	}
	if l.Wide {
		c = c.Flag("-o", "wide")
	}
	return c.String() + greps.String()
}

// selector returns a condition in selector syntax. ok is false for texts and regular expressions.
func (t *term) selector() (word string, ok bool) {
	if t.where == nil {
		return "", false
	}
	if !t.negate {
		return t.word, true
	}
	// Longer operators come first, as in the parser of selections.
	for _, x := range [][2]string{
		{"!=", "="}, {">=", "<"}, {"<=", ">"}, {"!~", "~"}, {"=", "!="}, {">", "<="}, {"<", ">="}, {"~", "!~"},
	} {
		at := strings.IndexAny(t.word, "=!<>~")
		if rest, found := strings.CutPrefix(t.word[at:], x[0]); found {
			return t.word[:at] + x[1] + rest, true
		}
	}
	return "", false
}

// grep returns the grep command for a text or a regular expression. Printed cells are separated by blanks, so
// the anchors ^ and $ become blanks or line ends.
func (t *term) grep() shellquote.Command {
	flags := "-i"
	if t.negate {
		flags += "v"
	}
	if t.re == nil {
		return shellquote.Shell("grep", flags+"F").Arg(string(t.text))
	}
	expr := strings.TrimPrefix(t.re.String(), "(?i)")
	if rest, ok := strings.CutPrefix(expr, "^"); ok {
		expr = "(^| )" + rest
	}
	if rest, ok := strings.CutSuffix(expr, "$"); ok && !strings.HasSuffix(rest, "\\") {
		expr = rest + "( |$)"
	}
	if strings.ContainsAny(expr, "\\?") { // \d and the like
		return shellquote.Shell("grep", flags+"P").Arg(expr)
	}
	return shellquote.Shell("grep", flags+"E").Arg(expr)
}

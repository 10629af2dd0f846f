package profiles

import (
	"bytes"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode"

	"kitescope/internal/words"
	"kitescope/profile/flame"
)

// foldedNames are all names in lower case, in one piece: a text is found in all of them by one
// search, which is what keeps a keystroke fast.
type foldedNames struct {
	text  []byte
	start []int // where each name begins; one more for the end
}

func foldNames(names []string) *foldedNames {
	f := &foldedNames{start: make([]int, 0, len(names)+1)}
	for _, name := range names {
		f.start = append(f.start, len(f.text))
		f.text = append(append(f.text, strings.ToLower(name)...), '\n') // no name has a line break: they were cleaned
	}
	f.start = append(f.start, len(f.text))
	return f
}

// find marks the names that a lower-case text occurs in.
func (f *foldedNames) find(text []byte) []bool {
	found := make([]bool, len(f.start)-1)
	for at, i := 0, 0; ; {
		hit := bytes.Index(f.text[at:], text)
		if hit < 0 {
			return found
		}
		for f.start[i+1] <= at+hit {
			i++
		}
		found[i] = true
		at = f.start[i+1]
	}
}

// match marks the names that a regular expression for lower case matches.
func (f *foldedNames) match(re *regexp.Regexp) []bool {
	found := make([]bool, len(f.start)-1)
	for i := range found {
		found[i] = re.Match(f.text[f.start[i] : f.start[i+1]-1])
	}
	return found
}

// flameSearch is what was searched for in a tree, and what was found.
type flameSearch struct {
	text string
	// found says which names match, nil while it is being worked out.
	found []bool
	// frames is how many frames match; share and base are how much of the total of each side lies
	// at or below them, in percent.
	frames      int
	share, base float64
	diff        bool
	note        string // what is wrong with the text as a regular expression
}

// searchPlan is a search as it is run: a text, or a regular expression.
type searchPlan struct {
	text string
	note string
	re   *regexp.Regexp // nil: a plain text
}

// planSearch reads what was typed. What is no regular expression is a text: `(*Server).Search`
// is a name as it stands, and half of an expression is typed on the way to the whole.
func planSearch(text string) searchPlan {
	p := searchPlan{text: text}
	if regexp.QuoteMeta(text) == text {
		return p
	}
	re, err := lowerCase(text)
	if err != nil {
		p.note = "taken as text"
		return p
	}
	p.re = re
	return p
}

// lowerCase is a regular expression that matches the lower case of whatever text matches in any
// case. A fixed text in it is then found by a search for bytes, which is many times faster than
// letter by letter in both cases.
func lowerCase(text string) (*regexp.Regexp, error) {
	tree, err := syntax.Parse(text, syntax.Perl|syntax.FoldCase)
	if err != nil {
		return nil, err
	}
	lowerLiterals(tree)
	return regexp.Compile(tree.String())
}

// lowerLiterals makes texts in an expression lower case. Classes have both cases already.
func lowerLiterals(tree *syntax.Regexp) {
	if tree.Op == syntax.OpLiteral {
		tree.Flags &^= syntax.FoldCase
		for i, r := range tree.Rune {
			tree.Rune[i] = unicode.ToLower(r)
		}
	}
	for _, sub := range tree.Sub {
		lowerLiterals(sub)
	}
}

// run marks the names that match.
func (p *searchPlan) run(x *flameIndex) []bool {
	if p.re == nil {
		return x.folded.find([]byte(strings.ToLower(p.text)))
	}
	return x.folded.match(p.re)
}

// sum counts what was found. A frame below another that matches is in that one's share already.
func (s *flameSearch) sum(t *flame.Tree) {
	s.frames, s.diff = 0, t.Diff
	until, total, base := int32(0), 0.0, 0.0
	for i := 1; i < len(t.Frames); i++ {
		f := &t.Frames[i]
		if !s.found[f.Name] {
			continue
		}
		s.frames++
		if int32(i) >= until {
			total += float64(f.Total)
			base += float64(f.Base)
			until = f.Next
		}
	}
	after, before := wholes(t)
	s.share, s.base = partOf(total, after), partOf(base, before)
}

// partOf is a part of a total in percent, 0 where there is no total.
func partOf(part float64, total int64) float64 {
	if total == 0 {
		return 0
	}
	return 100 * part / float64(total)
}

// summary says how the search went.
func (s *flameSearch) summary() string {
	switch {
	case s.text == "":
		return ""
	case s.found == nil:
		return "searching…"
	}
	text := "not found"
	if s.frames > 0 {
		text = words.Plural(s.frames, "frame") + ", "
		if s.diff {
			text += words.Percent(s.base) + " → "
		}
		text += words.Percent(s.share) + " of all"
	}
	if s.note != "" {
		text += " · " + s.note
	}
	return text
}

// exactly is a regular expression for one name.
func exactly(name string) *regexp.Regexp {
	return regexp.MustCompile(`^` + regexp.QuoteMeta(name) + `$`)
}

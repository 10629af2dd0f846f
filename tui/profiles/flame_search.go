package profiles

import (
	"regexp"

	"kitescope/internal/words"
	"kitescope/profile/flame"
	"kitescope/tui"
)

// flameSearch is what was searched for in a tree, and what was found.
type flameSearch struct {
	text string
	// found are the names that match.
	found []bool
	// frames is how many frames match; share and base are how much of the total of each side lies
	// at or below them, in percent.
	frames      int
	share, base float64
	diff        bool
	note        string // what is wrong with the text as a regular expression
}

// search looks for a text in all graphs of the page, in any case; "" ends the search. A text that is not a regular expression is
// taken as it is: `(*Server).Search` is a name, and half of an expression is typed on the way to the whole.
func (p *flamePage) search(text string) {
	p.searches = [2]flameSearch{}
	if text == "" {
		return
	}
	note := ""
	re, err := regexp.Compile("(?i)" + text)
	if err != nil {
		re, note = regexp.MustCompile("(?i)"+regexp.QuoteMeta(text)), "taken as text"
	}
	for half, g := range p.graphs {
		p.searches[half] = flameSearch{text: text, note: note}
		if g == nil {
			continue
		}
		found := make([]bool, len(g.index.names))
		for i, name := range g.index.names {
			found[i] = re.MatchString(name)
		}
		p.searches[half].found = found
		p.searches[half].sum(g.index.tree)
	}
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
		return ""
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

// indexes are those of the graphs; nil where there is none.
func (p *flamePage) indexes() (x [2]*flameIndex) {
	for half, g := range p.graphs {
		if g != nil {
			x[half] = g.index
		}
	}
	return x
}

// nextMatch goes to the next frame that matches: in this half, else in the other.
func (p *flamePage) nextMatch(m *tui.Model, by int) {
	for _, half := range []int{p.half, 1 - p.half} {
		g, found := p.graphs[half], p.searches[half].found
		if g != nil && found != nil && p.searches[half].frames > 0 && g.nextMatch(found, by) {
			p.half = half
			return
		}
	}
	m.Say(tui.ToneInfo, "/"+p.searches[p.half].text+" "+p.searches[p.half].summary())
}

// searchPrompt searches while it is typed.
func (p *flamePage) searchPrompt() *tui.Prompt {
	return tui.FilterPrompt(p.searches[p.half].text, func(_ *tui.Model, text string) tui.Cmd {
		p.search(text)
		return nil
	}, func(*tui.Model) string { return p.searches[p.half].summary() })
}

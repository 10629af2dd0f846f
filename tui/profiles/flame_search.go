package profiles

import (
	"regexp"

	"kitescope/internal/words"
	"kitescope/profile/flame"
	"kitescope/tui"
)

// flameSearch is a search in a tree and its result.
type flameSearch struct {
	text string
	// found marks the names that match, by their index.
	found []bool
	// frames is the number of matching frames. share and base are the shares of both sides at or below these
	// frames, in percent.
	frames      int
	share, base float64
	diff        bool
	note        string // the error in the text as a regular expression
}

// search searches all graphs of the page for a text, ignoring case; "" ends the search. A text that is not a valid
// regular expression is matched literally, because `(*Server).Search` is a name, and because an expression is
// incomplete while it is typed.
func (p *flamePage) search(text string) {
	p.searches = [2]flameSearch{}
	if text == "" {
		return
	}
	note := ""
	re, err := regexp.Compile("(?i)" + text)
	if err != nil {
		re, note = regexp.MustCompile("(?i)"+regexp.QuoteMeta(text)), "matched as text"
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

// sum adds up the matches. A frame below another match is not counted again, because the outer frame includes it.
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
	after, before := totals(t)
	s.share, s.base = partOf(total, after), partOf(base, before)
}

// partOf returns part as a percentage of total, or 0 if total is 0.
func partOf(part float64, total int64) float64 {
	if total == 0 {
		return 0
	}
	return 100 * part / float64(total)
}

// summary returns the result of the search as text.
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
		text += words.Percent(s.share) + " of total"
	}
	if s.note != "" {
		text += " · " + s.note
	}
	return text
}

// exactRegexp returns a regular expression that matches one name.
func exactRegexp(name string) *regexp.Regexp {
	return regexp.MustCompile(`^` + regexp.QuoteMeta(name) + `$`)
}

// indexes returns the indexes of the graphs, nil for a missing graph.
func (p *flamePage) indexes() (x [2]*flameIndex) {
	for half, g := range p.graphs {
		if g != nil {
			x[half] = g.index
		}
	}
	return x
}

// nextMatch moves to the next frame that matches, in this half or else in the other.
func (p *flamePage) nextMatch(m *tui.Model, by int) {
	for _, half := range []int{p.half, 1 - p.half} {
		g, found := p.graphs[half], p.searches[half].found
		if g != nil && found != nil && p.searches[half].frames > 0 && g.nextMatch(found, by) {
			p.half = half
			return
		}
	}
	m.Notify(tui.ToneInfo, "/"+p.searches[p.half].text+" "+p.searches[p.half].summary())
}

// searchPrompt returns a prompt that searches while the user types.
func (p *flamePage) searchPrompt() *tui.Prompt {
	return tui.FilterPrompt(p.searches[p.half].text, func(_ *tui.Model, text string) tui.Cmd {
		p.search(text)
		return nil
	}, func(*tui.Model) string { return p.searches[p.half].summary() })
}

package tui

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"kitescope/inspect/model"
	"kitescope/inspect/view"
)

// cmd is work that is done off the loop and ends in one message.
type cmd = tea.Cmd

// page is what fills the screen between header and footer. Pages are used on the
// loop only, so they need no locks.
type page interface {
	// scope is the part of the key map that applies.
	scope() scope
	// crumb names the page in the breadcrumbs.
	crumb() string
	// note is what stands at the right of the breadcrumbs: counts, order, filter.
	note(m *Model) string
	// body draws at most h lines of at most w cells.
	body(m *Model, w, h int) []string
	// can says why an action is not possible now, "" if it is.
	can(m *Model, a action) string
	// act performs an action of the page's scope.
	act(m *Model, a action) cmd
	// refresh is called when the page comes to the top and when there is new data:
	// it starts the building of what is out of date.
	refresh(m *Model) cmd
	// command is the command line that prints the same, without the program's part;
	// "" if there is none.
	command(m *Model) string
}

// wheeler is a page that does something with the mouse. Coordinates are relative to its body.
type wheeler interface {
	click(m *Model, x, y int) cmd
	wheel(m *Model, lines int)
}

// subject is a page that has a current object.
type subject interface {
	// object returns what the cursor is on; ok is false if there is nothing.
	object(m *Model) (ref model.Ref, ok bool)
}

// pageMaker is a page that the palette can open by name.
type pageMaker struct {
	name    string
	aliases []string
	doc     string
	open    func(m *Model, words []string) (page, error)
}

// pageMakers lists the pages that are not tables of a resource.
func pageMakers() []pageMaker {
	return []pageMaker{
		{"overview", []string{"home"}, "The cluster at a glance.", newOverviewPage},
		{"tree", []string{"x"}, "A collection with its partitions, vchannels, segments, indexes.", newTreePage},
		{"diff", []string{"changes"}, "What changed since the last refresh, the start or a mark.", newDiffPage},
		{"balance", []string{"b"}, "How evenly query nodes share the work, and what would even it out.", newBalancePage},
		{"findings", []string{"f", "diagnose", "problems"}, "What is wrong, worst first, and what to do.", newFindingsPage},
		{"profiles", []string{"p", "pprof"}, "Profiles: of which processes, and where their time goes.", newProfilesPage},
		{"judge", []string{"pgo"}, "Whether a build with PGO is worth it, by the CPU profiles there are.", openJudgePage},
		{"replay", nil, "A replay: recall, latency, where the time goes, what changes would give.", openReplayPage},
		{"explain", nil, "A check: what it looks at, and what to do.", openExplainPage},
		{"help", []string{"?"}, "Every key.", newHelpPage},
	}
}

// pages are those that have something to show: without a cluster there are only those about profiles.
func (m *Model) pages() []pageMaker {
	return slices.DeleteFunc(pageMakers(), func(p pageMaker) bool {
		switch {
		case p.name == "replay":
			return m.cfg.Replay.empty()
		case m.cfg.view == nil:
			return false
		}
		return !m.aboutProfiles(p.name) || m.cfg.Profiles == nil && (p.name == "profiles" || p.name == "judge")
	})
}

// resources are those that there may be rows of: none without a cluster.
func (m *Model) resources() []*view.Resource {
	if m.cfg.view != nil {
		return nil
	}
	return m.cfg.Resources
}

// open makes the page that a palette line names: a page, or a resource with selector words.
func (m *Model) open(text string) (page, error) {
	words, err := splitWords(text)
	if err != nil {
		return nil, err
	}
	if len(words) == 0 {
		return nil, nil
	}
	name := strings.ToLower(words[0])
	if m.cfg.view != nil && !m.aboutProfiles(name) {
		return nil, errors.New(m.withoutCluster())
	}
	for _, p := range pageMakers() {
		if p.name == name || contains(p.aliases, name) {
			return p.open(m, words[1:])
		}
	}
	if r := m.resource(name); r != nil {
		return newGridPage(r, words[1:])
	}
	if near := m.nearest(name); near != "" {
		return nil, fmt.Errorf("there is no page %q: did you mean %q?", words[0], near)
	}
	return nil, fmt.Errorf("there is no page %q: ? lists the keys, : and tab the pages", words[0])
}

// withoutCluster says why pages about clusters have nothing to show.
func (m *Model) withoutCluster() string {
	switch {
	case m.replayPage() != nil:
		return "there is no cluster here, only a replay"
	case m.cfg.Profiles == nil:
		return "there is no cluster here, only a comparison"
	}
	return noCluster
}

// aboutProfiles reports whether a page needs no cluster, or whether there is none of the name.
func (m *Model) aboutProfiles(name string) bool {
	return name == "judge" || name == "pgo" || name == "profiles" || name == "p" || name == "pprof" || name == "help" || name == "?" || name == "explain" || name == "replay" || m.unknownPage(name)
}

// splitWords splits a line at blanks; quotes keep blanks inside a word.
func splitWords(text string) ([]string, error) {
	var words []string
	var word strings.Builder
	inWord, quote := false, rune(0)
	for _, r := range text {
		switch {
		case quote != 0:
			if r == quote {
				quote = 0
			} else {
				word.WriteRune(r)
			}
		case r == '\'' || r == '"':
			quote, inWord = r, true
		case r == ' ' || r == '\t':
			if inWord {
				words = append(words, word.String())
				word.Reset()
				inWord = false
			}
		default:
			word.WriteRune(r)
			inWord = true
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("a quote %c is not closed", quote)
	}
	if inWord {
		words = append(words, word.String())
	}
	return words, nil
}

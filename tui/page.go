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

// PageKind is a page that the palette opens by name, with all that others have to know of it. The file of the page makes
// it, pageKinds lists it.
type PageKind struct {
	name    string
	aliases []string
	doc     string // for palette and help
	open    func(m *Model, words []string) (page, error)
	// words are what may stand behind the name; nil: nothing that could be completed.
	words func(m *Model) []string
	// bare pages have something to show without a cluster.
	bare bool
	// empty reports whether there is nothing that it could show; nil: it always can.
	empty func(m *Model) bool
	// keys are those that work in it alone: bound in a scope of its own, which stands for "keys work in places".
	keys   []binding
	in     scope
	places string
}

// pageKinds lists the pages that are not tables of a resource: those of a cluster, and others.
func pageKinds(others []PageKind) []PageKind {
	own := []PageKind{overviewKind(), treeKind(), diffKind(), balanceKind(), findingsKind(), checksKind()}
	return slices.Concat(own, others, []PageKind{explainKind(), helpKind()})
}

// kindNamed finds a page by name or alias.
func (m *Model) kindNamed(name string) (k PageKind, ok bool) {
	for _, k := range m.kinds {
		if k.name == name || contains(k.aliases, name) {
			return k, true
		}
	}
	return PageKind{}, false
}

// pages are those that have something to show: without a cluster only some have.
func (m *Model) pages() []PageKind {
	return slices.DeleteFunc(slices.Clone(m.kinds), func(k PageKind) bool {
		return k.empty != nil && k.empty(m) || m.cfg.First != nil && !k.bare
	})
}

// has reports whether a page of a name has something to show.
func (m *Model) has(name string) bool {
	return slices.ContainsFunc(m.pages(), func(k PageKind) bool { return k.name == name })
}

// resources are those that there may be rows of: none without a cluster.
func (m *Model) resources() []*view.Resource {
	if m.cfg.First != nil {
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
	k, isPage := m.kindNamed(name)
	r := m.resource(name)
	switch {
	case m.cfg.First != nil && (isPage && !k.bare || !isPage && r != nil):
		return nil, errors.New(m.withoutCluster())
	case isPage:
		return k.open(m, words[1:])
	case r != nil:
		return newGridPage(r, words[1:])
	}
	if near := m.nearest(name); near != "" {
		return nil, fmt.Errorf("there is no page %q: did you mean %q?", words[0], near)
	}
	return nil, fmt.Errorf("there is no page %q: ? lists the keys, : and tab the pages", words[0])
}

// withoutCluster says why pages about clusters have nothing to show.
func (m *Model) withoutCluster() string { return "there is no cluster here, " + m.cfg.Instead }

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

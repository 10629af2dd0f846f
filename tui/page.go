package tui

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"kitescope/inspect/check"
	"kitescope/inspect/model"
	"kitescope/inspect/view"
	"kitescope/internal/words"
)

// Cmd is work that is done off the loop and ends in one message.
type Cmd = tea.Cmd

// Page is what fills the screen between header and footer. Pages are used on the
// loop only, so they need no locks.
type Page interface {
	// Scope is the part of the key map that applies.
	Scope() Scope
	// Crumb names the page in the breadcrumbs.
	Crumb() string
	// Note is what stands at the right of the breadcrumbs: counts, order, filter.
	Note(m *Model) string
	// Body draws at most h lines of at most w cells.
	Body(m *Model, w, h int) []string
	// Can says why an action is not possible now, "" if it is.
	Can(m *Model, a Action) string
	// Act performs an action of the page's scope.
	Act(m *Model, a Action) Cmd
	// Refresh is called when the page comes to the top and when there is new data:
	// it starts the building of what is out of date.
	Refresh(m *Model) Cmd
	// Command is the command line that prints the same, without the program's part;
	// "" if there is none.
	Command(m *Model) string
}

// Pointer is a page that has a current object.
type Pointer interface {
	// Object returns what the cursor is on; ok is false if there is nothing.
	Object(m *Model) (ref model.Ref, ok bool)
}

// PageKind is a page that the palette opens by name, with all that others have to know of it. The file of the page makes
// it, pageKinds lists it.
type PageKind struct {
	Name    string
	Aliases []string
	Doc     string // for palette and help
	// Args are what may stand behind the name, for its usage: "[COLLECTION]"; "TEXT..." is any number of words.
	Args string
	Open func(m *Model, words []string) (Page, error)
	// Words are what may stand behind the name; nil: nothing that could be completed.
	Words func(m *Model) []string
	// Bare pages have something to show without a cluster.
	Bare bool
	// Checks are those that it has findings of, to be explained.
	Checks []*check.Check
	// Empty reports whether there is nothing that it could show; nil: it always can.
	Empty func(m *Model) bool
	// Keys are those that work in it alone: bound in a scope of its own, which stands for "keys work in places".
	Keys   []Binding
	In     Scope
	Places string
}

// pageKinds lists the pages that are not tables of a resource: those of a cluster, and others.
func pageKinds(others []PageKind) []PageKind {
	own := []PageKind{overviewKind(), treeKind(), diffKind(), findingsKind(), checksKind()}
	return slices.Concat(own, others, []PageKind{explainKind(), helpKind()})
}

// kindNamed finds a page by name or alias.
func (m *Model) kindNamed(name string) (k PageKind, ok bool) {
	for _, k := range m.kinds {
		if k.Name == name || slices.Contains(k.Aliases, name) {
			return k, true
		}
	}
	return PageKind{}, false
}

// pages are those that have something to show: without a cluster only some have.
func (m *Model) pages() []PageKind {
	return slices.DeleteFunc(slices.Clone(m.kinds), func(k PageKind) bool {
		return k.Empty != nil && k.Empty(m) || m.Config.First != nil && !k.Bare
	})
}

// resources are those that there may be rows of: none without a cluster.
func (m *Model) resources() []*view.Resource {
	if m.Config.First != nil {
		return nil
	}
	return m.Config.Resources
}

// open makes the page that a palette line names: a page, or a resource with selector words.
func (m *Model) open(text string) (Page, error) {
	words, err := words.Split(text)
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
	case m.Config.First != nil && (isPage && !k.Bare || !isPage && r != nil):
		return nil, errors.New(m.withoutCluster())
	case isPage && len(words)-1 > len(strings.Fields(k.Args)) && !strings.HasSuffix(k.Args, "..."):
		return nil, fmt.Errorf("usage: :%s", strings.TrimSpace(k.Name+" "+k.Args))
	case isPage:
		return k.Open(m, words[1:])
	case r != nil:
		return newGridPage(r, words[1:])
	}
	if p, err := m.openObject(words); p != nil || err != nil {
		return p, err
	}
	if near := m.nearest(name); near != "" {
		return nil, fmt.Errorf("there is no page or object %q: did you mean %q?", words[0], near)
	}
	return nil, fmt.Errorf("there is no page or object %q: ? lists the keys, : and tab the pages", words[0])
}

// objects are the resources whose rows the palette finds by name, in this order: others have no names of their own.
var objects = []string{"collections", "nodes", "segments", "indexes", "vchannels", "pchannels", "aliases", "databases", "resource-groups", "replicas"}

// openObject opens the description of an object that is called so, nil if there is none.
func (m *Model) openObject(words []string) (Page, error) {
	if m.data.env == nil || len(words) != 1 {
		return nil, nil
	}
	for _, name := range objects {
		r := m.resource(name)
		if r == nil {
			continue
		}
		t := r.Table(m.data.env)
		row, err := view.Lookup(t, words[0])
		if _, many := errors.AsType[*view.AmbiguousError](err); many {
			return newGridPage(r, words)
		}
		if err == nil {
			return newDetailPage(t.Ref(row)), nil
		}
	}
	return nil, nil
}

// describe is ":describe NAME" and ":describe RESOURCE NAME".
func (m *Model) describe(text string) Cmd {
	list := strings.Fields(text)
	switch {
	case m.data.env == nil:
		m.Say(ToneWarn, "no data yet")
		return nil
	case len(list) == 1:
		p, err := m.openObject(list)
		if p == nil && err == nil {
			err = fmt.Errorf("there is no object %q", text)
		}
		return m.opened(p, err)
	case len(list) == 2 && m.resource(list[0]) != nil:
		t := m.resource(list[0]).Table(m.data.env)
		row, err := view.Lookup(t, list[1])
		if err != nil {
			return m.opened(nil, err)
		}
		return m.opened(newDetailPage(t.Ref(row)), nil)
	}
	m.Say(ToneBad, "usage: :describe [RESOURCE] NAME")
	return nil
}

// withoutCluster says why pages about clusters have nothing to show.
func (m *Model) withoutCluster() string { return "there is no cluster here, " + m.Config.Instead }

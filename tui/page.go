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

// Cmd is work that runs outside the event loop and produces one message.
type Cmd = tea.Cmd

// Page is the content of the screen between header and footer. Pages need no locks because only the event loop
// uses them.
type Page interface {
	// Scope returns the part of the key map that applies to the page.
	Scope() Scope
	// Crumb returns the name of the page in the breadcrumbs.
	Crumb() string
	// Note returns the text to the right of the breadcrumbs, e.g. counts, sort order and filter.
	Note(m *Model) string
	// Body draws at most h lines of at most w cells.
	Body(m *Model, w, h int) []string
	// Can returns the reason why an action is unavailable, or "" if it is available.
	Can(m *Model, a Action) string
	// Act performs an action of the page's scope.
	Act(m *Model, a Action) Cmd
	// Refresh starts to rebuild outdated content. It is called when the page becomes the top page and when new
	// data arrives.
	Refresh(m *Model) Cmd
	// Command returns the command line that prints the same content, without the program name, or "" if there
	// is none.
	Command(m *Model) string
}

// Pointer is a page with a current object.
type Pointer interface {
	// Object returns the object under the cursor. ok is false if there is none.
	Object(m *Model) (ref model.Ref, ok bool)
}

// PageKind describes a page that the command palette opens by name. The file of the page defines its kind, and
// pageKinds lists all kinds.
type PageKind struct {
	Name    string
	Aliases []string
	Doc     string // for palette and help
	// Args are the arguments in the usage message, e.g. "[COLLECTION]". "TEXT..." accepts any number of words.
	Args string
	Open func(m *Model, words []string) (Page, error)
	// Words returns the completions of the arguments. Nil means that nothing can be completed.
	Words func(m *Model) []string
	// WithoutCluster reports whether the page works without a cluster.
	WithoutCluster bool
	// Checks are the checks whose findings the page shows. The explain page documents them.
	Checks []*check.Check
	// Empty reports whether the page has nothing to show. Nil means that it always has content.
	Empty func(m *Model) bool
	// Keys are the bindings that work only on this page. In is the scope that they are bound in, and Places
	// names it in "keys work in places".
	Keys   []Binding
	In     Scope
	Places string
}

// pageKinds lists the pages that are not tables of a resource: the pages about clusters, and others.
func pageKinds(others []PageKind) []PageKind {
	own := []PageKind{overviewKind(), treeKind(), diffKind(), findingsKind(), checksKind()}
	return slices.Concat(own, others, []PageKind{explainKind(), helpKind()})
}

// kindNamed returns the page kind with the given name or alias.
func (m *Model) kindNamed(name string) (k PageKind, ok bool) {
	for _, k := range m.kinds {
		if k.Name == name || slices.Contains(k.Aliases, name) {
			return k, true
		}
	}
	return PageKind{}, false
}

// pages returns the page kinds that have content. Without a cluster only bare kinds have content.
func (m *Model) pages() []PageKind {
	return slices.DeleteFunc(slices.Clone(m.kinds), func(k PageKind) bool {
		return k.Empty != nil && k.Empty(m) || m.Config.First != nil && !k.WithoutCluster
	})
}

// resources returns the resources that can have rows: all, or none without a cluster.
func (m *Model) resources() []*view.Resource {
	if m.Config.First != nil {
		return nil
	}
	return m.Config.Resources
}

// open creates the page for a palette line: the name of a page, or a resource with selectors.
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
	case m.Config.First != nil && (isPage && !k.WithoutCluster || !isPage && r != nil):
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
		return nil, fmt.Errorf("no page or object %q: did you mean %q?", words[0], near)
	}
	return nil, fmt.Errorf("no page or object %q: press ? for the keys, : and tab for the pages", words[0])
}

// objects are the resources whose rows the palette finds by name, in order of precedence. Rows of other
// resources have no names.
var objects = []string{
	"collections", "nodes", "segments", "indexes", "vchannels", "pchannels", "aliases", "databases", "resource-groups",
	"replicas",
}

// openObject opens the description of the object with the given name. It returns nil if there is none.
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

// describe runs ":describe NAME" and ":describe RESOURCE NAME".
func (m *Model) describe(text string) Cmd {
	list := strings.Fields(text)
	switch {
	case m.data.env == nil:
		m.Notify(ToneWarn, "no data yet")
		return nil
	case len(list) == 1:
		p, err := m.openObject(list)
		if p == nil && err == nil {
			err = fmt.Errorf("no object %q", text)
		}
		return m.showOpened(p, err)
	case len(list) == 2 && m.resource(list[0]) != nil:
		t := m.resource(list[0]).Table(m.data.env)
		row, err := view.Lookup(t, list[1])
		if err != nil {
			return m.showOpened(nil, err)
		}
		return m.showOpened(newDetailPage(t.Ref(row)), nil)
	}
	m.Notify(ToneBad, "usage: :describe [RESOURCE] NAME")
	return nil
}

// withoutCluster returns the reason why pages about clusters are unavailable.
func (m *Model) withoutCluster() string { return "no cluster here, " + m.Config.Content }

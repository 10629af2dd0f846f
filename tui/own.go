package tui

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"kitescope/inspect/view"
	"kitescope/render"
)

// Cells are the columns of the object that the page on top is at, for programs: a value by the name of a column. ok is false where
// the page is at none.
func Cells(m *Model) (resource string, cell func(column string) (string, error), ok bool) {
	p, isPointer := m.Top().(Pointer)
	if !isPointer || m.data.env == nil {
		return "", nil, false
	}
	ref, ok := p.Object(m)
	if !ok {
		return "", nil, false
	}
	r := m.resource(ref.Resource)
	if r == nil {
		return "", nil, false
	}
	t := r.Table(m.data.rowsEnv())
	row := view.RowOf(t, ref.ID)
	return r.Name, func(column string) (string, error) {
		c := r.Column(column)
		switch {
		case c < 0:
			return "", fmt.Errorf("%s have no such column", r.Name)
		case row < 0:
			return "", errors.New(r.Singular + " " + refName(ref) + " is not there any more")
		}
		return render.Value(t.Cell(row, c), r.Columns[c].Kind)
	}, true
}

// Arrangement is how the table on top looks: its resource, the names of its columns and its order, each where it is not the usual one.
func Arrangement(m *Model) (resource string, columns, order []string, ok bool) {
	g, ok := m.Top().(*gridPage)
	if !ok {
		return "", nil, nil, false
	}
	if g.chosen != nil || g.wide {
		for _, c := range g.columnList() {
			columns = append(columns, g.resource.Columns[c].Name)
		}
	}
	if standard, err := g.resource.ParseSort(nil); err == nil && slices.Equal(standard, g.order) {
		return g.resource.Name, columns, nil, true
	}
	return g.resource.Name, columns, sortWords(g.resource, g.order), true
}

// ThemeName is the theme that is asked for: that of ":theme", else the one that the UI began with.
func ThemeName(m *Model) string { return m.theme }

// Place is the page on top as the palette opens it, "" where it does not.
func Place(m *Model) string {
	if g, ok := m.Top().(*gridPage); ok {
		return g.label
	}
	if p, ok := m.Top().(*findingsPage); ok && p.judged.own != nil {
		return p.judged.own.Name
	}
	if _, ok := m.kindNamed(m.Top().Crumb()); ok {
		return m.Top().Crumb()
	}
	return ""
}

// UseView has tables of a resource begin as the one on top looks now.
func UseView(m *Model) {
	g, ok := m.Top().(*gridPage)
	if !ok {
		return
	}
	views := map[string]View{}
	maps.Copy(views, m.Config.Views)
	v := View{Order: g.order}
	if g.chosen != nil || g.wide {
		v.Columns = g.columnList()
	}
	views[g.resource.Name] = v
	m.Config.Views = views
}

// CheckKeys says what is wrong with keys that a person gives to actions, in a UI with further pages.
func CheckKeys(pages []PageKind, changed map[string][]string) error {
	_, err := newKeys(pageKinds(pages), changed)
	return err
}

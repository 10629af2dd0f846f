package tui

import (
	"strings"

	"kitescope/inspect/model"
	"kitescope/inspect/view"
	"kitescope/internal/table"
	"kitescope/internal/words"
	"kitescope/tui/draw"
)

// Can returns the reason why an action is not possible on the current row, or "" if it is possible.
func (g *gridPage) Can(_ *Model, a Action) string {
	switch a {
	case ActOpen, ActDescribe, ActOwner, ActRelated, ActTree, ActCopyRow, ActSave, ActFilter, ActSortNext,
		ActSortPrevious, ActSort:
		if g.rows.Table == nil {
			return "no data yet"
		}
	}
	if a == ActAll && g.rows.Table != nil && g.rows.HiddenRows == 0 && !g.all {
		return "nothing is hidden"
	}
	row, ok := g.current()
	switch a {
	case ActOpen, ActDescribe, ActOwner, ActRelated, ActTree, ActCopyRow:
		if !ok {
			return "no row selected"
		}
	}
	switch a {
	case ActOwner:
		if _, ok := g.rows.Table.Owner(row); !ok {
			return "a " + g.resource.Singular + " has no owner"
		}
	case ActRelated:
		if len(g.rows.Table.Links(row)) == 0 {
			return "a " + g.resource.Singular + " has no related objects"
		}
	case ActTree:
		if collectionOf(g.rows.Table, row) == 0 {
			return "a " + g.resource.Singular + " belongs to no collection"
		}
	}
	return ""
}

func (g *gridPage) Act(m *Model, a Action) Cmd {
	if g.Move(a, g.rows.Count()) {
		return nil
	}
	switch a {
	case ActOpen:
		return g.open(m)
	case ActDescribe:
		ref, _ := g.Object(m)
		return m.Push(newDetailPage(ref))
	case ActOwner:
		row, _ := g.current()
		owner, _ := g.rows.Table.Owner(row)
		return m.goTo(owner)
	case ActRelated:
		m.Menu = g.related(m)
	case ActTree:
		row, _ := g.current()
		return openTree(m, collectionOf(g.rows.Table, row))
	case ActFilter:
		m.Prompt = g.filterPrompt()
	case ActCopyRow:
		return g.copyRow(m)
	case ActSave:
		m.Menu = saveMenu(g)
	case ActSort:
		m.Menu = g.sortMenu()
	case ActBack:
		return g.back(m)
	default:
		return g.arrange(m, a)
	}
	return nil
}

// arrange changes the order or the columns.
func (g *gridPage) arrange(m *Model, a Action) Cmd {
	switch a {
	case ActWide:
		g.wide = !g.wide
		g.ResetColumns()
		if g.wide {
			m.Notify(ToneInfo, "wide: "+words.Plural(len(g.columnList()), "column")+", → scrolls to hidden ones")
		}
		if g.filtering() {
			return g.rebuild(m, "matching…")
		}
	case ActAll:
		return g.toggleAll(m)
	case ActSortNext, ActSortPrevious:
		return g.sortBy(m, g.neighbour(a))
	}
	return nil
}

// sortMenu offers the visible columns.
func (g *gridPage) sortMenu() *Menu {
	n := &Menu{Title: "sort by"}
	for i, c := range g.columnList() {
		note := ""
		if len(g.order) > 0 && g.order[0].Column == c {
			n.at, note = i, "again: reverse"
		}
		n.Items = append(n.Items, MenuItem{
			Text: g.resource.Columns[c].Label(), Note: note, Run: func(m *Model, _ *Menu) Cmd { return g.sortBy(m, c) },
		})
	}
	return n
}

// neighbour returns the visible column next to the sort column.
func (g *gridPage) neighbour(a Action) int {
	list := g.view().list
	shown := make([]int, 0, len(list))
	for _, p := range g.Placed {
		shown = append(shown, list[p.Column])
	}
	if len(shown) == 0 {
		shown = g.columnList()
	}
	at, step := -1, 1
	if len(g.order) > 0 {
		at = g.order[0].Column
	}
	if a == ActSortPrevious {
		step = -1
	}
	return neighbour(shown, at, step)
}

// sortBy sorts by a column of the resource, or reverses the order if it is already sorted by it. Numbers start with
// the highest, because users look for that.
func (g *gridPage) sortBy(m *Model, column int) Cmd {
	if len(g.order) > 0 && g.order[0].Column == column {
		g.order = []table.SortKey{{Column: column, Descending: !g.order[0].Descending}}
	} else {
		g.order = []table.SortKey{
			{
				Column:     column,
				Descending: g.resource.Columns[column].RightAligned() || g.resource.Columns[column].Ranked,
			},
		}
	}
	return g.request(m, "sorting…", true)
}

// back clears the filter, or leaves the page if there is none.
func (g *gridPage) back(m *Model) Cmd {
	if g.filtering() {
		return g.setFilter(m, "")
	}
	return m.Back()
}

// open follows the first link of the row. It describes the object instead if the row has no link or the link
// leads to no rows.
func (g *gridPage) open(m *Model) Cmd {
	row, _ := g.current()
	links := g.rows.Table.Links(row)
	if len(links) == 0 {
		return g.Act(m, ActDescribe)
	}
	ref := g.rows.Table.Ref(row)
	cmd := followLink(m, links[0], ref)
	if linked, ok := m.Top().(*gridPage); ok && linked != g {
		linked.fallback = &ref
	}
	return cmd
}

// followLink shows the rows that a link of an object leads to.
func followLink(m *Model, l view.Link, from model.Ref) Cmd {
	r := m.resource(l.Resource)
	if r == nil {
		m.Notify(ToneBad, "no page for "+l.Resource)
		return nil
	}
	p, err := newGridPage(r, l.Where)
	if err != nil {
		m.Notify(ToneBad, err.Error())
		return nil
	}
	p.(*gridPage).label = refName(from) + " " + l.Title
	return m.Push(p)
}

// goTo shows an object in the table of its resource.
func (m *Model) goTo(ref model.Ref) Cmd {
	r := m.resource(ref.Resource)
	if r == nil {
		m.Notify(ToneBad, "no page for "+ref.Resource)
		return nil
	}
	p, err := newGridPage(r, nil)
	if err != nil {
		m.Notify(ToneBad, err.Error())
		return nil
	}
	p.(*gridPage).wantID = ref.ID
	return m.Push(p)
}

// related returns a menu with all links of the current row.
func (g *gridPage) related(m *Model) *Menu {
	row, _ := g.current()
	return relatedMenu(m, g.rows.Table, row)
}

func relatedMenu(m *Model, t view.Table, row int) *Menu {
	ref := t.Ref(row)
	n := &Menu{Title: "related to " + draw.Cut(refName(ref), 40)}
	for _, l := range t.Links(row) {
		n.Items = append(n.Items, MenuItem{
			Text: l.Title, Note: strings.Join(l.Where, " "),
			Run: func(m *Model, _ *Menu) Cmd {
				return followLink(m, l, ref)
			},
		})
	}
	if owner, ok := t.Owner(row); ok {
		n.Items = append(n.Items, MenuItem{
			Action: ActOwner, Text: "owner: " + refName(owner), Note: owner.Resource,
			Run: func(m *Model, _ *Menu) Cmd {
				return m.goTo(owner)
			},
		})
	}
	if found := m.findingsAbout(ref); len(found) > 0 {
		n.Items = append(n.Items, MenuItem{
			Action: ActGoFindings, Text: "findings about it",
			Note: words.Number(len(found)), Run: func(m *Model, _ *Menu) Cmd {
				return m.Push(&findingsPage{judged: m.data.judged, object: &ref})
			},
		})
	}
	n.Items = append(n.Items, MenuItem{
		Action: ActDescribe, Text: "describe", Run: func(m *Model, _ *Menu) Cmd { return m.Push(newDetailPage(ref)) },
	})
	return n
}

// refName returns the display name of an object.
func refName(r model.Ref) string {
	if r.Name != "" {
		return words.Sanitize(r.Name)
	}
	return words.Sanitize(r.ID)
}

// collectionOf returns the collection that a row belongs to, 0 if none.
func collectionOf(t view.Table, row int) model.CollectionID {
	r := t.Resource()
	name := "collection_id"
	if r.Name == "collections" {
		name = "id"
	}
	c := r.Column(name)
	if c < 0 {
		return 0
	}
	return model.CollectionID(t.Cell(row, c).Int)
}

package tui

import (
	"slices"
	"strings"

	"kitescope/inspect/model"
	"kitescope/inspect/view"
	"kitescope/tui/draw"
	"kitescope/words"
)

// can says why an action is not possible on the current row, "" if it is.
func (g *gridPage) can(m *Model, a action) string {
	switch a {
	case actOpen, actDescribe, actOwner, actRelated, actTree, actMark, actMarkRange, actCopyRow, actSave, actFilter, actSortNext, actSortPrevious, actSortReverse:
		if g.rows.table == nil {
			return "no data yet"
		}
	default:
	}
	row, ok := g.current()
	switch a {
	case actOpen, actDescribe, actOwner, actRelated, actTree, actMark, actMarkRange, actCopyRow:
		if !ok {
			return "there is no row"
		}
	default:
	}
	switch a {
	case actOwner:
		if _, ok := g.rows.table.Owner(row); !ok {
			return "a " + g.resource.Singular + " belongs to nothing else"
		}
	case actRelated:
		if len(g.rows.table.Links(row)) == 0 {
			return "nothing is related to a " + g.resource.Singular
		}
	case actTree:
		if collectionOf(g.rows.table, row) == 0 {
			return "a " + g.resource.Singular + " belongs to no collection"
		}
	case actCompare:
		if len(g.marks) != 2 {
			return "mark two rows with v first"
		}
	default:
	}
	return ""
}

func (g *gridPage) act(m *Model, a action) cmd {
	if g.move(a, g.rows.count()) {
		return nil
	}
	switch a {
	case actOpen:
		return g.open(m)
	case actDescribe:
		ref, _ := g.object(m)
		return m.push(newDetailPage(ref))
	case actOwner:
		row, _ := g.current()
		owner, _ := g.rows.table.Owner(row)
		return m.goTo(owner)
	case actRelated:
		m.menu = g.related(m)
	case actTree:
		row, _ := g.current()
		return openTree(m, collectionOf(g.rows.table, row))
	case actFilter:
		m.prompt = g.filterPrompt()
	case actMark, actMarkRange:
		g.mark(a)
	case actCompare:
		return m.push(newComparePage(g.markedRefs()))
	case actCopyRow:
		return g.copyRows(m)
	case actSave:
		m.menu = saveMenu(g)
	case actColumns:
		m.menu = g.columnMenu()
	case actBack:
		return g.back(m)
	default:
		return g.arrange(m, a)
	}
	return nil
}

// arrange changes order and columns.
func (g *gridPage) arrange(m *Model, a action) cmd {
	switch a {
	case actWide:
		g.wide, g.chosen = !g.wide, nil
		g.resetColumns()
		if g.wide {
			m.say(toneInfo, "wide: "+words.Plural(len(g.columnList()), "column")+", → scrolls to those without room")
		}
		if g.filtering() {
			return g.rebuild(m, "matching…")
		}
	case actSortReverse:
		if len(g.order) == 0 {
			return g.sortBy(m, g.columnList()[0])
		}
		return g.sortBy(m, g.order[0].Column)
	case actSortNext, actSortPrevious:
		return g.sortBy(m, g.neighbour(a))
	default:
	}
	return nil
}

// neighbour is the column beside the one sorted by, among those that have room.
func (g *gridPage) neighbour(a action) int {
	list := g.columnList()
	shown := make([]int, 0, len(list))
	for _, p := range g.placed {
		shown = append(shown, list[p.column])
	}
	if len(shown) == 0 {
		shown = list
	}
	at, d := -1, 1
	if len(g.order) > 0 {
		at = slices.Index(shown, g.order[0].Column)
	}
	if a == actSortPrevious {
		d = -1
		if at < 0 {
			at = len(shown)
		}
	}
	return shown[(at+d+len(shown))%len(shown)]
}

// sortBy sorts by a column of the resource; once more reverses. Numbers start with the
// highest, as that is what one looks for.
func (g *gridPage) sortBy(m *Model, column int) cmd {
	if len(g.order) > 0 && g.order[0].Column == column {
		g.order = []view.SortKey{{Column: column, Descending: !g.order[0].Descending}}
	} else {
		g.order = []view.SortKey{{Column: column, Descending: rightAligned(g.resource.Columns[column].Kind)}}
	}
	return g.request(m, "sorting…", true)
}

// back takes one thing away: the filter, the marks, then the page.
func (g *gridPage) back(m *Model) cmd {
	switch {
	case g.filtering():
		return g.setFilter(m, "")
	case len(g.marks) > 0:
		clear(g.marks)
		return nil
	}
	return m.back()
}

// open follows the first link, or describes where there is none.
func (g *gridPage) open(m *Model) cmd {
	row, _ := g.current()
	links := g.rows.table.Links(row)
	if len(links) == 0 {
		return g.act(m, actDescribe)
	}
	return followLink(m, links[0], g.rows.table.Ref(row))
}

// followLink shows the rows that a link of an object leads to.
func followLink(m *Model, l view.Link, from model.Ref) cmd {
	r := m.resource(l.Resource)
	if r == nil {
		m.say(toneBad, "there is no page for "+l.Resource)
		return nil
	}
	p, err := newGridPage(r, l.Where)
	if err != nil {
		m.say(toneBad, err.Error())
		return nil
	}
	p.(*gridPage).label = refName(from) + " " + l.Title
	return m.push(p)
}

// goTo shows an object in the table of its resource.
func (m *Model) goTo(ref model.Ref) cmd {
	r := m.resource(ref.Resource)
	if r == nil {
		m.say(toneBad, "there is no page for "+ref.Resource)
		return nil
	}
	p, err := newGridPage(r, nil)
	if err != nil {
		m.say(toneBad, err.Error())
		return nil
	}
	p.(*gridPage).want = ref.ID
	return m.push(p)
}

// related is the menu of everything that the current row leads to.
func (g *gridPage) related(m *Model) *menu {
	row, _ := g.current()
	return relatedMenu(m, g.rows.table, row)
}

func relatedMenu(m *Model, t view.Table, row int) *menu {
	ref := t.Ref(row)
	n := &menu{title: "related to " + draw.Cut(refName(ref), 40)}
	for i, l := range t.Links(row) {
		n.items = append(n.items, menuItem{key: digit(i), text: l.Title, note: strings.Join(l.Where, " "), run: func(m *Model, _ *menu) cmd {
			return followLink(m, l, ref)
		}})
	}
	if owner, ok := t.Owner(row); ok {
		n.items = append(n.items, menuItem{key: "o", text: "owner: " + refName(owner), note: owner.Resource, run: func(m *Model, _ *menu) cmd {
			return m.goTo(owner)
		}})
	}
	if found := m.about(ref); len(found) > 0 {
		n.items = append(n.items, menuItem{key: "f", text: "findings about it", note: words.Number(len(found)), run: func(m *Model, _ *menu) cmd {
			return m.push(&findingsPage{of: &ref})
		}})
	}
	n.items = append(n.items, menuItem{key: "d", text: "describe", run: func(m *Model, _ *menu) cmd { return m.push(newDetailPage(ref)) }})
	return n
}

func digit(i int) string {
	if i > 8 {
		return ""
	}
	return string(rune('1' + i))
}

// refName is what people call an object.
func refName(r model.Ref) string {
	if r.Name != "" {
		return words.Harmless(r.Name)
	}
	return words.Harmless(r.ID)
}

// collectionOf is the collection that a row belongs to, 0 if none.
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

// mark marks the current row, or all from the last mark to it.
func (g *gridPage) mark(a action) {
	from := g.cursor
	if a == actMarkRange && g.lastMark >= 0 && g.lastMark < g.rows.count() {
		from = g.lastMark
	}
	for i := min(from, g.cursor); i <= max(from, g.cursor); i++ {
		ref := g.rows.table.Ref(g.rows.row(i))
		if _, ok := g.marks[ref.ID]; ok && a == actMark {
			delete(g.marks, ref.ID)
		} else {
			g.marks[ref.ID] = ref
		}
	}
	g.lastMark = g.cursor
	if a == actMark {
		g.move(actDown, g.rows.count())
	}
}

// markedRefs are the marked objects, by id.
func (g *gridPage) markedRefs() []model.Ref {
	refs := make([]model.Ref, 0, len(g.marks))
	for _, r := range g.marks {
		refs = append(refs, r)
	}
	slices.SortFunc(refs, func(a, b model.Ref) int { return strings.Compare(a.ID, b.ID) })
	return refs
}

// columnMenu switches single columns on and off.
func (g *gridPage) columnMenu() *menu {
	n := &menu{title: "columns of " + g.resource.Name, stay: true}
	for c := range g.resource.Columns {
		n.items = append(n.items, menuItem{run: func(m *Model, n *menu) cmd { return g.toggleColumn(m, n, c) }})
	}
	g.labelColumns(n)
	return n
}

func (g *gridPage) labelColumns(n *menu) {
	shown := g.columnList()
	for c := range n.items {
		box := "[ ] "
		if slices.Contains(shown, c) {
			box = "[x] "
		}
		n.items[c].text = box + g.resource.Columns[c].Name
	}
}

func (g *gridPage) toggleColumn(m *Model, n *menu, c int) cmd {
	list := slices.Clone(g.columnList())
	if i := slices.Index(list, c); i >= 0 {
		if len(list) == 1 {
			m.say(toneWarn, "one column has to stay")
			return nil
		}
		list = slices.Delete(list, i, i+1)
	} else {
		list = append(list, c)
		slices.Sort(list)
	}
	g.chosen = list
	g.resetColumns()
	g.labelColumns(n)
	return nil
}

package tui

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"kitescope/inspect/model"
	"kitescope/inspect/view"
	"kitescope/internal/table"
	"kitescope/internal/words"
	"kitescope/tui/draw"
)

// gridPage is the table of a resource.
type gridPage struct {
	tableView
	resource *view.Resource
	where    view.Selection
	label    string // in the breadcrumbs

	order []table.SortKey // empty for the order of the model
	all   bool            // include all rows, e.g. dropped ones
	wide  bool

	filter rowFilter
	// widestAll and statsAll are the column widths and texts before filtering.
	widestAll []int
	statsAll  []columnStats
	rows      gridRows // the visible rows

	serial   atomic.Int64 // counts builds; an outdated build stops early and its result is dropped
	building bool         // a refresh waits for the build in flight, so that refreshes cannot starve it
	busy     string       // description of the background work, or ""
	wantID   string       // id to move the cursor to once it is present
	fallback *model.Ref   // the object to describe if the page has no rows
	err      error        // error of the filter as typed or of the selection
}

func newGridPage(r *view.Resource, words []string) (Page, error) {
	where, err := view.ParseSelection(r, words)
	if err != nil {
		return nil, err
	}
	g := &gridPage{resource: r, where: where, tableView: tableView{sameFirst: true}}
	if g.order, err = r.ParseSort(nil); err != nil {
		return nil, err
	}
	g.label = strings.Join(append([]string{r.Name}, words...), " ")
	return g, nil
}

func (g *gridPage) Scope() Scope  { return InGrid }
func (g *gridPage) Crumb() string { return g.label }

// columnList returns the indexes of the visible columns in the resource, before columns are hidden for lack of
// room.
func (g *gridPage) columnList() []int {
	if g.wide {
		return g.resource.ColumnsFor(table.Wide, g.knownParts())
	}
	return g.resource.ColumnsFor(table.Always, g.knownParts())
}

// Note returns the position, counts, sort order, filter and hidden columns.
func (g *gridPage) Note(m *Model) string {
	var parts []string
	n, all := g.rows.Count(), g.rows.Total
	switch {
	case g.rows.Table == nil:
	case n < all || g.filtering():
		parts = append(parts, fmt.Sprintf("%s of %s", words.Number(n), words.Number(all)))
	default:
		parts = append(parts, words.Number(n))
	}
	if n > 0 && m.Width >= 80 {
		parts[0] = "row " + words.Number(g.Cursor+1) + " / " + parts[0]
	}
	if len(g.order) > 0 {
		arrow := "↑"
		if g.order[0].Descending {
			arrow = "↓"
		}
		parts = append(parts, "sort "+g.resource.Columns[g.order[0].Column].Label()+" "+arrow)
	}
	if g.filtering() && (m.Prompt == nil || m.Prompt.Sign != "/") {
		parts = append(parts, "/"+g.filter.Text)
	}
	parts = append(parts, g.hiddenRowsNote(m)...)
	if g.busy != "" {
		parts = append(parts, g.busy)
	} else if g.Hidden > 0 {
		parts = append(parts,
			hiddenNote(&g.tableView, g.view().columns(), m.Width-draw.Width(strings.Join(parts, " · "))))
	}
	return strings.Join(words.NonEmpty(parts), " · ")
}

func (g *gridPage) filtering() bool { return !g.filter.Empty() }

func (g *gridPage) Body(m *Model, w, h int) []string {
	if g.rows.Table == nil {
		return g.placeholder(m, w, h)
	}
	if g.rows.Count() == 0 {
		lines := g.lines(m, w, h)
		return append(append(lines, ""), draw.Sentence(m.Styles, g.emptyReason(), w)...)
	}
	return g.lines(m, w, h)
}

func (g *gridPage) lines(m *Model, w, h int) []string {
	v := g.view()
	g.fixed = m.Prompt != nil && m.Prompt.Sign == "/" // keep the columns while a filter is typed
	return g.draw(m.Styles, v, v.sorted(), w, h)
}

// placeholder draws the page before the first rows arrive.
func (g *gridPage) placeholder(m *Model, w, h int) []string {
	lines := g.lines(m, w, h)
	text := "…"
	if g.err != nil {
		text = g.err.Error()
	}
	return append(append(lines, ""), draw.Sentence(m.Styles, words.Sanitize(words.OneLine(text)), w)...)
}

// emptyReason returns the reason why the page has no rows.
func (g *gridPage) emptyReason() string {
	switch {
	case !g.rows.Env.Cluster.Loaded.Has(g.resource.Needs):
		return "unknown: this part of the metadata was not read"
	case g.filtering() && g.busy != "":
		return g.busy
	case g.filtering():
		return fmt.Sprintf("no %s of %s match %q; esc clears the filter", g.resource.Name, words.Number(g.rows.Total),
			g.filter.Text)
	case !g.where.Empty():
		return fmt.Sprintf("no %s with %s", g.resource.Name, strings.Join(g.where.Words(), " "))
	case g.resource.Keyspace && g.rows.Env.Cluster.Keyspace == nil:
		return "the records were not kept in this session"
	}
	if lacking := view.MissingReasons(g.resource, g.rows.Env); len(lacking) > 0 {
		return "none in the data that was read: " + lacking[0]
	}
	return "none · " + words.LowerFirst(g.resource.Doc)
}

// gridView adapts a gridPage to the table.
type gridView struct {
	*gridPage
	list []int // visible columns, cached: computing them costs more than formatting a cell
}

func (g *gridPage) view() gridView { return gridView{g, g.columnList()} }

// sorted returns the position of the first sort column among the visible columns.
func (v gridView) sorted() SortMark {
	if len(v.order) == 0 {
		return SortMark{Column: -1}
	}
	at := slices.Index(v.list, v.order[0].Column)
	return SortMark{at, v.order[0].Descending}
}

func (v gridView) rows() int { return v.gridPage.rows.Count() }

func (v gridView) columns() []table.Column {
	cols := make([]table.Column, len(v.list))
	for i, at := range v.list {
		cols[i] = v.resource.Columns[at]
	}
	return cols
}

func (v gridView) text(i, j int) string {
	at := v.list[j]
	t, row := v.gridPage.rows.Table, v.gridPage.rows.Row(i)
	return draw.ShownText(&v.resource.Columns[at], t.Cell(row, at))
}

func (v gridView) look(i int) RowLook {
	r := &v.gridPage.rows
	row := r.Row(i)
	look := RowLook{Dim: isGone(r.Table, row)}
	judged := r.Env.Judgement.HasFindings(v.resource.Name)
	if !judged && r.Changes == nil {
		return look
	}
	ref := r.Table.Ref(row)
	id := ref.ID
	if judged {
		look.Findings = r.Env.Judgement.Tally(ref)
	}
	if r.Changes != nil {
		look.Change = r.Changes(row, id)
	}
	return look
}

// isGone reports whether the row is a dropped object. Such rows are dim.
func isGone(t view.Table, row int) bool {
	c := t.Resource().Column("state")
	if c < 0 {
		return false
	}
	switch t.Cell(row, c).Text {
	case "Dropped", "Dropping", "NotExist":
		return true
	}
	return false
}

// Refresh rebuilds the rows if the data is newer.
func (g *gridPage) Refresh(m *Model) Cmd {
	if m.data.cluster == nil || g.building {
		return nil
	}
	was, now := g.rows.Env, m.data.rowsEnv()
	if was == nil || was.Cluster != now.Cluster || view.FindingsChanged(was, now, g.resource.Name) {
		return g.rebuild(m, "")
	}
	if was.Now.Equal(now.Now) || !hasAges(g.resource) {
		return nil
	}
	return g.rebuild(m, "")
}

func hasAges(r *view.Resource) bool {
	return slices.ContainsFunc(r.Columns, func(c table.Column) bool { return c.Kind == table.Duration })
}

// rebuild starts a build with the current settings of the page. The old rows stay until it is done.
func (g *gridPage) rebuild(m *Model, busy string) Cmd { return g.request(m, busy, false) }

func (g *gridPage) request(m *Model, busy string, toTop bool) Cmd {
	if m.data.cluster == nil {
		return nil
	}
	return build(g.query(m, busy, toTop))
}

func (g *gridPage) query(m *Model, busy string, toTop bool) gridQuery {
	g.busy, g.building = busy, true
	serial := g.serial.Add(1)
	q := gridQuery{page: g, serial: serial, toTop: toTop, rowQuery: rowQuery{
		Stale: func() bool { return g.serial.Load() != serial },
		Env:   m.data.rowsEnv(), Resource: g.resource, Where: g.where, All: g.all,
		Order: g.order, Filter: g.filter, Columns: g.columnList(), CursorAt: g.Cursor, CursorID: g.wantID, Keep: g.rows,
	}}
	if ref, ok := g.Object(m); ok && g.wantID == "" {
		q.CursorID = ref.ID
	}
	if m.data.previous != nil {
		// Both use the same time for ages and the same findings.
		q.Previous = &view.Env{Cluster: m.data.previous, Now: m.data.env.Now, Judgement: q.Env.Judgement}
	}
	return q
}

// Object returns the object under the cursor.
func (g *gridPage) Object(*Model) (model.Ref, bool) {
	row, ok := g.current()
	if !ok {
		return model.Ref{}, false
	}
	return g.rows.Table.Ref(row), true
}

// current returns the row of the table under the cursor.
func (g *gridPage) current() (row int, ok bool) {
	if g.rows.Table == nil || g.Cursor >= g.rows.Count() {
		return 0, false
	}
	return g.rows.Row(g.Cursor), true
}

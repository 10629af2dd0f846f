package tui

import (
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"kitescope/inspect/view"
)

// profilesPage lists the profiles that there are, and those that are being pulled.
type profilesPage struct {
	table
	marks []string // keys of rows, in the order in which they were marked
	text  string   // rows in which it occurs, in lower case
	list  []profileRow
}

// profileRow is one profile, several of a kind together, or the pull from a process.
type profileRow struct {
	key     string
	name    string
	role    string
	entries []*profileEntry
	sum     *profileSummary // nil: not read yet
	step    *PullProgress
	others  float64 // cores of the others of the role, where this one idles; else 0
}

func newProfilesPage(m *Model, _ []string) (page, error) {
	if m.cfg.Profiles == nil {
		return nil, errors.New(noProfiles)
	}
	p := &profilesPage{}
	p.choose(m)
	return p, nil
}

const noProfiles = "there are no profiles here: open a live cluster, or a bundle or a folder that has some"

func (p *profilesPage) scope() scope          { return inProfiles }
func (p *profilesPage) crumb() string         { return "profiles" }
func (p *profilesPage) command(*Model) string { return "" }

func (p *profilesPage) note(m *Model) string {
	d := &m.profiles
	var parts []string
	if d.pull != nil {
		done := 0
		for i := range d.pull.progress {
			if d.pull.progress[i].Done {
				done++
			}
		}
		parts = append(parts, "pulling "+d.pull.window.String()+", "+number(done)+" of "+number(len(d.pull.progress))+" done, esc cancels")
	}
	if d.listed {
		parts = append(parts, plural(len(d.entries), "profile"))
	}
	if len(p.marks) > 0 {
		parts = append(parts, number(len(p.marks))+" marked")
	}
	if p.text != "" {
		parts = append(parts, "/"+p.text)
	}
	return strings.Join(parts, " · ")
}

func (p *profilesPage) refresh(m *Model) cmd {
	p.choose(m)
	return m.listProfiles()
}

// choose makes the rows: a pull that is under way, then each batch, several of a kind together
// before the single ones. The cursor stays on its row.
func (p *profilesPage) choose(m *Model) {
	key := ""
	if p.cursor < len(p.list) {
		key = p.list[p.cursor].key
	}
	p.list = p.list[:0]
	if pull := m.profiles.pull; pull != nil {
		for i := range pull.progress {
			step := &pull.progress[i]
			p.list = append(p.list, profileRow{key: "pull " + step.Node, name: clean(step.Node), role: clean(step.Role), step: step})
		}
	}
	entries := m.profiles.entries
	for from := 0; from < len(entries); {
		to := from + 1
		for to < len(entries) && entries[to].batch == entries[from].batch && entries[to].item.Kind == entries[from].item.Kind {
			to++
		}
		p.list = append(p.list, rowsOf(entries[from:to])...)
		from = to
	}
	if p.text != "" {
		p.list = slices.DeleteFunc(p.list, func(r profileRow) bool { return !strings.Contains(strings.ToLower(r.words()), p.text) })
	}
	if i := slices.IndexFunc(p.list, func(r profileRow) bool { return r.key == key }); i >= 0 {
		p.cursor = i
	}
	p.clamp(len(p.list))
}

// rowsOf are the rows of profiles of one kind that came together.
func rowsOf(entries []*profileEntry) []profileRow {
	var rows []profileRow
	good := slices.DeleteFunc(slices.Clone(entries), func(e *profileEntry) bool { return e.item.Err != "" })
	tag := func(e *profileEntry) string { return strconv.Itoa(e.batch) + " " + e.item.Kind }
	if len(good) > 1 {
		noun := "profiles"
		if good[0].item.Node != "" {
			noun = "processes"
		}
		rows = append(rows, profileRow{key: tag(good[0]) + " all", name: "all " + number(len(good)) + " " + noun, entries: good, sum: mergeSummaries(good)})
	}
	for from := 0; from < len(good); {
		to := from + 1
		for to < len(good) && good[to].item.Role == good[from].item.Role {
			to++
		}
		if role := good[from].item.Role; to-from > 1 && to-from < len(good) && role != "" {
			part := good[from:to]
			rows = append(rows, profileRow{key: tag(part[0]) + " role " + role, name: "all " + plural(len(part), clean(role)), role: clean(role), entries: part, sum: mergeSummaries(part)})
		}
		from = to
	}
	others := idlers(good)
	for i, e := range entries {
		key := tag(e) + " " + e.item.Role + " " + e.item.Node + " " + e.item.Name + " " + strconv.Itoa(i)
		rows = append(rows, profileRow{key: key, name: clean(e.item.title()), role: clean(e.item.Role), entries: entries[i : i+1], sum: e.sum, others: others[e]})
	}
	return rows
}

// idlers are the processes that do next to nothing while the others of their role work, with the
// cores that those keep busy on average.
func idlers(entries []*profileEntry) map[*profileEntry]float64 {
	const (
		working = 0.05 // cores that are worth a word
		little  = 0.1  // of what the others do
	)
	type role struct {
		cores float64
		count int
	}
	roles := map[string]role{}
	for _, e := range entries {
		if e.sum != nil && e.item.Role != "" && e.sum.cores() >= 0 {
			r := roles[e.item.Role]
			roles[e.item.Role] = role{r.cores + e.sum.cores(), r.count + 1}
		}
	}
	found := map[*profileEntry]float64{}
	for _, e := range entries {
		r := roles[e.item.Role]
		if e.sum == nil || r.count < 2 || !(e.sum.cores() >= 0) {
			continue
		}
		if mean := (r.cores - e.sum.cores()) / float64(r.count-1); mean >= working && e.sum.cores() < little*mean {
			found[e] = mean
		}
	}
	return found
}

// words are what a filter looks in.
func (r *profileRow) words() string {
	kind := ""
	if len(r.entries) > 0 {
		kind = r.entries[0].item.Kind
	}
	return r.name + " " + r.role + " " + kind + " " + r.remark()
}

// remark is the last cell: what the time went to, or why that is not known.
func (r *profileRow) remark() string {
	switch {
	case r.step != nil && r.step.Err != "":
		return "✖ " + clean(oneLine(r.step.Err))
	case r.step != nil && r.step.Done:
		return "done"
	case r.step != nil:
		return clean(oneLine(r.step.State))
	case r.sum == nil:
		return "…"
	case r.sum.err != "":
		return "✖ " + clean(oneLine(r.sum.err))
	case r.others > 0:
		return "▲ idle, other " + r.role + "s: " + digits(r.others) + " cores"
	case r.sum.total == 0:
		return "no samples"
	}
	return r.sum.top(math.MaxInt)
}

// remarkIn is a remark for w cells. What the time went to gives way from its end, so that no number is cut.
func (r *profileRow) remarkIn(w int) string {
	if r.sum != nil && r.sum.err == "" && r.others == 0 && r.sum.total != 0 {
		return r.sum.top(w)
	}
	return r.remark()
}

func (p *profilesPage) body(m *Model, w, h int) []string {
	d := &m.profiles
	text := ""
	switch {
	case len(p.list) > 0:
	case p.text != "":
		text = "no profile has " + p.text + "; esc clears the filter"
	case d.pull != nil:
		text = "asking the processes…"
	case d.err != nil:
		text = profileTrouble(d.err)
	case !d.listed:
		text = "…"
	default:
		text = "there are no profiles yet: p takes them from all processes"
		if why := m.cfg.Profiles.CanPull(); why != "" {
			text = "there are no profiles, and none can be taken: " + why
		}
	}
	if text != "" {
		return append([]string{""}, sentence(m.st, text, w)...)
	}
	v := profilesView{p, p.shown(w), math.MaxInt}
	lines := p.draw(m.st, v, sortMark{column: -1}, w, h) // it settles how wide the last column is
	if last := p.placed[len(p.placed)-1]; last.column == len(v.cols)-1 {
		v.room = last.width
		lines = p.draw(m.st, v, sortMark{column: -1}, w, h)
	}
	return lines
}

// profilesView is a profilesPage as the table draws it, with so many cells for the last column.
type profilesView struct {
	*profilesPage
	cols []profileColumn
	room int
}

func (v profilesView) rows() int { return len(v.list) }

// profileColumn is a column of the list.
type profileColumn uint8

const (
	listProcess profileColumn = iota
	listRole
	listKind
	listTaken
	listWindow
	listSamples
	listTotal
	listCores
	listClasses
)

func (c profileColumn) head() view.Column {
	return [...]view.Column{
		{Title: "PROCESS", Kind: view.Text},
		{Title: "ROLE", Kind: view.Text, Priority: 5},
		{Title: "KIND", Kind: view.Text, Priority: 1},
		{Title: "TAKEN", Kind: view.Text, Priority: 6},
		{Title: "WINDOW", Kind: view.Duration, Priority: 3},
		{Title: "SAMPLES", Kind: view.Int, Priority: 4},
		{Title: "TOTAL", Kind: view.Int, Priority: 2},
		{Title: "CORES", Kind: view.Int},
		{Title: "WHERE IT GOES", Kind: view.Text},
	}[c]
}

// shown are the columns that say something, and fit: one kind needs no column, and what is no
// processor time has no cores.
func (p *profilesPage) shown(w int) []profileColumn {
	kinds, cores := map[string]bool{}, false
	for i := range p.list {
		if p.list[i].step == nil {
			kinds[kindOf(&p.list[i])] = true
		}
		if s := p.list[i].sum; s != nil {
			c := s.cores()
			cores = cores || c == c // not NaN
		}
	}
	list := []profileColumn{listProcess}
	if w >= wideList {
		list = append(list, listRole)
	}
	if len(kinds) > 1 || w >= wideList {
		list = append(list, listKind)
	}
	if w >= wideList {
		list = append(list, listTaken, listWindow)
	}
	list = append(list, listSamples)
	if w >= wideList || !cores {
		list = append(list, listTotal)
	}
	if cores {
		list = append(list, listCores)
	}
	return append(list, listClasses)
}

// wideList is how many cells a list with all columns needs.
const wideList = 110

func (v profilesView) columns() []view.Column {
	cols := make([]view.Column, len(v.cols))
	for i, c := range v.cols {
		cols[i] = c.head()
	}
	return cols
}

func (v profilesView) text(i, j int) string {
	r := &v.list[i]
	c := v.cols[j]
	switch c {
	case listProcess:
		return r.name
	case listRole:
		return r.role
	case listClasses:
		return r.remarkIn(v.room)
	default:
	}
	switch {
	case r.step != nil:
		return ""
	case c == listKind:
		return kindOf(r)
	case r.sum != nil && r.sum.err != "":
		return "-"
	}
	return r.figure(c)
}

// figure is a number of a profile, "" where there is none to know, "…" until it is known.
func (r *profileRow) figure(c profileColumn) string {
	item := &r.entries[0].item
	start, window := item.Start, item.Window
	if r.sum != nil {
		if start.IsZero() {
			start = r.sum.start
		}
		if r.sum.window > 0 {
			window = r.sum.window
		}
	}
	switch {
	case c == listTaken && !start.IsZero():
		return start.Format("01-02 15:04:05")
	case c == listWindow && window > 0:
		return seconds(window.Seconds())
	case c <= listWindow:
		return "-"
	case r.sum == nil:
		return "…"
	case c == listSamples && r.sum.samples >= 0:
		return groups(r.sum.samples)
	case c == listTotal:
		return amount(r.sum.total, r.sum.unit)
	case c == listCores:
		if n := r.sum.cores(); n == n { // not NaN
			return digits(n)
		}
	}
	return "-"
}

func (v profilesView) look(i int) rowLook {
	r := &v.list[i]
	return rowLook{
		marked: slices.Contains(v.marks, r.key),
		dim:    r.sum != nil && (r.sum.err != "" || r.sum.total == 0),
	}
}

// parseWindow reads seconds, or a duration.
func parseWindow(text string) (time.Duration, error) {
	text = strings.TrimSpace(text)
	if n, err := strconv.ParseFloat(text, 64); err == nil && n > 0 && n <= 3600 {
		return time.Duration(n * float64(time.Second)), nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 || d > time.Hour {
		return 0, errors.New("say for how long, in seconds: 10")
	}
	return d, nil
}

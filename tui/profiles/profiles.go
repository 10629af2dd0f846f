// Package profiles has the UI pages for profiles: the list of profiles, flame graphs, tables of where the time
// goes, callers and callees, judgements of builds with PGO, and comparisons of benchmark results. Pages returns the
// page kinds for a Feed. Run, RunJudgement and RunComparison run the UI on one of the pages.
//
//  1. A library (library.go) holds the list of a Feed, and pulls. The page of all profiles shows it.
//  2. A subject (subject.go) is the set of profiles that a page shows: one or several, merged, and possibly
//     compared with others. It is read once, off the event loop.
//  3. Commands (load.go) make trees, tables and judgements of a subject. A page receives them as messages and
//     draws the visible part.
package profiles

import (
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"kitescope/internal/table"
	"kitescope/internal/words"
	"kitescope/tui"
	"kitescope/tui/draw"
)

// profilesPage lists the available profiles and those that are being pulled.
type profilesPage struct {
	tui.List[*profileRow]
	lib   *library
	marks []string // keys of rows, in the order in which they were marked
	room  int      // cells of the last column
}

// profileRow is a single profile, several merged profiles of the same kind, or the pull from a process.
type profileRow struct {
	key     string
	name    string
	role    string
	entries []*profileEntry
	sum     *profileSummary // nil until it was read
	step    *Progress
	others  float64 // mean cores of the other processes of the role if this one is idle, otherwise 0
}

// Pages returns the pages for the profiles of a feed. feed is nil if profiles are not available.
func Pages(feed Feed) []tui.PageKind {
	lib := &library{feed: feed}
	empty := func(*tui.Model) bool { return feed == nil }
	return []tui.PageKind{
		{
			Name: "profiles", Aliases: []string{"p", "pprof"}, Open: lib.openList,
			Doc:            "Profiles of processes, and where their time goes.",
			WithoutCluster: true, Empty: empty, Keys: profileKeys(),
		},
		{
			Name: "judge", Aliases: []string{"pgo"}, Open: lib.openJudgement,
			Doc:            "Whether a build with PGO is worth it, from the available CPU profiles.",
			WithoutCluster: true, Empty: empty,
		},
	}
}

// openList opens ":profiles".
func (d *library) openList(*tui.Model, []string) (tui.Page, error) {
	if d.feed == nil {
		return nil, errors.New(noProfiles)
	}
	p := &profilesPage{lib: d, room: math.MaxInt}
	p.List = tui.List[*profileRow]{
		Noun: "row", Columns: p.profileColumns, Look: p.look, Words: (*profileRow).words, Open: p.open,
		Key: func(r *profileRow) string { return r.key },
	}
	p.gather()
	return p, nil
}

const noProfiles = "no profiles here: open a live cluster, or a bundle or folder with profiles"

func (p *profilesPage) Scope() tui.Scope          { return tui.InProfiles }
func (p *profilesPage) Crumb() string             { return "profiles" }
func (p *profilesPage) Command(*tui.Model) string { return "" }

func (p *profilesPage) Note(*tui.Model) string {
	d := p.lib
	var parts []string
	if d.pull != nil {
		done := 0
		for i := range d.pull.progress {
			if d.pull.progress[i].Done {
				done++
			}
		}
		parts = append(parts,
			"pulling "+d.pull.window.String()+", "+words.Number(done)+" of "+words.Number(len(d.pull.progress))+
				" done, esc cancels")
	}
	if d.listed {
		parts = append(parts, words.Plural(len(d.entries), "profile"))
	}
	if len(p.marks) > 0 {
		parts = append(parts, words.Number(len(p.marks))+" marked")
	}
	parts = append(parts, tui.FilterNote(p.Filter)...)
	return strings.Join(parts, " · ")
}

func (p *profilesPage) Refresh(m *tui.Model) tui.Cmd {
	p.gather()
	return p.lib.requestList(m)
}

// gather builds the rows: a pull in progress, then each batch, with the rows for several profiles of a kind before
// those for single profiles. The cursor stays on its row.
func (p *profilesPage) gather() {
	var rows []*profileRow
	if pull := p.lib.pull; pull != nil {
		for i := range pull.progress {
			step := &pull.progress[i]
			rows = append(rows, &profileRow{
				key: "pull " + step.Node, name: words.Sanitize(step.Node), role: words.Sanitize(step.Role), step: step,
			})
		}
	}
	entries := p.lib.entries
	for from := 0; from < len(entries); {
		to := from + 1
		for to < len(entries) && entries[to].batch == entries[from].batch &&
			entries[to].item.Kind == entries[from].item.Kind {
			to++
		}
		rows = append(rows, rowsOf(entries[from:to])...)
		from = to
	}
	p.SetRows(rows)
}

// rowsOf returns the rows for the profiles of one kind in one batch.
func rowsOf(entries []*profileEntry) []*profileRow {
	var rows []*profileRow
	good := slices.DeleteFunc(slices.Clone(entries), func(e *profileEntry) bool { return e.item.Err != "" })
	tag := func(e *profileEntry) string { return strconv.Itoa(e.batch) + " " + e.item.Kind }
	if len(good) > 1 {
		noun := "profiles"
		if good[0].item.Node != "" {
			noun = "processes"
		}
		rows = append(rows, &profileRow{
			key: tag(good[0]) + " all", name: "all " + words.Number(len(good)) + " " + noun, entries: good,
			sum: mergeSummaries(good),
		})
	}
	for from := 0; from < len(good); {
		to := from + 1
		for to < len(good) && good[to].item.Role == good[from].item.Role {
			to++
		}
		if role := good[from].item.Role; to-from > 1 && to-from < len(good) && role != "" {
			part := good[from:to]
			rows = append(rows, &profileRow{
				key: tag(part[0]) + " role " + role, name: "all " + words.Plural(len(part), words.Sanitize(role)),
				role: words.Sanitize(role), entries: part, sum: mergeSummaries(part),
			})
		}
		from = to
	}
	others := idleProcesses(good)
	for i, e := range entries {
		key := tag(e) + " " + e.item.Role + " " + e.item.Node + " " + e.item.Name + " " + strconv.Itoa(i)
		rows = append(rows, &profileRow{
			key: key, name: words.Sanitize(e.item.title()), role: words.Sanitize(e.item.Role),
			entries: entries[i : i+1], sum: e.sum, others: others[e],
		})
	}
	return rows
}

// idleProcesses returns the processes that are idle while others of the same role work, each with the mean number of
// cores that the others keep busy.
func idleProcesses(entries []*profileEntry) map[*profileEntry]float64 {
	const (
		working = 0.05 // the least mean number of cores of a busy role
		little  = 0.1  // an idle process uses less than this fraction of the mean
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

// words returns the text that the filter matches.
func (r *profileRow) words() string {
	kind := ""
	if len(r.entries) > 0 {
		kind = r.entries[0].item.Kind
	}
	return r.name + " " + r.role + " " + kind + " " + r.remark()
}

// remark returns the last cell: where the time goes, or the reason why this is unknown.
func (r *profileRow) remark() string {
	switch {
	case r.step != nil && r.step.Err != "":
		return "✖ " + words.Sanitize(words.OneLine(r.step.Err))
	case r.step != nil && r.step.Done:
		return "done"
	case r.step != nil:
		return words.Sanitize(words.OneLine(r.step.State))
	case r.sum == nil:
		return "…"
	case r.sum.err != "":
		return "✖ " + words.Sanitize(words.OneLine(r.sum.err))
	case r.others > 0:
		return "▲ idle, other " + r.role + "s: " + digits(r.others) + " cores"
	case r.sum.total == 0:
		return "no samples"
	}
	return r.sum.top(math.MaxInt)
}

// remarkIn returns a remark for w cells. The list of classes is shortened at the end so that no number is cut.
func (r *profileRow) remarkIn(w int) string {
	if r.sum != nil && r.sum.err == "" && r.others == 0 && r.sum.total != 0 {
		return r.sum.top(w)
	}
	return r.remark()
}

func (p *profilesPage) Body(m *tui.Model, w, h int) []string {
	d := p.lib
	text := ""
	switch {
	case len(p.Shown) > 0:
	case p.Filter != "":
		text = "no profile matches " + p.Filter + "; esc clears the filter"
	case d.pull != nil:
		text = "querying the processes…"
	case d.err != nil:
		text = profileTrouble(d.err)
	case !d.listed:
		text = "…"
	default:
		text = "No profiles yet. Press " + tui.KeyOf(m, tui.ActPull) + " to profile all processes."
		if why := d.feed.CanPull(); why != "" {
			text = "no profiles: " + why
		}
	}
	if text != "" {
		return append([]string{""}, draw.Sentence(m.Styles, text, w)...)
	}
	p.room = math.MaxInt
	lines := p.List.Body(m.Styles, w, h) // computes the width of the last column
	if last := p.Placed[len(p.Placed)-1]; last.Column == len(p.Widest)-1 {
		p.room = last.Width
		lines = p.List.Body(m.Styles, w, h)
		p.room = math.MaxInt
	}
	return lines
}

// profileColumns returns the columns that are useful and fit into w cells. A single kind needs no column, and only
// CPU profiles have cores.
func (p *profilesPage) profileColumns(w int) []tui.Column[*profileRow] {
	kinds, cores := map[string]bool{}, false
	for _, r := range p.Shown {
		if r.step == nil {
			kinds[kindOf(r)] = true
		}
		if r.sum != nil {
			c := r.sum.cores()
			cores = cores || c == c // not NaN
		}
	}
	wide := w >= wideList
	var columns []tui.Column[*profileRow]
	add := func(say bool, title string, kind table.Kind, priority int, text func(r *profileRow) string) {
		if say {
			columns = append(columns, tui.PlainColumn(title, kind, priority, text))
		}
	}
	add(true, "PROCESS", table.Text, 0, func(r *profileRow) string { return r.name })
	add(wide, "ROLE", table.Text, 5, func(r *profileRow) string { return r.role })
	add(len(kinds) > 1 || wide, "KIND", table.Text, 1, kindOf)
	add(wide, "TAKEN", table.Text, 6, readCell(func(r *profileRow) string {
		return textIf(!r.start().IsZero(), r.start().Format("01-02 15:04:05"))
	}))
	add(wide, "WINDOW", table.Duration, 3,
		readCell(func(r *profileRow) string { return textIf(r.window() > 0, seconds(r.window().Seconds())) }))
	add(true, "SAMPLES", table.Int, 4,
		measure(func(s *profileSummary) string { return textIf(s.samples >= 0, words.Number(s.samples)) }))
	add(wide || !cores, "TOTAL", table.Int, 2,
		measure(func(s *profileSummary) string { return amount(s.total, s.unit) }))
	add(cores, "CORES", table.Int, 0, measure(func(s *profileSummary) string {
		n := s.cores()
		return textIf(n == n, digits(n)) // not NaN
	}))
	add(true, "BREAKDOWN", table.Text, 0, func(r *profileRow) string { return r.remarkIn(p.room) })
	return columns
}

// wideList is the width in cells that a list with all columns needs.
const wideList = 110

// readCell returns a cell that is empty while a profile is being pulled, and "-" if it could not be read.
func readCell(text func(r *profileRow) string) func(r *profileRow) string {
	return func(r *profileRow) string {
		switch {
		case r.step != nil:
			return ""
		case r.sum != nil && r.sum.err != "":
			return "-"
		}
		return text(r)
	}
}

// measure returns a cell with a figure of a profile, "…" until the profile was read.
func measure(text func(s *profileSummary) string) func(r *profileRow) string {
	return readCell(func(r *profileRow) string {
		if r.sum == nil {
			return "…"
		}
		return text(r.sum)
	})
}

func textIf(ok bool, text string) string { return draw.NoneIf(text, !ok) }

// start returns the start of a profile, zero if unknown.
func (r *profileRow) start() time.Time {
	if item := &r.entries[0].item; !item.Start.IsZero() || r.sum == nil {
		return item.Start
	}
	return r.sum.start
}

// window returns the duration of a profile, 0 if unknown.
func (r *profileRow) window() time.Duration {
	if r.sum != nil && r.sum.window > 0 {
		return r.sum.window
	}
	return r.entries[0].item.Window
}

func (p *profilesPage) look(r *profileRow) tui.RowLook {
	return tui.RowLook{
		Marked: slices.Contains(p.marks, r.key),
		Dim:    r.sum != nil && (r.sum.err != "" || r.sum.total == 0),
	}
}

// parseWindow parses a number of seconds or a duration, of at most an hour.
func parseWindow(text string) (time.Duration, error) {
	d, err := table.ParseDuration(strings.TrimSpace(text))
	if err != nil || d <= 0 || d > time.Hour {
		return 0, errors.New("enter a duration in seconds, e.g. 10")
	}
	return d, nil
}

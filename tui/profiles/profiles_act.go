package profiles

import (
	"cmp"
	"slices"
	"strings"

	"kitescope/internal/words"
	"kitescope/tui"
)

// selection returns the marked rows in the order in which they were marked, or the row under the cursor if none is
// marked.
func (p *profilesPage) selection() []*profileRow {
	var rows []*profileRow
	for _, key := range p.marks {
		if i := slices.IndexFunc(p.Shown, func(r *profileRow) bool { return r.key == key }); i >= 0 {
			rows = append(rows, p.Shown[i])
		}
	}
	if r, ok := p.Current(); len(rows) == 0 && ok {
		rows = append(rows, r)
	}
	return rows
}

// items returns the profiles of rows, each once, without those that failed.
func items(rows []*profileRow) []Item {
	var list []Item
	seen := map[*profileEntry]bool{}
	for _, r := range rows {
		for _, e := range r.entries {
			if !seen[e] && (e.sum == nil || e.sum.err == "") {
				seen[e] = true
				list = append(list, e.item)
			}
		}
	}
	return list
}

// judgeItems returns the profiles to judge: the marked ones, or all visible CPU profiles if none is marked. It includes
// unreadable profiles, so that the judgement reports them.
func (p *profilesPage) judgeItems() []Item {
	var entries []*profileEntry
	for _, r := range p.Shown {
		if len(p.marks) == 0 || slices.Contains(p.marks, r.key) {
			entries = append(entries, r.entries...)
		}
	}
	return judgedItems(entries, len(p.marks) > 0)
}

// judgedItems returns the profiles of entries, each once: CPU profiles only, unless anyKind is set.
func judgedItems(entries []*profileEntry, anyKind bool) []Item {
	var list []Item
	seen := map[*profileEntry]bool{}
	for _, e := range entries {
		if !seen[e] && (anyKind || e.item.Kind == "cpu") {
			seen[e] = true
			list = append(list, e.item)
		}
	}
	return list
}

func (p *profilesPage) Can(m *tui.Model, a tui.Action) string {
	switch a {
	case tui.ActSave, tui.ActOpen, tui.ActTopTable, tui.ActMark, tui.ActCopyRow:
		return p.canOpen(a)
	case tui.ActCompare:
		if len(p.marks) != 2 || len(p.selection()) != 2 {
			return "mark two rows with " + tui.KeyOf(m, tui.ActMark) + " first; the one marked first is the base"
		}
		if rows := p.selection(); kindOf(rows[0]) != kindOf(rows[1]) {
			return "cannot compare " + kindOf(rows[0]) + " and " + kindOf(rows[1]) + " profiles"
		}
	case tui.ActJudge:
		if len(p.judgeItems()) == 0 {
			if len(p.lib.entries) == 0 {
				if p.lib.feed.CanPull() == "" {
					return "no profiles yet: press " + tui.KeyOf(m, tui.ActPull) + " to profile all processes"
				}
				return "no profiles"
			}
			return "no CPU profile: mark others with " + tui.KeyOf(m, tui.ActMark) + " to judge them anyway"
		}
	case tui.ActPull:
		if p.lib.pull != nil {
			return "profiles are already being pulled: esc cancels"
		}
		return p.lib.feed.CanPull()
	case tui.ActFilter:
		if len(p.All) == 0 && p.Filter == "" {
			return "no rows"
		}
	}
	return ""
}

func kindOf(r *profileRow) string {
	if len(r.entries) == 0 {
		return ""
	}
	return words.Sanitize(r.entries[0].item.Kind)
}

func (p *profilesPage) canOpen(a tui.Action) string {
	r, ok := p.Current()
	switch {
	case !ok:
		return "no row selected"
	case a == tui.ActCopyRow:
	case r.step != nil:
		return "the profile is still being pulled"
	case a != tui.ActMark && len(p.marks) > 0:
		first := ""
		for _, r := range p.selection() {
			if k := kindOf(r); first == "" {
				first = k
			} else if k != first {
				return "cannot merge " + first + " and " + k + " profiles"
			}
		}
	case r.sum != nil && r.sum.err != "":
		return words.Sanitize(words.OneLine(r.sum.err))
	}
	return ""
}

// open shows the flame graph of the marked rows, or of the current row.
func (p *profilesPage) open(m *tui.Model, _ *profileRow) tui.Cmd {
	s := newSubject(items(p.selection()), nil)
	return m.Push(newFlamePage(s, flameQuery{nodes: len(s.items) > 1}))
}

func (p *profilesPage) Act(m *tui.Model, a tui.Action) tui.Cmd {
	switch a {
	case tui.ActBack:
		return p.back(m)
	case tui.ActTopTable:
		s := newSubject(items(p.selection()), nil)
		return m.Push(newTopPage(s, topQuery{}, noFilter()))
	case tui.ActCompare:
		rows := p.selection()
		s := newSubject(items(rows[1:]), items(rows[:1]))
		return m.Push(newFlamePage(s, flameQuery{}))
	case tui.ActJudge:
		return m.Push(newJudgePage(p.judgeItems()))
	case tui.ActSave:
		return saveProfile(m, newSubject(items(p.selection()), nil))
	case tui.ActMark:
		p.mark()
	case tui.ActPull:
		m.Prompt = p.pullPrompt()
	default:
		return p.List.Act(m, a)
	}
	return nil
}

// back undoes one step per call: it cancels a pull, clears the marks, clears the filter, or leaves the page.
func (p *profilesPage) back(m *tui.Model) tui.Cmd {
	switch {
	case p.lib.pull != nil:
		p.lib.stop(m)
		p.gather()
		return nil
	case len(p.marks) > 0:
		p.marks = nil
		return nil
	}
	return p.List.Act(m, tui.ActBack)
}

// mark toggles the mark of a row and moves to the next row.
func (p *profilesPage) mark() {
	r, _ := p.Current()
	key := r.key
	if i := slices.Index(p.marks, key); i >= 0 {
		p.marks = slices.Delete(p.marks, i, i+1)
	} else {
		p.marks = append(p.marks, key)
	}
	p.Move(tui.ActDown, len(p.Shown))
}

// usualWindow is the default window of a pull, in seconds.
const usualWindow = "10"

// pullPrompt returns the prompt for the window of the pull.
func (p *profilesPage) pullPrompt() *tui.Prompt {
	q := &tui.Prompt{
		Sign: "profile all processes for how many seconds? (" + usualWindow + ") ",
		Accepted: func(m *tui.Model, text string) tui.Cmd {
			window, err := parseWindow(cmp.Or(strings.TrimSpace(text), usualWindow))
			if err != nil {
				m.Notify(tui.ToneBad, err.Error())
				return nil
			}
			c := p.lib.start(m, window)
			p.gather()
			return c
		},
		Cancelled: func(*tui.Model) tui.Cmd { return nil },
	}
	return q
}

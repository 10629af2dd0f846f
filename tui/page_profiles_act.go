package tui

import (
	"cmp"
	"slices"
	"strings"

	"kitescope/words"
)

// chosen are the marked rows, in the order in which they were marked, else the one under the cursor.
func (p *profilesPage) chosen() []*profileRow {
	var rows []*profileRow
	for _, key := range p.marks {
		if i := slices.IndexFunc(p.shown, func(r *profileRow) bool { return r.key == key }); i >= 0 {
			rows = append(rows, p.shown[i])
		}
	}
	if r, ok := p.current(); len(rows) == 0 && ok {
		rows = append(rows, r)
	}
	return rows
}

// items are the profiles of rows, each once.
func items(rows []*profileRow) []ProfileItem {
	var list []ProfileItem
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

// judged are the profiles that a judgement is about: those marked, else all of CPU time that are shown.
// One that cannot be read is among them, so that the judgement says so.
func (p *profilesPage) judged() []ProfileItem {
	var entries []*profileEntry
	for _, r := range p.shown {
		if len(p.marks) == 0 || slices.Contains(p.marks, r.key) {
			entries = append(entries, r.entries...)
		}
	}
	return judgedItems(entries, len(p.marks) > 0)
}

// judgedItems are profiles, each once: those of CPU time, or any.
func judgedItems(entries []*profileEntry, anyKind bool) []ProfileItem {
	var list []ProfileItem
	seen := map[*profileEntry]bool{}
	for _, e := range entries {
		if !seen[e] && (anyKind || e.item.Kind == "cpu") {
			seen[e] = true
			list = append(list, e.item)
		}
	}
	return list
}

func (p *profilesPage) can(_ *Model, a action) string {
	switch a {
	case actSave, actOpen, actTopTable, actMark, actCopyRow:
		return p.canOpen(a)
	case actCompare:
		if len(p.marks) != 2 || len(p.chosen()) != 2 {
			return "mark two rows with v first: what is marked first is the base"
		}
		if rows := p.chosen(); kindOf(rows[0]) != kindOf(rows[1]) {
			return "one is a profile of " + kindOf(rows[0]) + ", the other of " + kindOf(rows[1])
		}
	case actJudge:
		if len(p.judged()) == 0 {
			if len(p.lib.entries) == 0 {
				if p.lib.feed.CanPull() == "" {
					return "there are no profiles yet: p takes them"
				}
				return "there are no profiles"
			}
			return "there is no CPU profile: mark with v what is to be judged all the same"
		}
	case actPull:
		if p.lib.pull != nil {
			return "profiles are being pulled already: esc cancels"
		}
		return p.lib.feed.CanPull()
	case actFilter:
		if len(p.all) == 0 && p.filter == "" {
			return "there is no row"
		}
	default:
	}
	return ""
}

func kindOf(r *profileRow) string {
	if len(r.entries) == 0 {
		return ""
	}
	return words.Harmless(r.entries[0].item.Kind)
}

func (p *profilesPage) canOpen(a action) string {
	r, ok := p.current()
	switch {
	case !ok:
		return "there is no row"
	case a == actCopyRow:
	case r.step != nil:
		return "it is being pulled"
	case a != actMark && len(p.marks) > 0:
		first := ""
		for _, r := range p.chosen() {
			if k := kindOf(r); first == "" {
				first = k
			} else if k != first {
				return "profiles of " + first + " and of " + k + " do not add up"
			}
		}
	case r.sum != nil && r.sum.err != "":
		return words.Harmless(words.OneLine(r.sum.err))
	}
	return ""
}

// open shows the flame graph of the marked rows, else of one.
func (p *profilesPage) open(m *Model, _ *profileRow) cmd {
	s := newSubject(items(p.chosen()), nil)
	return m.push(newFlamePage(s, flameQuery{nodes: len(s.items) > 1}))
}

func (p *profilesPage) act(m *Model, a action) cmd {
	switch a {
	case actBack:
		return p.back(m)
	case actTopTable:
		s := newSubject(items(p.chosen()), nil)
		return m.push(newTopPage(s, topQuery{}, noFilter()))
	case actCompare:
		rows := p.chosen()
		s := newSubject(items(rows[1:]), items(rows[:1]))
		return m.push(newFlamePage(s, flameQuery{}))
	case actJudge:
		return m.push(newJudgePage(p.judged()))
	case actSave:
		return saveProfile(m, newSubject(items(p.chosen()), nil))
	case actMark:
		p.mark()
	case actPull:
		m.prompt = p.pullPrompt()
	default:
		return p.list.act(m, a)
	}
	return nil
}

// back cancels a pull, clears marks and filter, and leaves: one after the other.
func (p *profilesPage) back(m *Model) cmd {
	switch {
	case p.lib.pull != nil:
		p.lib.stop(m)
		p.gather()
		return nil
	case len(p.marks) > 0:
		p.marks = nil
		return nil
	}
	return p.list.act(m, actBack)
}

// mark marks a row, or takes the mark away, and goes on to the next.
func (p *profilesPage) mark() {
	r, _ := p.current()
	key := r.key
	if i := slices.Index(p.marks, key); i >= 0 {
		p.marks = slices.Delete(p.marks, i, i+1)
	} else {
		p.marks = append(p.marks, key)
	}
	p.move(actDown, len(p.shown))
}

// usualWindow is how long a pull takes unless something else is typed.
const usualWindow = "10"

// pullPrompt asks for how long processes shall be profiled.
func (p *profilesPage) pullPrompt() *prompt {
	q := &prompt{
		sign: "profile all processes for how many seconds? (" + usualWindow + ") ",
		accepted: func(m *Model, text string) cmd {
			window, err := parseWindow(cmp.Or(strings.TrimSpace(text), usualWindow))
			if err != nil {
				m.say(toneBad, err.Error())
				return nil
			}
			c := p.lib.start(m, window)
			p.gather()
			return c
		},
		cancelled: func(*Model) cmd { return nil },
	}
	return q
}

func (p *profilesPage) click(m *Model, x, y int) cmd { return p.clicked(m, p, x, y) }

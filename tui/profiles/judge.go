package profiles

import (
	"cmp"
	"context"
	"errors"
	"strings"

	tea "charm.land/bubbletea/v2"

	"kitescope/internal/shellquote"
	"kitescope/internal/words"
	"kitescope/profile"
	"kitescope/profile/pgo"
	"kitescope/render/builds"
	"kitescope/tui"
	"kitescope/tui/draw"
)

// judgePage is whether a build with PGO is worth it, by some profiles.
type judgePage struct {
	items []Item   // nil until the list of lib's is there
	lib   *library // nil where the page has its items
	words []string // how a command line names them; nil where none does
	busy  bool
	made  *pgo.Judgement // nil until it is made
	short *pgo.Judgement // the same with short names of its profiles
	names []string       // of its profiles
	err   error
	ascii bool

	edges tui.List[*pgo.HotEdge] // those that are shown; its filter is the page's

	tui.Stops
	lines   []judgeLine
	madeFor int // the width that lines were laid out for
}

// mostHotEdges is how many of the hottest edges a page lists.
const mostHotEdges = 500

// RunJudgement is tui.Run for a judgement of profiles, without a cluster; the page of all its profiles is one key
// away. cfg.Feed must be nil. cfg.Args are the words behind "pgo judge".
func RunJudgement(ctx context.Context, cfg tui.Config, j *pgo.Judgement) error {
	return tui.Run(ctx, judgementConfig(cfg, j))
}

// judgementConfig opens with a judgement.
func judgementConfig(cfg tui.Config, j *pgo.Judgement) tui.Config {
	p := newJudgePage(itemsOf(j))
	p.words = cfg.Args
	p.take(j)
	cfg.First, cfg.Instead = p, onlyProfiles
	cfg.Pages = append(Pages(Files(Set{Items: p.items})), cfg.Pages...)
	return cfg
}

// itemsOf are the profiles of a judgement, in its order.
func itemsOf(j *pgo.Judgement) []Item {
	items := make([]Item, len(j.Profiles))
	for i := range items {
		in := j.Profiles[i].Input
		items[i] = Item{Name: in.Name, Node: in.Node, Kind: "cpu"}
		switch {
		case in.Err != nil:
			items[i].Err = in.Err.Error()
		case in.Profile != nil:
			items[i].Role, items[i].Start, items[i].Window = in.Profile.Origin.Role, in.Profile.Time, in.Profile.Duration
			items[i].Load = func(context.Context) (*profile.Profile, error) { return in.Profile, nil }
		}
	}
	return items
}

// newJudgePage judges profiles.
func newJudgePage(items []Item) *judgePage {
	p := &judgePage{items: items, words: judgeWords(items)}
	p.edges = tui.List[*pgo.HotEdge]{
		Noun: "call", Columns: p.edgeColumns, Sorted: "share",
		Words: func(e *pgo.HotEdge) string { return e.Caller + " " + e.Callee },
	}
	return p
}

// judgeWords name profiles behind "pgo judge", which takes CPU profiles anyway, folds asyncPreempt anyway, and has
// no flags for how samples of other formats are read; nil where that is not possible.
func judgeWords(items []Item) []string {
	words := wordsOf(items)
	var kept []string
	for i := 0; i < len(words); i++ {
		switch words[i] {
		case "--kind":
			if i++; i < len(words) && words[i] != "cpu" {
				return nil
			}
		case "--fold-preempt":
		case "--weight-by", "--column", "--threads":
			return nil
		default:
			kept = append(kept, words[i])
		}
	}
	return kept
}

// openJudgement is ":judge": all CPU profiles that there are.
func (d *library) openJudgement(*tui.Model, []string) (tui.Page, error) {
	if d.feed == nil {
		return nil, errors.New(noProfiles)
	}
	p := newJudgePage(nil)
	p.lib = d
	return p, nil
}

func (p *judgePage) Scope() tui.Scope { return tui.InJudge }

func (p *judgePage) Crumb() string {
	if len(p.items) == 1 {
		return "judge " + draw.Cut(words.Harmless(p.items[0].title()), 40)
	}
	return "judge"
}

func (p *judgePage) Note(*tui.Model) string {
	j := p.made
	if j == nil {
		return ""
	}
	parts := []string{j.Verdict.String(), words.Plural(len(j.Profiles), "profile")}
	parts = append(parts, tui.FilterNote(p.edges.Filter)...)
	return strings.Join(parts, " · ")
}

func (p *judgePage) Command(*tui.Model) string {
	if len(p.words) == 0 {
		return ""
	}
	return shellquote.Shell("pgo", "judge").Word(p.words...).String()
}

func (p *judgePage) Refresh(m *tui.Model) tui.Cmd {
	if p.items == nil {
		if !p.lib.listed {
			return p.lib.ask(m)
		}
		p.items = append([]Item{}, judgedItems(p.lib.entries, false)...)
		p.words = judgeWords(p.items)
	}
	if p.busy || p.made != nil || p.err != nil || len(p.items) == 0 {
		return nil
	}
	p.busy = true
	return judgeProfiles(m, p)
}

// judgeProfiles reads a page's profiles, and judges them.
func judgeProfiles(m *tui.Model, p *judgePage) tui.Cmd {
	items := p.items
	return func() tea.Msg {
		ctx, cancel := m.Context()
		defer cancel()
		made, err := pgo.Judge(ctx, inputsOf(ctx, items), pgo.JudgeOptions{Hot: mostHotEdges})
		return verdictMsg{p, made, err}
	}
}

// inputsOf reads profiles to be judged.
func inputsOf(ctx context.Context, items []Item) []pgo.Input {
	all, errs := loadItems(ctx, items)
	inputs := make([]pgo.Input, len(items))
	for i := range items {
		inputs[i] = pgo.Input{Name: cmp.Or(items[i].Name, items[i].title()), Node: items[i].Node, Profile: all[i], Err: errs[i]}
		if all[i] != nil && len(all[i].Mappings) > 0 {
			inputs[i].BuildID = all[i].Mappings[0].BuildID
		}
	}
	return inputs
}

// verdictMsg brings a judgement that was asked for.
type verdictMsg struct {
	page *judgePage
	made *pgo.Judgement
	err  error
}

func (v verdictMsg) Apply(m *tui.Model) tui.Cmd {
	v.page.busy, v.page.err = false, v.err
	if v.err == nil {
		v.page.take(v.made)
	}
	return v.page.Refresh(m)
}

func (p *judgePage) take(j *pgo.Judgement) {
	p.made, p.short = j, builds.ShortJudgement(j)
	p.names = assessedNames(p.short.Profiles)
	hot := make([]*pgo.HotEdge, len(j.Hot))
	for i := range hot {
		hot[i] = &j.Hot[i]
	}
	p.edges.SetRows(hot)
	p.madeFor = 0
}

func (p *judgePage) Body(m *tui.Model, w, h int) []string {
	p.Height = h
	text := ""
	switch {
	case p.err != nil:
		text = profileTrouble(p.err)
	case p.items == nil && p.lib.err != nil:
		text = profileTrouble(p.lib.err)
	case p.items == nil:
		text = "…"
	case len(p.items) == 0:
		text = "there is no CPU profile: " + tui.KeyOf(m, tui.ActPull) + " on the profiles page takes them, and " + tui.KeyOf(m, tui.ActGoProfiles) + " goes there"
	case p.made == nil:
		text = "judging " + words.Plural(len(p.items), "profile") + "…"
	}
	if text != "" {
		return append([]string{""}, draw.Sentence(m.Styles, text, w)...)
	}
	p.lay(m)
	p.ScrollToEnd(len(p.lines), p.paragraphEnd)
	return p.Draw(m.Styles, len(p.lines), w, func(i int) string { return p.lines[i].text },
		func(i int) string { return p.lines[i].style(m.Styles).On(draw.Cut(p.lines[i].text, w-1)) })
}

// lay lays out what is out of date.
func (p *judgePage) lay(m *tui.Model) {
	if p.made != nil && p.madeFor != m.Width {
		p.ascii = m.Config.ASCII
		p.layOut(m.Width)
		p.GoTo(p.Cursor)
	}
}

// paragraphEnd is behind what belongs to a line.
func (p *judgePage) paragraphEnd(line int) int {
	end := line + 1
	for end < len(p.lines) && p.lines[end].text != "" && p.lines[end].part == ofParagraph {
		end++
	}
	return end
}

// current is the line under the cursor, nil if there is none.
func (p *judgePage) current() *judgeLine {
	if i := p.Line(); p.made != nil && i >= 0 {
		return &p.lines[i]
	}
	return nil
}

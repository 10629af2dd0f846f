package profiles

import (
	"cmp"
	"context"
	"errors"
	"io"

	tea "charm.land/bubbletea/v2"

	"kitescope/internal/words"
	"kitescope/profile"
	"kitescope/profile/pgo"
	"kitescope/render"
	"kitescope/render/builds"
	"kitescope/tui"
	"kitescope/tui/draw"
)

// judgePage is the report on whether a build with PGO is worthwhile, based on some profiles.
type judgePage struct {
	reportPage
	items []Item   // nil until the list of the library is loaded
	lib   *library // nil if the page was opened with its items
	busy  bool
	made  *pgo.Judgement
	err   error
}

// RunJudgement is tui.Run for a judgement of profiles, without a cluster. The page of all its profiles is one key
// away. cfg.Feed must be nil. cfg.Args are the arguments of "pgo judge".
func RunJudgement(ctx context.Context, cfg tui.Config, j *pgo.Judgement) error {
	return tui.Run(ctx, judgementConfig(cfg, j))
}

// judgementConfig returns cfg with the judgement as the first page.
func judgementConfig(cfg tui.Config, j *pgo.Judgement) tui.Config {
	p := newJudgePage(itemsOf(j))
	p.words = cfg.Args
	p.setJudgement(j)
	cfg.First, cfg.Content = p, onlyProfiles
	cfg.Pages = append(Pages(Files(Set{Items: p.items})), cfg.Pages...)
	return cfg
}

// itemsOf returns the profiles of a judgement, in its order.
func itemsOf(j *pgo.Judgement) []Item {
	items := make([]Item, len(j.Profiles))
	for i := range items {
		in := j.Profiles[i].Input
		items[i] = Item{Name: in.Name, Node: in.Node, Kind: "cpu"}
		switch {
		case in.Err != nil:
			items[i].Err = in.Err.Error()
		case in.Profile != nil:
			items[i].Role, items[i].Start, items[i].Window = in.Profile.Origin.Role, in.Profile.Time,
				in.Profile.Duration
			items[i].Load = func(context.Context) (*profile.Profile, error) { return in.Profile, nil }
		}
	}
	return items
}

// newJudgePage returns a page that judges the profiles.
func newJudgePage(items []Item) *judgePage {
	return &judgePage{reportPage: reportPage{verb: []string{"pgo", "judge"}, words: judgeWords(items)}, items: items}
}

// judgeWords returns the arguments of "pgo judge" for profiles. The command accepts only CPU profiles and always
// folds asyncPreempt. The result is nil if the command cannot judge the same profiles.
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
		default:
			kept = append(kept, words[i])
		}
	}
	return kept
}

// openJudgement opens ":judge", which judges all CPU profiles.
func (d *library) openJudgement(*tui.Model, []string) (tui.Page, error) {
	if d.feed == nil {
		return nil, errors.New(noProfiles)
	}
	p := newJudgePage(nil)
	p.lib = d
	return p, nil
}

func (p *judgePage) Refresh(m *tui.Model) tui.Cmd {
	if p.items == nil {
		if !p.lib.listed {
			return p.lib.requestList(m)
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

// judgeProfiles reads and judges the profiles of a page.
func judgeProfiles(m *tui.Model, p *judgePage) tui.Cmd {
	items := p.items
	return func() tea.Msg {
		ctx, cancel := m.Context()
		defer cancel()
		made, err := pgo.Judge(ctx, inputsOf(ctx, items), pgo.JudgeOptions{})
		return verdictMsg{p, made, err}
	}
}

// inputsOf reads the profiles to be judged.
func inputsOf(ctx context.Context, items []Item) []pgo.Input {
	all, errs := loadItems(ctx, items)
	inputs := make([]pgo.Input, len(items))
	for i := range items {
		name := cmp.Or(items[i].Name, items[i].title())
		inputs[i] = pgo.Input{Name: name, Node: items[i].Node, Profile: all[i], Err: errs[i]}
		if all[i] != nil && len(all[i].Mappings) > 0 {
			inputs[i].BuildID = all[i].Mappings[0].BuildID
		}
	}
	return inputs
}

// verdictMsg delivers a judgement.
type verdictMsg struct {
	page *judgePage
	made *pgo.Judgement
	err  error
}

func (v verdictMsg) Apply(m *tui.Model) tui.Cmd {
	v.page.busy, v.page.err = false, v.err
	if v.err == nil {
		v.page.setJudgement(v.made)
	}
	return v.page.Refresh(m)
}

func (p *judgePage) setJudgement(j *pgo.Judgement) {
	p.made = j
	p.write = func(w io.Writer, f render.Format, o render.ReportOptions) error {
		return builds.WriteJudgement(w, j, f, o)
	}
}

func (p *judgePage) Body(m *tui.Model, w, h int) []string {
	text := ""
	switch {
	case p.err != nil:
		text = profileTrouble(p.err)
	case p.items == nil && p.lib.err != nil:
		text = profileTrouble(p.lib.err)
	case p.items == nil:
		text = "…"
	case len(p.items) == 0:
		text = "no CPU profiles: press 9 for the profiles page, and " + tui.KeyOf(m, tui.ActPull) +
			" there to profile all processes"
	case p.made == nil:
		text = "judging " + words.Plural(len(p.items), "profile") + "…"
	default:
		return p.reportPage.Body(m, w, h)
	}
	return append([]string{""}, draw.Sentence(m.Styles, text, w)...)
}

package profiles

import (
	"context"
	"io"

	tea "charm.land/bubbletea/v2"

	"kitescope/internal/hints"
	"kitescope/internal/words"
	"kitescope/profile"
	"kitescope/profile/flame"
	"kitescope/profile/report"
	"kitescope/tui"
)

// This file has the commands of the profile pages, as load.go of package tui has those of the other pages.

// buildFlame makes the trees of a page.
func buildFlame(m *tui.Model, p *flamePage) tui.Cmd {
	q, filter := p.query, p.filter
	return withProfiles(m, p.subject, func(l *loadedProfiles, err error) tea.Msg {
		msg := treesMsg{page: p, query: q, loaded: l, err: err}
		if err == nil {
			l, filter := l.filterNodes(filter)
			msg.indexes, msg.err = q.build(l, filter)
		}
		return msg
	})
}

// build makes the trees of a query.
func (q *flameQuery) build(l *loadedProfiles, filter profile.Filter) (indexes [2]*flameIndex, err error) {
	o := flame.Options{
		SampleIndex: q.kind, By: q.by, Filter: filter, Nodes: q.nodes, Inverted: q.inverted,
		Normalize: l.base != nil && !q.raw, MaxFrames: maxFlameFrames,
	}
	var trees [2]*flame.Tree
	only := exactRegexp(q.focus)
	switch {
	case q.focus != "" && l.base != nil:
		trees[callersHalf], trees[calleesHalf], err = flame.SandwichDiff(l.base, l.profile, only, o)
	case q.focus != "":
		trees[callersHalf], trees[calleesHalf], err = flame.Sandwich(l.profile, only, o)
	case l.base != nil:
		trees[0], err = flame.NewDiff(l.base, l.profile, o)
	default:
		trees[0], err = flame.New(l.profile, o)
	}
	if err != nil {
		return indexes, err
	}
	for half, t := range trees {
		if t != nil {
			indexes[half] = newFlameIndex(t)
		}
	}
	return indexes, nil
}

// filterNodes keeps only the samples of the nodes in the filter, as --node does, so percentages refer to these samples.
// It returns the rest of the filter.
func (l *loadedProfiles) filterNodes(f profile.Filter) (*loadedProfiles, profile.Filter) {
	if l == nil || f.Nodes == nil {
		return l, f
	}
	own, nodes := *l, &profile.Filter{Nodes: f.Nodes}
	own.profile = l.profile.Filter(nodes)
	if l.base != nil {
		own.base = l.base.Filter(nodes)
	}
	f.Nodes = nil
	return &own, f
}

// maxFlameFrames is far more than a terminal shows, and still small in memory.
const maxFlameFrames = 200_000

// withProfiles reads the profiles of a subject, unless another page has read them, and calls then with the result.
func withProfiles(m *tui.Model, s *profileSubject, then func(*loadedProfiles, error) tea.Msg) tui.Cmd {
	read := reader(m, s)
	return func() tea.Msg { return then(read()) }
}

// reader returns a function that reads the profiles of a subject, unless another page has read them. The function
// is called off the event loop.
func reader(m *tui.Model, s *profileSubject) func() (*loadedProfiles, error) {
	loaded := s.loaded
	return func() (*loadedProfiles, error) {
		if loaded != nil {
			return loaded, nil
		}
		ctx, cancel := m.Context()
		defer cancel()
		return s.load(ctx)
	}
}

// rankTop makes the table of a page.
func rankTop(m *tui.Model, p *topPage) tui.Cmd {
	q, filter := p.query, p.filter
	return withProfiles(m, p.subject, func(l *loadedProfiles, err error) tea.Msg {
		msg := rankedMsg{page: p, query: q, loaded: l, err: err}
		l, filter := l.filterNodes(filter)
		o := report.Options{SampleIndex: q.kind, By: q.by, Filter: filter}
		switch {
		case err != nil:
		case l.base != nil:
			msg.changes, msg.err = report.NewComparison(l.base, l.profile, report.CompareOptions{
				Options: o, Normalize: !q.raw,
			})
		default:
			msg.top, msg.err = report.NewTop(l.profile, o)
		}
		return msg
	})
}

// saveProfile saves the profiles of a subject as one pprof file.
func saveProfile(m *tui.Model, s *profileSubject) tui.Cmd {
	read := reader(m, s)
	return tui.Save(m, tui.FileName("profile", s.label)+".pb.gz", func(w io.Writer) error {
		l, err := read()
		if err != nil {
			return err
		}
		return l.profile.Encode(w)
	})
}

// list requests the available profiles from the feed.
func (d *library) list(m *tui.Model) tui.Cmd {
	return func() tea.Msg {
		ctx, cancel := m.Context()
		defer cancel()
		set, err := d.feed.List(ctx)
		return listedMsg{d, set, err}
	}
}

// summarize reads a profile for the list.
func (d *library) summarize(m *tui.Model, e *profileEntry) tui.Cmd {
	item := e.item
	return func() tea.Msg {
		ctx, cancel := m.Context()
		defer cancel()
		p, err := loadItem(ctx, &item)
		if err != nil {
			return summarizedMsg{d, e, &profileSummary{err: profileTrouble(err)}}
		}
		return summarizedMsg{d, e, newSummary(p)}
	}
}

// run pulls profiles and reports the progress on steps, which it closes at the end.
func (d *library) run(ctx context.Context, pull *profilePull, steps chan tui.Message) tui.Cmd {
	return func() tea.Msg {
		defer close(steps)
		set, err := d.feed.Pull(ctx, pull.window, func(step Progress) {
			select {
			case steps <- pullStepMsg{pull, step, steps}:
			case <-ctx.Done():
			}
		})
		return pulledMsg{d, pull, set, err}
	}
}

// nextStep waits for the next progress report of a pull.
func nextStep(steps <-chan tui.Message) tui.Cmd {
	return func() tea.Msg {
		if msg, ok := <-steps; ok {
			return msg
		}
		return nil
	}
}

// profileTrouble returns an error about profiles with its hint.
func profileTrouble(err error) string {
	text := words.Sanitize(words.OneLine(err.Error()))
	if hint := hints.Of(err); hint != "" {
		text += ": " + words.Sanitize(hint)
	}
	return text
}

// noFilter returns a filter that keeps everything.
func noFilter() profile.Filter { return profile.Filter{} }

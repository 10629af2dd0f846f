package tui

import (
	"context"
	"errors"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"kitescope/inspect/check"
	"kitescope/inspect/news"
	"kitescope/internal/words"
)

// Source is a cluster that the UI can change to, with what Config says of one.
type Source struct {
	Feed                      news.Feed
	Title, Command, NodeFlags string
	Pages                     []PageKind
	// Close is called once Feed has ended; nil: there is nothing to close.
	Close func()
}

// following is a cluster that the UI was changed to.
type following struct {
	source  *Source
	updates chan news.Update // closed when Feed has ended
	leave   func()
}

// Switch changes to another cluster. Until that has told of itself, the one that is shown stays, and it stays for good if nothing comes.
func Switch(m *Model, name string, open func(context.Context) (*Source, error)) Cmd {
	m.switches++
	serial := m.switches
	m.Say(ToneInfo, "opening "+words.Harmless(name)+"…")
	return func() tea.Msg {
		ctx, leave := m.Context()
		s, err := open(ctx)
		if err != nil {
			leave()
			return switchedMsg{serial: serial, name: name, err: err}
		}
		f := &following{s, make(chan news.Update), leave}
		m.feeds.Go(func() { f.follow(ctx) })
		first, err := f.first(ctx)
		if err != nil {
			leave()
		}
		return switchedMsg{serial, name, f, first, err}
	}
}

// follow hands on what the feed tells.
func (f *following) follow(ctx context.Context) {
	defer close(f.updates)
	f.source.Feed.Follow(ctx, func(u news.Update) {
		select {
		case f.updates <- u:
		case <-ctx.Done():
		}
	})
	if f.source.Close != nil {
		f.source.Close()
	}
}

// first waits for the cluster, or for why there is none.
func (f *following) first(ctx context.Context) (news.Update, error) {
	for {
		select {
		case u, ok := <-f.updates:
			switch {
			case !ok:
				return u, errors.New("it reported nothing")
			case u.Cluster != nil:
				return u, nil
			case u.Err != nil:
				return u, u.Err
			}
		case <-ctx.Done():
			return news.Update{}, ctx.Err()
		}
	}
}

// next waits for what the feed tells after that.
func (f *following) next() Cmd {
	return func() tea.Msg {
		u, ok := <-f.updates
		if !ok {
			return nil
		}
		return followedMsg{f, u}
	}
}

type followedMsg struct {
	of     *following
	update news.Update
}

func (f followedMsg) Apply(m *Model) Cmd {
	if m.following != f.of {
		return nil
	}
	return Batch(m.take(&f.update), f.of.next())
}

// switchedMsg brings the first cluster of another source, or why there is none.
type switchedMsg struct {
	serial int
	name   string
	of     *following
	first  news.Update
	err    error
}

func (s switchedMsg) Apply(m *Model) Cmd {
	switch {
	case s.serial != m.switches: // another one was asked for meanwhile
		if s.of != nil {
			s.of.leave()
		}
		return nil
	case errors.Is(s.err, context.Canceled):
		return nil
	case s.err != nil:
		m.Say(ToneBad, words.Harmless(s.name)+" did not open, this is still "+m.Config.Title+": "+s.err.Error())
		return nil
	}
	switch {
	case m.following != nil:
		m.following.leave()
	case m.leave != nil:
		m.leave()
	}
	again := reopened(m)
	m.following = s.of
	src, cfg := s.of.source, &m.Config
	cfg.Title, cfg.Command, cfg.NodeFlags = src.Title, src.Command, src.NodeFlags
	cfg.Pages = src.Pages
	m.kinds = pageKinds(slices.Concat(cfg.Pages, cfg.Own.Pages))
	m.keys, _ = newKeys(m.kinds, cfg.Keys) // what is wrong with them was said at the start
	// Counters and the diagnosis say what is on its way for the old cluster; a timer that runs goes on for the new one.
	old := &m.data
	old.past.onsets.stop()
	m.data = data{serial: old.serial, ageTick: old.ageTick, clock: old.clock, judged: &judgement{judge: &check.Judge{}}}
	m.Prompt, m.Menu = nil, nil
	first, _ := newOverviewPage(m, nil)
	m.stack = stack{pages: []Page{first}}
	if p := again(m); p != nil {
		m.stack.push(p)
	}
	m.Say(ToneGood, "this is "+words.Harmless(s.name)+" now")
	return Batch(m.take(&s.first), s.of.next())
}

// reopened makes the page that is shown anew, for another cluster; what belongs to the old one alone it leaves out.
func reopened(m *Model) func(*Model) Page {
	switch top := m.Top().(type) {
	case *gridPage:
		return func(m *Model) Page {
			var where []string
			if top.label == strings.Join(append([]string{top.resource.Name}, top.where.Words()...), " ") { // and no way here from an object
				where = top.where.Words()
			}
			p, err := newGridPage(top.resource, where)
			if err != nil {
				return nil
			}
			g := p.(*gridPage)
			g.filter, g.order, g.wide, g.chosen = top.filter, top.order, top.wide, slices.Clone(top.chosen)
			return g
		}
	case *overviewPage:
		return func(*Model) Page { return nil }
	default:
		name, _, _ := strings.Cut(top.Crumb(), " ")
		line := name
		if p, ok := top.(*findingsPage); ok && p.judged.own != nil {
			line = p.judged.own.Name
		}
		return func(m *Model) Page {
			if _, ok := m.kindNamed(name); !ok {
				return nil
			}
			p, err := m.open(line)
			if err != nil {
				return nil
			}
			return p
		}
	}
}

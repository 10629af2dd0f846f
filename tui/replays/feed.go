package replays

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"kitescope/replay"
	"kitescope/replay/whatif"
	"kitescope/tui"
)

// Feed measures: it returns what it found, or why it found nothing. What a context that ends has left unfinished is no
// error: the result says why it is not whole. It is called once, in a goroutine of its own. Emit may be called from any
// goroutine and as often as it pleases, but not after the feed has returned.
type Feed func(ctx context.Context, emit func(Update)) (Data, error)

// Update is how far a Feed is. One of the fields is set.
type Update struct {
	// Load is of the reading of segments, Run of the run.
	Load *replay.LoadProgress
	Run  *replay.RunProgress
	// Stage is any other step, for people: "reading the layout", "building an index of segment 7".
	Stage string
}

// stage names what an update is about.
func (u *Update) stage() string {
	switch {
	case u.Load != nil:
		return "segments"
	case u.Run != nil && u.Run.Stage == "load":
		return "measure"
	case u.Run != nil:
		return u.Run.Stage
	}
	return u.Stage
}

// replaces tells whether nobody misses an update once there is another.
func (u *Update) replaces(old *Update) bool {
	if u.stage() != old.stage() {
		return false
	}
	return u.Run == nil || old.Run != nil && u.Run.Point == old.Run.Point
}

// Data is a result, a prediction, or both.
type Data struct {
	Result *replay.Result
	Report *whatif.Report
	// Name is what it is called: "after.json"; "" if it has no name yet.
	Name string
	// Words print the same on a command line, behind "replay": "show", "after.json". nil: Config.Args, and where there are none
	// either no command line does.
	Words []string
}

func (d *Data) empty() bool { return d == nil || d.Result == nil && d.Report == nil }

// missing are the segments that were left out.
func (d *Data) missing() []replay.Missing {
	switch {
	case d.Result != nil:
		return d.Result.Cover.Missing
	case d.Report != nil:
		return d.Report.Cover.Missing
	}
	return nil
}

// Measure is tui.Run for a replay that is measured, without a cluster: it shows how far feed is, then what it found. Cfg.Feed
// must be nil. cfg.Args are the words behind "replay". While the feed measures, q and Ctrl-C end its context, and the page shows
// what was done until then; q again quits. The feed has returned when Measure does. Its error is the feed's, if the UI has
// none.
func Measure(ctx context.Context, cfg tui.Config, feed Feed) error {
	cfg, s := measuring(cfg, feed)
	return cmp.Or(tui.Run(ctx, cfg), s.err)
}

// measuring opens with a replay that is measured.
func measuring(cfg tui.Config, feed Feed) (tui.Config, *replaySession) {
	s := &replaySession{feed: feed, now: cfg.Now}
	r := &replayPages{feed: s}
	s.page = r.newPage(cfg.Args)
	s.page.live = &replayLive{}
	cfg.Beside = s.run
	return r.config(cfg, s.page), s
}

// Show is tui.Run for a replay without a cluster. Cfg.Feed must be nil.
func Show(ctx context.Context, cfg tui.Config, data *Data) error {
	return tui.Run(ctx, opened(cfg, data))
}

// opened opens with a replay.
func opened(cfg tui.Config, data *Data) tui.Config {
	r := &replayPages{data: data}
	return r.config(cfg, r.newPage(cfg.Args))
}

func (r *replayPages) config(cfg tui.Config, first *replayPage) tui.Config {
	cfg.First, cfg.Instead = first, "only a replay"
	cfg.Pages = slices.Concat(cfg.Pages, r.kinds())
	return cfg
}

// replayStep is an update with the time at which its stage was first heard of since the last frame.
type replayStep struct {
	Update
	at time.Time
}

// replaySession is a feed under way.
type replaySession struct {
	feed Feed
	page *replayPage // that it tells how far it is
	now  func() time.Time
	err  error // once run has returned

	mu      sync.Mutex
	stopped bool
	cancel  context.CancelFunc
	pending []replayStep
	wake    chan struct{}
}

// stop ends the feed's context.
func (s *replaySession) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopped = true
	if s.cancel != nil {
		s.cancel()
	}
}

// framePause is how long what a feed says is held back after a frame, for at most ten a second.
const framePause = 100 * time.Millisecond

// run calls the feed and sends what it says, and at last what it returned.
func (s *replaySession) run(ctx context.Context, send func(tea.Msg)) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s.mu.Lock()
	s.cancel, s.wake = cancel, make(chan struct{}, 1)
	if s.stopped {
		cancel()
	}
	s.mu.Unlock()
	var pump sync.WaitGroup
	done := make(chan struct{})
	pump.Go(func() { s.pump(done, send) })
	data, err := s.feed(ctx, s.emit)
	close(done)
	pump.Wait()
	s.err = err
	send(replayedMsg{s.page, data, err})
}

// mostPending is how many updates are kept between frames: those of other stages than the last come seldom.
const mostPending = 64

func (s *replaySession) emit(u Update) {
	s.mu.Lock()
	if n := len(s.pending); n > 0 && u.replaces(&s.pending[n-1].Update) {
		s.pending[n-1].Update = u
	} else if n < mostPending {
		s.pending = append(s.pending, replayStep{u, s.now()})
	}
	s.mu.Unlock()
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// pump sends the first update at once, and what comes soon after it together.
func (s *replaySession) pump(done <-chan struct{}, send func(tea.Msg)) {
	pause := time.NewTimer(0)
	defer pause.Stop()
	<-pause.C
	for {
		select {
		case <-s.wake:
		case <-done:
			return
		}
		s.mu.Lock()
		list := s.pending
		s.pending = nil
		s.mu.Unlock()
		if len(list) > 0 {
			send(replayStepMsg{s.page, list})
		}
		pause.Reset(framePause)
		select {
		case <-pause.C:
		case <-done:
			return
		}
	}
}

// replayStepMsg is what a feed has said since the last frame.
type replayStepMsg struct {
	page  *replayPage
	steps []replayStep
}

func (u replayStepMsg) Apply(m *tui.Model) tui.Cmd {
	for i := range u.steps {
		u.page.live.take(&u.steps[i].Update, u.steps[i].at)
	}
	return u.page.live.tick(m)
}

// replayedMsg is what a feed returned.
type replayedMsg struct {
	page *replayPage
	data Data
	err  error
}

func (r replayedMsg) Apply(m *tui.Model) tui.Cmd {
	p := r.page
	p.live.over, p.err = true, r.err
	if !r.data.empty() {
		p.show(&r.data)
		p.of.data = &r.data
	}
	return m.Refresh()
}

// Stop ends a feed that measures, and reports whether there was one to end: what it has done until then will be shown.
func (p *replayPage) Stop(m *tui.Model) bool {
	if !p.measuring() || p.live.stopping {
		return false
	}
	p.live.stopping = true
	p.of.feed.stop()
	m.Say(tui.ToneInfo, "stopping: what was done so far comes; q again does not wait for it")
	return true
}

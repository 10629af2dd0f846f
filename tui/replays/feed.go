package replays

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"kitescope/internal/words"
	"kitescope/render"
	"kitescope/replay"
	"kitescope/replay/whatif"
	"kitescope/tui"
	"kitescope/tui/draw"
)

// Feed measures and returns the result, or the error if there is none. A result that is cut short because ctx ended
// is not an error; the result contains the reason. A Feed is called once, in its own goroutine. It may call step
// from any goroutine and as often as it likes, but not after it has returned. stage names the current step of the
// work, and text is its progress.
type Feed func(ctx context.Context, step func(stage, text string)) (Data, error)

// Data is a result, a prediction, or both.
type Data struct {
	Result *replay.Result
	Report *whatif.Report
	// Name is the name of the file, e.g. "after.json"; "" if there is none.
	Name string
	// Words are the arguments after "replay" that print the same on a command line, e.g. "show", "after.json". nil
	// means Config.Args.
	Words []string
}

func (d *Data) empty() bool { return d == nil || d.Result == nil && d.Report == nil }

// Measure runs the UI without a cluster while feed measures. It shows the progress, then the result. cfg.Feed must
// be nil. cfg.Args are the arguments after "replay". While the feed measures, q and Ctrl-C cancel its context, and
// the page shows the result so far; q again quits. Measure returns after the feed has returned. It returns the
// error of the UI, or else that of the feed.
func Measure(ctx context.Context, cfg tui.Config, feed Feed) error {
	cfg, s := measureConfig(cfg, feed)
	return cmp.Or(tui.Run(ctx, cfg), s.err)
}

// measureConfig returns a configuration that opens with a measurement.
func measureConfig(cfg tui.Config, feed Feed) (tui.Config, *measurement) {
	s := &measurement{feed: feed, now: cfg.Now}
	r := &replayPages{measured: s}
	s.page = r.newPage(cfg.Args)
	cfg.Background = s.run
	return r.config(cfg, s.page), s
}

// Show runs the UI without a cluster on a finished replay. cfg.Feed must be nil.
func Show(ctx context.Context, cfg tui.Config, data *Data) error {
	return tui.Run(ctx, resultConfig(cfg, data))
}

func resultConfig(cfg tui.Config, data *Data) tui.Config {
	r := &replayPages{data: data}
	return r.config(cfg, r.newPage(cfg.Args))
}

func (r *replayPages) config(cfg tui.Config, first *replayPage) tui.Config {
	cfg.First, cfg.Content = first, "only a replay"
	cfg.Pages = slices.Concat(cfg.Pages, r.kinds())
	return cfg
}

// measurement is a Feed that runs concurrently with the UI.
type measurement struct {
	feed Feed
	page *replayPage
	now  func() time.Time
	err  error // set once run has returned

	// Only the event loop of the UI uses these.
	ticking, stopping, done bool

	mu      sync.Mutex
	stages  []stage
	stopped bool
	cancel  context.CancelFunc
}

// stage is a part of the work. The last one is in progress.
type stage struct {
	name, text string
	from       time.Time
	took       time.Duration // 0 while it is in progress
}

// run calls the feed and sends its result.
func (s *measurement) run(ctx context.Context, send func(tea.Msg)) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s.mu.Lock()
	s.cancel = cancel
	if s.stopped {
		cancel()
	}
	s.mu.Unlock()
	data, err := s.feed(ctx, s.step)
	s.err = err
	send(measuredMsg{s, data, err})
}

// stop ends the context of the feed.
func (s *measurement) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopped = true
	if s.cancel != nil {
		s.cancel()
	}
}

func (s *measurement) step(name, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.stages); n > 0 {
		last := &s.stages[n-1]
		if last.name == name {
			last.text = text
			return
		}
		last.took = max(1, s.now().Sub(last.from))
	}
	s.stages = append(s.stages, stage{name: name, text: text, from: s.now()})
}

// lines draws the last stages in at most h lines of w cells.
func (s *measurement) lines(w, h int, ascii bool) []draw.Line {
	s.mu.Lock()
	defer s.mu.Unlock()
	lines := make([]draw.Line, 0, h)
	for i := max(0, len(s.stages)-h); i < len(s.stages); i++ {
		x := &s.stages[i]
		role, took := render.RoleGood, x.took
		if took == 0 {
			role, took = render.RoleProgress, s.now().Sub(x.from)
		}
		line := draw.Line{
			{Role: role, Text: " " + render.Glyph(role, ascii) + " "},
			{Role: render.RoleDim, Text: draw.FitRight(words.Age(took.Truncate(100*time.Millisecond)), 6) + "  "},
			{Role: render.RolePlain, Text: words.Sanitize(words.OneLine(x.name))},
		}
		if x.text != "" {
			line = append(line, draw.Piece{Role: render.RoleDim, Text: ": " + words.Sanitize(words.OneLine(x.text))})
		}
		lines = append(lines, line.CutTo(w))
	}
	return lines
}

// framePause is the time between two frames while a feed measures.
const framePause = 250 * time.Millisecond

// tick redraws the page after framePause, as long as the feed runs.
func (s *measurement) tick(m *tui.Model) tui.Cmd {
	if s.ticking || s.done {
		return nil
	}
	s.ticking = true
	return m.After(framePause, tickMsg{s})
}

type tickMsg struct{ measurement *measurement }

func (t tickMsg) Apply(m *tui.Model) tui.Cmd {
	t.measurement.ticking = false
	return t.measurement.tick(m)
}

// measuredMsg delivers the result of a feed.
type measuredMsg struct {
	measurement *measurement
	data        Data
	err         error
}

func (r measuredMsg) Apply(m *tui.Model) tui.Cmd {
	r.measurement.done, r.measurement.page.err = true, r.err
	if !r.data.empty() {
		r.measurement.page.show(&r.data)
		r.measurement.page.pages.data = &r.data
	}
	return m.Refresh()
}

// Stop stops a running feed and reports whether there was one to stop. The page shows the results so far.
func (p *replayPage) Stop(m *tui.Model) bool {
	if !p.measuring() || p.pages.measured.stopping {
		return false
	}
	p.pages.measured.stopping = true
	p.pages.measured.stop()
	m.Notify(tui.ToneInfo, "stopping: the results so far follow; press q again to skip them")
	return true
}

package timeline

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"kitescope/inspect/check"
	"kitescope/inspect/history"
	"kitescope/inspect/latency"
	"kitescope/inspect/model"
	"kitescope/inspect/news"
	"kitescope/inspect/view"
	"kitescope/internal/table"
	"kitescope/internal/words"
	"kitescope/tui"
)

// survey looks at clusters of the past: at some moments evenly over the time first, then at events in between where findings came or
// went. It rests while no page shows it.
type survey struct {
	of      news.Past
	axis    *history.Axis
	samples []sample // in order of revisions
	ahead   []int64  // revisions that are still to be looked at
	refined bool     // those in between are among them
	done    bool
	pass    *pass // that is under way, nil: none is
	judge   *check.Judge
}

// pass is one reading of the past, forward.
type pass struct {
	of   news.Past
	stop context.CancelFunc
	mu   sync.Mutex
	seen []sample // that were not taken over yet
	over bool
}

const (
	// evenMoments are those of the first round, mostMoments all of them.
	evenMoments = 40
	mostMoments = 160
	// between is how many events are looked at between two moments that differ.
	between = 4
	// takeEvery is how often what was seen is shown while a pass goes on.
	takeEvery = 200 * time.Millisecond
)

// sample is what was seen of a moment.
type sample struct {
	revision int64
	findings map[string]*check.Finding
	figures  [figureCount]float64 // NaN where unknown
}

// figure is one of the numbers that have a curve.
type figure int

const (
	figureQPS figure = iota
	figureP99
	figureCPU
	figureRows
	figureCheckpoint
	figureCount
)

func (f figure) name() string {
	return [...]string{"requests/s", "p99", "CPU", "rows", "checkpoint"}[f]
}

// text is a value for people.
func (f figure) text(v float64) string {
	switch f {
	case figureP99:
		return latency.Milliseconds(v)
	case figureCPU:
		return words.ThreeDigits(v/100) + " cores"
	case figureRows:
		return words.Number(int64(v))
	case figureCheckpoint:
		return words.Age(time.Duration(v))
	default:
	}
	return words.ThreeDigits(v)
}

// span is the time of a finding.
type span struct {
	key      string
	check    string
	severity check.Severity
	object   model.Ref
	message  string
	// from is the revision at which it was seen first, to the one at which it was gone again, 0: it is still there. early says that
	// it was there in the oldest state already.
	from, to int64
	early    bool
}

// begin starts a survey of an axis, or goes on with one that has grown.
func (s *survey) begin(of news.Past, x *history.Axis) {
	if s.of != of || s.axis != nil && s.axis.History.From != x.History.From {
		s.rest()
		*s = survey{of: of, judge: &check.Judge{}}
	}
	if s.axis == x {
		return
	}
	grown := s.axis != nil
	s.axis, s.done = x, false
	if grown {
		s.thin()
		s.ahead, s.refined = append(s.ahead, x.History.To), false
		return
	}
	span := x.To - x.From
	for i := range evenMoments {
		s.ahead = append(s.ahead, x.Revision(x.From+int64(float64(span)*float64(i)/(evenMoments-1))))
	}
	s.ahead[0], s.ahead[len(s.ahead)-1] = x.History.From, x.History.To
}

// rest ends a pass that is under way.
func (s *survey) rest() {
	if s.pass != nil {
		s.pass.stop()
		s.pass = nil
	}
}

// thin makes room for what comes: of samples that differ in nothing from the one before, every other one goes.
func (s *survey) thin() {
	if len(s.samples) < mostMoments {
		return
	}
	kept := s.samples[:1]
	for i := 1; i < len(s.samples); i++ {
		if i%2 == 0 || !sameKeys(s.samples[i].findings, s.samples[i-1].findings) {
			kept = append(kept, s.samples[i])
		}
	}
	s.samples = kept
}

// next returns the revisions to look at, none where nothing is to be found out any more.
func (s *survey) next() []int64 {
	if len(s.ahead) == 0 && !s.refined {
		s.refined = true
		for i := 1; i < len(s.samples); i++ {
			a, b := &s.samples[i-1], &s.samples[i]
			if sameKeys(a.findings, b.findings) {
				continue
			}
			// Findings come with what is an event, as a rule.
			low, high := s.axis.UpTo(a.revision), s.axis.UpTo(b.revision-1)
			for k := range min(between, high-low) {
				s.ahead = append(s.ahead, s.axis.Event(low+(high-low)*k/between).Revision)
			}
		}
	}
	slices.Sort(s.ahead)
	s.ahead = slices.DeleteFunc(slices.Compact(s.ahead), func(r int64) bool {
		_, known := s.find(r)
		return known
	})
	return s.ahead[:max(0, min(len(s.ahead), mostMoments-len(s.samples)))]
}

func sameKeys(a, b map[string]*check.Finding) bool {
	if len(a) != len(b) {
		return false
	}
	for key := range a {
		if b[key] == nil {
			return false
		}
	}
	return true
}

func (s *survey) find(revision int64) (at int, known bool) {
	return slices.BinarySearchFunc(s.samples, revision, func(x sample, r int64) int { return cmp.Compare(x.revision, r) })
}

// look goes on, nil where there is nothing to look at.
func (s *survey) look(m *tui.Model) tui.Cmd {
	if s.pass != nil || s.done || s.axis == nil {
		return nil
	}
	revisions := slices.Clone(s.next())
	if len(revisions) == 0 {
		s.done = true
		return nil
	}
	ctx, stop := m.Context()
	p := &pass{of: s.of, stop: stop}
	s.pass = p
	judge, checks := s.judge, m.Config.Checks
	read := func() tea.Msg {
		defer stop()
		err := p.of.Survey(ctx, revisions, func(c *model.Cluster) error {
			env := view.NewEnv(c, c.Origin.Taken)
			x := sample{revision: c.Origin.Revision, findings: map[string]*check.Finding{}, figures: figuresOf(env, judge)}
			for _, f := range judge.Run(c, env.Now, checks).Findings {
				x.findings[f.Key()] = f
			}
			p.mu.Lock()
			defer p.mu.Unlock()
			p.seen = append(p.seen, x)
			return ctx.Err()
		})
		p.mu.Lock()
		defer p.mu.Unlock()
		p.over = true
		return seenMsg{s, p, revisions, err}
	}
	return tui.Batch(read, m.After(takeEvery, seenMsg{survey: s, pass: p}))
}

// figuresOf are the numbers of a cluster that have a curve.
func figuresOf(env *view.Env, judge *check.Judge) (f [figureCount]float64) {
	for i := range f {
		f[i] = math.NaN()
	}
	o := view.NewOverview(env)
	if o.Rows.Absent == table.Present {
		f[figureRows] = float64(o.Rows.Int)
	}
	if o.OldestCheckpoint.Absent == table.Present && !env.Now.IsZero() {
		f[figureCheckpoint] = float64(o.OldestCheckpoint.Int)
	}
	if env.Cluster.Runtime == nil {
		return f
	}
	for i := range o.Nodes {
		if live := o.Nodes[i].Live; live != nil && live.CPU.Absent == table.Present {
			f[figureCPU] = known(f[figureCPU]) + live.CPU.Float
		}
	}
	for _, b := range judge.Latency(env.Cluster).Budgets {
		if b.PerSecond.Known && b.Name == "" {
			f[figureQPS] = known(f[figureQPS]) + b.PerSecond.Value
		}
		if b.Request == latency.Search && b.P99.High > 0 && !math.IsInf(b.P99.High, 0) {
			f[figureP99] = max(known(f[figureP99]), b.P99.High)
		}
	}
	return f
}

func known(v float64) float64 {
	if math.IsNaN(v) {
		return 0
	}
	return v
}

// seenMsg says that something may have been seen; at the end of a pass, with the revisions that it was of.
type seenMsg struct {
	survey    *survey
	pass      *pass
	revisions []int64
	err       error
}

// Apply takes over what was seen. A pass ends where no page shows it.
func (x seenMsg) Apply(m *tui.Model) tui.Cmd {
	s, p := x.survey, x.pass
	if s.pass != p {
		return nil
	}
	p.mu.Lock()
	for i := range p.seen {
		if at, known := s.find(p.seen[i].revision); !known {
			s.samples = slices.Insert(s.samples, at, p.seen[i])
		}
	}
	p.seen = nil
	over := p.over
	p.mu.Unlock()
	switch _, shown := m.Top().(*page); {
	case x.revisions != nil:
		s.pass = nil
		if x.err == nil {
			s.ahead = slices.DeleteFunc(s.ahead, func(r int64) bool { return slices.Contains(x.revisions, r) })
		} else {
			s.done = true
		}
	case !shown:
		s.rest()
	case !over:
		return tui.Batch(m.Refresh(), m.After(takeEvery, x))
	}
	return m.Refresh()
}

// spans are the times of findings, as far as was looked.
func (s *survey) spans() []*span {
	var list []*span
	open := map[string]*span{}
	first := true
	for i := range s.samples {
		x := &s.samples[i]
		for key, at := range open {
			if x.findings[key] == nil {
				at.to = x.revision
				delete(open, key)
			}
		}
		for key, f := range x.findings {
			if open[key] == nil {
				open[key] = &span{key: key, check: f.Check, object: f.Object, from: x.revision, early: first}
				list = append(list, open[key])
			}
			open[key].severity, open[key].message = f.Severity, f.Message
		}
		first = false
	}
	slices.SortFunc(list, func(a, b *span) int {
		return cmp.Or(cmp.Compare(b.severity, a.severity), cmp.Compare(a.from, b.from), cmp.Compare(a.key, b.key))
	})
	return list
}

// values are those of a figure in n equal parts of the time between two places, NaN where it is not known.
func (s *survey) values(f figure, from, to int64, n int) []float64 {
	list := make([]float64, n)
	at, v := 0, math.NaN()
	for i := range list {
		end := from + int64(float64(to-from)*float64(i+1)/float64(n))
		for ; at < len(s.samples) && s.axis.Place(s.samples[at].revision) <= end; at++ {
			v = s.samples[at].figures[f]
		}
		list[i] = v
	}
	return list
}

package timeline

import (
	"cmp"
	"math"
	"slices"
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

// survey looks at clusters of the past: at some moments evenly over the time first, then in between where findings came or went, until
// the event is found that they came with or mostMoments were looked at. It rests while no page shows it.
type survey struct {
	of      news.Past
	axis    *history.Axis
	samples []sample // in order of revisions
	busy    bool
	even    []int64 // revisions of the first round that are still to be looked at
	done    bool
	judge   *check.Judge
}

const (
	// evenMoments are those of the first round, mostMoments all of them.
	evenMoments = 40
	mostMoments = 160
)

// sample is what was seen of a moment.
type sample struct {
	revision int64
	findings map[string]*check.Finding
	figures  [figureCount]float64 // NaN where unknown
	failed   bool
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
		*s = survey{of: of, judge: &check.Judge{}, busy: s.busy}
	}
	if s.axis == x {
		return
	}
	grown := s.axis != nil
	s.axis, s.done = x, false
	if grown {
		s.thin()
		s.even = append(s.even, x.History.To)
		return
	}
	span := x.To - x.From
	for i := range evenMoments {
		place := x.From + int64(float64(span)*float64(i)/(evenMoments-1))
		s.even = append(s.even, x.Revision(place))
	}
	s.even[0], s.even[len(s.even)-1] = x.History.From, x.History.To
	slices.Sort(s.even)
	s.even = slices.Compact(s.even)
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

// next is the revision to look at, ok false where nothing is to be found out any more.
func (s *survey) next() (revision int64, ok bool) {
	for len(s.even) > 0 {
		revision, s.even = s.even[0], s.even[1:]
		if _, known := s.find(revision); !known {
			return revision, true
		}
	}
	if len(s.samples) >= mostMoments {
		return 0, false
	}
	for i := 1; i < len(s.samples); i++ {
		a, b := &s.samples[i-1], &s.samples[i]
		if a.failed || b.failed || sameKeys(a.findings, b.findings) {
			continue
		}
		// Findings come with what is an event, as a rule: half of those between the two are left out by each look.
		low, high := s.axis.UpTo(a.revision), s.axis.UpTo(b.revision-1)
		if low < high {
			if r := s.axis.Brief((low + high) / 2).Revision; r > a.revision && r < b.revision {
				return r, true
			}
		}
	}
	return 0, false
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

// look looks at the next moment, nil where there is none.
func (s *survey) look(m *tui.Model) tui.Cmd {
	if s.busy || s.done || s.axis == nil {
		return nil
	}
	revision, ok := s.next()
	if !ok {
		s.done = true
		return nil
	}
	s.busy = true
	of, judge, checks := s.of, s.judge, m.Config.Checks
	return func() tea.Msg {
		ctx, stop := m.Context()
		defer stop()
		c, err := of.At(ctx, revision)
		if err != nil {
			return seenMsg{s, of, sample{revision: revision, failed: true}}
		}
		env := view.NewEnv(c, c.Origin.Taken)
		x := sample{revision: revision, findings: map[string]*check.Finding{}, figures: figuresOf(env, judge)}
		for _, f := range judge.Run(c, env.Now, checks).Findings {
			x.findings[f.Key()] = f
		}
		return seenMsg{s, of, x}
	}
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

// seenMsg brings what was seen of a moment.
type seenMsg struct {
	survey *survey
	of     news.Past
	sample sample
}

// Apply takes it in; the page that shows it asks for the next.
func (x seenMsg) Apply(m *tui.Model) tui.Cmd {
	s := x.survey
	s.busy = false
	if s.of == x.of {
		if i, known := s.find(x.sample.revision); !known {
			s.samples = slices.Insert(s.samples, i, x.sample)
		}
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
		if x.failed {
			continue
		}
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
			if !s.samples[at].failed {
				v = s.samples[at].figures[f]
			}
		}
		list[i] = v
	}
	return list
}

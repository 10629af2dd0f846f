package profiles

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"kitescope/internal/words"
	"kitescope/profile"
	"kitescope/profile/report"
	"kitescope/tui"
	"kitescope/tui/draw"
)

// library has the profiles that there are, for all pages.
type library struct {
	feed          Feed // nil: there are none
	asked, listed bool
	err           error
	entries       []*profileEntry
	batches       int
	reading       bool // summaries are being made
	pull          *profilePull
}

// profileEntry is a profile of the list.
type profileEntry struct {
	item  Item
	batch int // what was listed or pulled together
	sum   *profileSummary
}

// profileSummary is what the list says of a profile once it was read.
type profileSummary struct {
	kind    string // of the sample type
	unit    string
	total   int64
	samples int64 // -1: unknown
	window  time.Duration
	start   time.Time
	classes []classPart
	// together is how many cores several processes kept busy; 0 of a single profile.
	together float64
	err      string
}

// classPart is how much of a profile a class is.
type classPart struct {
	name  string
	value int64
}

// profilePull is a pull that is under way.
type profilePull struct {
	window   time.Duration
	cancel   context.CancelFunc
	progress []Progress
}

// ask asks for the list, once.
func (d *library) ask(m *tui.Model) tui.Cmd {
	if d.asked {
		return nil
	}
	d.asked = true
	return d.list(m)
}

// listedMsg brings the list of profiles.
type listedMsg struct {
	in  *library
	set Set
	err error
}

func (l listedMsg) Apply(m *tui.Model) tui.Cmd {
	l.in.listed, l.in.err = true, l.err
	l.in.add(l.set)
	return tui.Batch(l.in.readNext(m), m.Refresh())
}

// add puts profiles that came together before those that are there.
func (d *library) add(set Set) {
	d.batches++
	added := make([]*profileEntry, len(set.Items))
	for i, item := range set.Items {
		added[i] = &profileEntry{item: item, batch: d.batches}
	}
	slices.SortStableFunc(added, func(a, b *profileEntry) int {
		return cmp.Or(cmp.Compare(kindRank(a.item.Kind), kindRank(b.item.Kind)), cmp.Compare(a.item.Kind, b.item.Kind),
			cmp.Compare(a.item.Role, b.item.Role), cmp.Compare(a.item.Node, b.item.Node), a.item.Start.Compare(b.item.Start))
	})
	d.entries = append(added, d.entries...)
}

// kindRank puts what is asked for most first.
func kindRank(kind string) int {
	if kind == "cpu" {
		return 0
	}
	return 1
}

// readNext reads the next profile of the list that was not yet, one at a time.
func (d *library) readNext(m *tui.Model) tui.Cmd {
	if d.reading {
		return nil
	}
	for _, e := range d.entries {
		switch {
		case e.sum != nil:
		case e.item.Err != "":
			e.sum = &profileSummary{err: e.item.Err}
		default:
			d.reading = true
			return d.summarize(m, e)
		}
	}
	return nil
}

// summarizedMsg brings the summary of one profile.
type summarizedMsg struct {
	in    *library
	entry *profileEntry
	sum   *profileSummary
}

func (s summarizedMsg) Apply(m *tui.Model) tui.Cmd {
	s.entry.sum = s.sum
	s.in.reading = false
	return tui.Batch(s.in.readNext(m), m.Refresh())
}

// newSummary sums a profile up.
func newSummary(p *profile.Profile) *profileSummary {
	s := &profileSummary{samples: -1, window: p.Duration, start: p.Time}
	t, err := report.NewTop(p, report.Options{By: profile.ByClass})
	if err != nil {
		s.err = profileTrouble(err)
		return s
	}
	s.kind, s.unit, s.total, s.samples = t.Type.Type, t.Type.Unit, t.Total, t.Samples
	for i := range t.Entries {
		if e := &t.Entries[i]; e.Flat > 0 {
			s.classes = append(s.classes, classPart{words.Harmless(e.Function), e.Flat})
		}
	}
	return s
}

// mergeSummaries is the summary of several profiles of one kind; nil until all are known.
func mergeSummaries(list []*profileEntry) *profileSummary {
	all := &profileSummary{}
	at := map[string]int{}
	type busy struct{ total, window float64 }
	nodes := map[string]busy{} // windows of one process lie one after the other
	for _, e := range list {
		s := e.sum
		switch {
		case s == nil:
			return nil
		case s.err != "":
			continue
		case all.kind == "":
			all.kind, all.unit, all.window, all.start = s.kind, s.unit, s.window, s.start
		}
		if c := s.cores(); c >= 0 {
			b := nodes[e.item.Node]
			nodes[e.item.Node] = busy{b.total + float64(s.total), b.window + float64(s.window)}
		}
		all.total += s.total
		all.window = max(all.window, s.window)
		if s.samples < 0 || all.samples < 0 {
			all.samples = -1
		} else {
			all.samples += s.samples
		}
		for _, c := range s.classes {
			i, ok := at[c.name]
			if !ok {
				i = len(all.classes)
				at[c.name] = i
				all.classes = append(all.classes, classPart{name: c.name})
			}
			all.classes[i].value += c.value
		}
	}
	for _, node := range slices.Sorted(maps.Keys(nodes)) { // floats add up differently in another order
		all.together += nodes[node].total / nodes[node].window
	}
	slices.SortStableFunc(all.classes, func(a, b classPart) int {
		return cmp.Or(cmp.Compare(b.value, a.value), cmp.Compare(a.name, b.name))
	})
	return all
}

// cores is how many processor cores were busy; NaN where that is no question.
func (s *profileSummary) cores() float64 {
	if s.together > 0 {
		return s.together
	}
	if s.kind != "cpu" || s.unit != "nanoseconds" || s.window <= 0 {
		return math.NaN()
	}
	return float64(s.total) / float64(s.window)
}

// top names the classes that are worth most, as many as fit into w cells.
func (s *profileSummary) top(w int) string {
	const most = 3
	text := ""
	for i, c := range s.classes[:min(most, len(s.classes))] {
		part := strings.TrimPrefix(c.name, "native ") + " " + words.Percent(percentOf(c.value, s.total))
		if i > 0 {
			part = text + ", " + part
			if draw.Width(part) > w {
				break
			}
		}
		text = part
	}
	return text
}

// start pulls from all processes; the screen stays usable meanwhile.
func (d *library) start(m *tui.Model, window time.Duration) tui.Cmd {
	ctx, cancel := m.Context()
	d.pull = &profilePull{window: window, cancel: cancel}
	steps := make(chan tui.Message)
	return tui.Batch(d.run(ctx, d.pull, steps), nextStep(steps))
}

// pullStepMsg is how far the pull from one process is.
type pullStepMsg struct {
	pull  *profilePull
	step  Progress
	steps <-chan tui.Message
}

func (s pullStepMsg) Apply(m *tui.Model) tui.Cmd {
	p := s.pull
	i := slices.IndexFunc(p.progress, func(x Progress) bool { return x.Node == s.step.Node && x.Role == s.step.Role })
	if i < 0 {
		p.progress = append(p.progress, s.step)
	} else {
		p.progress[i] = s.step
	}
	return tui.Batch(nextStep(s.steps), m.Refresh())
}

// pulledMsg brings what a pull took.
type pulledMsg struct {
	in   *library
	pull *profilePull
	set  Set
	err  error
}

func (p pulledMsg) Apply(m *tui.Model) tui.Cmd {
	d := p.in
	p.pull.cancel()
	if d.pull != p.pull { // cancelled
		return nil
	}
	d.pull = nil
	failed := 0
	for i := range p.set.Items {
		if p.set.Items[i].Err != "" {
			failed++
		}
	}
	switch {
	case p.err != nil:
		m.Say(tui.ToneBad, "not pulled: "+profileTrouble(p.err))
	case failed > 0:
		m.Say(tui.ToneWarn, "pulled "+words.Plural(len(p.set.Items)-failed, "profile")+", "+words.Number(failed)+" failed")
	default:
		m.Say(tui.ToneGood, "pulled "+words.Plural(len(p.set.Items), "profile"))
	}
	if len(p.set.Items) > 0 {
		d.listed, d.err = true, nil
		d.add(p.set)
	}
	return tui.Batch(d.readNext(m), m.Refresh())
}

// stop gives a pull up.
func (d *library) stop(m *tui.Model) {
	if d.pull != nil {
		d.pull.cancel()
		d.pull = nil
		m.Say(tui.ToneInfo, "the pull was cancelled")
	}
}

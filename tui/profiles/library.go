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

// library holds the available profiles for all pages.
type library struct {
	feed              Feed // nil without profiles
	requested, listed bool
	err               error
	entries           []*profileEntry
	batches           int
	reading           bool // a summary is being made
	pull              *profilePull
}

// profileEntry is a profile in the list.
type profileEntry struct {
	item  Item
	batch int // number of the listing or pull that added it
	sum   *profileSummary
}

// profileSummary holds the figures of a profile in the list, after the profile was read.
type profileSummary struct {
	kind    string // of the sample type
	unit    string
	total   int64
	samples int64 // -1 if unknown
	window  time.Duration
	start   time.Time
	classes []classPart
	// mergedCores is the number of cores that several processes kept busy. It is 0 for a single profile.
	mergedCores float64
	err         string
}

// classPart is the share of a class in a profile.
type classPart struct {
	name  string
	value int64
}

// profilePull is a pull in progress.
type profilePull struct {
	window   time.Duration
	cancel   context.CancelFunc
	progress []Progress
}

// requestList requests the list once.
func (d *library) requestList(m *tui.Model) tui.Cmd {
	if d.requested {
		return nil
	}
	d.requested = true
	return d.list(m)
}

// listedMsg delivers the list of profiles.
type listedMsg struct {
	lib *library
	set Set
	err error
}

func (l listedMsg) Apply(m *tui.Model) tui.Cmd {
	l.lib.listed, l.lib.err = true, l.err
	l.lib.add(l.set)
	return tui.Batch(l.lib.readNext(m), m.Refresh())
}

// add puts the profiles of a set before the existing ones.
func (d *library) add(set Set) {
	d.batches++
	added := make([]*profileEntry, len(set.Items))
	for i, item := range set.Items {
		added[i] = &profileEntry{item: item, batch: d.batches}
	}
	slices.SortStableFunc(added, func(a, b *profileEntry) int {
		return cmp.Or(cmp.Compare(kindRank(a.item.Kind), kindRank(b.item.Kind)), cmp.Compare(a.item.Kind, b.item.Kind),
			cmp.Compare(a.item.Role, b.item.Role), cmp.Compare(a.item.Node, b.item.Node),
			a.item.Start.Compare(b.item.Start))
	})
	d.entries = append(added, d.entries...)
}

// kindRank puts CPU profiles first, because they are used most.
func kindRank(kind string) int {
	if kind == "cpu" {
		return 0
	}
	return 1
}

// readNext reads the next profile of the list that has no summary yet, one at a time.
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

// summarizedMsg delivers the summary of a profile.
type summarizedMsg struct {
	lib   *library
	entry *profileEntry
	sum   *profileSummary
}

func (s summarizedMsg) Apply(m *tui.Model) tui.Cmd {
	s.entry.sum = s.sum
	s.lib.reading = false
	return tui.Batch(s.lib.readNext(m), m.Refresh())
}

// newSummary computes the summary of a profile.
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
			s.classes = append(s.classes, classPart{words.Sanitize(e.Function), e.Flat})
		}
	}
	return s
}

// mergeSummaries merges the summaries of several profiles of the same kind. It returns nil unless all
// summaries are known.
func mergeSummaries(list []*profileEntry) *profileSummary {
	all := &profileSummary{}
	at := map[string]int{}
	type busy struct{ total, window float64 }
	nodes := map[string]busy{} // the profiles of a process have consecutive windows
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
	for _, node := range slices.Sorted(maps.Keys(nodes)) { // in a fixed order, because sums of floats depend on it
		all.mergedCores += nodes[node].total / nodes[node].window
	}
	slices.SortStableFunc(all.classes, func(a, b classPart) int {
		return cmp.Or(cmp.Compare(b.value, a.value), cmp.Compare(a.name, b.name))
	})
	return all
}

// cores returns the number of busy cores, or NaN if the profile is not a CPU profile.
func (s *profileSummary) cores() float64 {
	if s.mergedCores > 0 {
		return s.mergedCores
	}
	if s.kind != "cpu" || s.unit != "nanoseconds" || s.window <= 0 {
		return math.NaN()
	}
	return float64(s.total) / float64(s.window)
}

// top names the largest classes, at most three and as many as fit into w cells.
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

// start pulls from all processes. The UI stays responsive during the pull.
func (d *library) start(m *tui.Model, window time.Duration) tui.Cmd {
	ctx, cancel := m.Context()
	d.pull = &profilePull{window: window, cancel: cancel}
	steps := make(chan tui.Message)
	return tui.Batch(d.run(ctx, d.pull, steps), nextStep(steps))
}

// pullStepMsg delivers the progress of a pull from one process.
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

// pulledMsg delivers the profiles of a pull.
type pulledMsg struct {
	lib  *library
	pull *profilePull
	set  Set
	err  error
}

func (p pulledMsg) Apply(m *tui.Model) tui.Cmd {
	d := p.lib
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
		m.Notify(tui.ToneBad, "pull failed: "+profileTrouble(p.err))
	case failed > 0:
		m.Notify(tui.ToneWarn,
			"pulled "+words.Plural(len(p.set.Items)-failed, "profile")+", "+words.Number(failed)+" failed")
	default:
		m.Notify(tui.ToneGood, "pulled "+words.Plural(len(p.set.Items), "profile"))
	}
	if len(p.set.Items) > 0 {
		d.listed, d.err = true, nil
		d.add(p.set)
	}
	return tui.Batch(d.readNext(m), m.Refresh())
}

// stop cancels a pull.
func (d *library) stop(m *tui.Model) {
	if d.pull != nil {
		d.pull.cancel()
		d.pull = nil
		m.Notify(tui.ToneInfo, "the pull was cancelled")
	}
}

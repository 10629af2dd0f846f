package profile

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"kitescope/internal/words"
)

// MergeOptions say how profiles become one.
type MergeOptions struct {
	// Nodes labels each sample with the node and the role that its profile's Origin names (NodeLabel, RoleLabel),
	// so that nodes stay apart. A profile of no known node is called by its name; samples that have the label
	// already, of an earlier merge, keep it. Processes of equal names are given different ones, which a Note says.
	Nodes bool
	// SameNodes takes profiles whose nodes have equal names for profiles of one process, at different times.
	SameNodes bool
	// Count is how many profiles there will be, if that is known: 0 if not. As with Limits.Size, tables then need not
	// be moved while they grow.
	Count int
	// Limits bound the result: MaxMemory and MaxSamples.
	Limits Limits
}

// Merge makes one profile of several, as `go tool pprof` does with several files: with the sample types that all have, by
// their names, in the finest unit. As with google/pprof's profile.Merge samples with equal stacks and labels are
// added up and those of which nothing is left are gone; the durations are added up, the period is the longest, the
// time the earliest. Unlike there, the period is gone if only it could tell how many samples there were, and it does not:
// sums of values can be its multiples by chance.
func Merge(ps []*Profile, options MergeOptions) (*Profile, error) {
	if len(ps) == 0 {
		return nil, errors.New("no profiles to merge")
	}
	options.Count = len(ps)
	m := NewMerger(options)
	for _, p := range ps {
		if err := m.Add(p); err != nil {
			return nil, err
		}
	}
	return m.Profile(), nil
}

// Merger merges profiles that come one after the other, of which none needs to be kept.
type Merger struct {
	options  MergeOptions
	p        Profile // the result so far
	count    int
	defaults []typeDefault
	names    nodeNames
	tables   mergeTables
	samples  sampleTable
	// uncounted says that the values of a profile were no numbers of samples times the period of the result.
	uncounted bool
	columns   []column
	row       []int64
	stack     []uint32
}

// NewMerger makes a Merger of nothing.
func NewMerger(options MergeOptions) *Merger {
	options.Limits = options.Limits.orDefaults()
	m := &Merger{options: options, names: nodeNames{}}
	m.p.Starts = []uint32{0}
	m.tables.init(&m.p)
	m.samples.init(&m.p)
	return m
}

// Add adds a profile. One that does not go together with those before leaves the Merger as it was.
func (m *Merger) Add(p *Profile) error {
	if err := m.addTypes(p); err != nil {
		return err
	}
	if kind := slices.Index(p.Types, p.PeriodType); kind >= 0 && !p.sampledBy(p.Period, kind) {
		m.uncounted = true
	}
	m.addHeader(p)
	m.count++
	m.samples.foresee(m.count-1, m.options.Count)
	sets := m.labelSets(p)
	m.tables.begin(p)
	for i := range p.Len() {
		if !m.take(p, i) {
			continue
		}
		m.stack = m.stack[:0]
		for _, l := range p.Stack(i) {
			at := m.tables.locationAt[l]
			if at == missing {
				at = m.tables.location(l)
			}
			m.stack = append(m.stack, at)
		}
		set := uint32(0)
		if p.LabelOf != nil {
			set = p.LabelOf[i]
		}
		if err := m.samples.add(m.stack, m.row, sets(set)); err != nil {
			return err
		}
		if m.p.Len()&0xfff == 0 {
			if err := m.check(); err != nil {
				return err
			}
		}
	}
	return m.check()
}

// take puts the values of a sample into m.row; false if all are 0.
func (m *Merger) take(p *Profile, i int) bool {
	values := p.Values[i*len(p.Types):]
	bits := int64(0)
	for j, c := range m.columns {
		v := values[c.from]
		if c.ratio != 1 {
			v = scaled(v, c.ratio)
		}
		m.row[j] = v
		bits |= v
	}
	return bits != 0
}

func (m *Merger) check() error {
	if m.p.Len() > m.options.Limits.MaxSamples {
		return tooLarge("more than %d samples", m.options.Limits.MaxSamples)
	}
	used := bytesOf(m.p.Stacks) + bytesOf(m.p.Values) + bytesOf(m.p.Starts) + bytesOf(m.p.LabelOf) + 20*int64(m.p.Len())
	used += m.tables.memory + m.tables.labels.memory
	if used > m.options.Limits.MaxMemory {
		return tooLarge("it would take more than %s of memory", words.Bytes(m.options.Limits.MaxMemory))
	}
	return nil
}

// addHeader combines what is said of profiles as a whole (google/pprof profile/merge.go: combineHeaders).
func (m *Merger) addHeader(p *Profile) {
	q := &m.p
	if m.count == 0 {
		q.DropFrames, q.KeepFrames = p.DropFrames, p.KeepFrames
		q.Origin = p.Origin
	}
	if q.Time.IsZero() || !p.Time.IsZero() && p.Time.Before(q.Time) {
		q.Time = p.Time
	}
	q.Duration = addDurations(q.Duration, p.Duration)
	for _, c := range p.Comments {
		if !slices.Contains(q.Comments, c) {
			q.Comments = append(q.Comments, c)
		}
	}
	if q.DocURL == "" {
		q.DocURL = p.DocURL
	}
	for _, n := range p.Notes {
		m.note(n.What, n.Count)
	}
	if m.count > 0 {
		q.Origin.Name = fmt.Sprintf("%d profiles", m.count+1)
		q.Origin.Node = same(q.Origin.Node, p.Origin.Node)
		q.Origin.Role = same(q.Origin.Role, p.Origin.Role)
		q.Origin.Format = same(q.Origin.Format, p.Origin.Format)
		q.Origin.Flat = q.Origin.Flat || p.Origin.Flat
		q.Origin.Merged = max(1, q.Origin.Merged) + max(1, p.Origin.Merged)
	}
}

func addDurations(a, b time.Duration) time.Duration {
	sum := a + b
	if a > 0 && b > 0 && sum < 0 {
		return math.MaxInt64
	}
	return sum
}

// same is what both are, or nothing.
func same(a, b string) string {
	if a == b {
		return a
	}
	return ""
}

func (m *Merger) note(what string, count int64) {
	for i := range m.p.Notes {
		if m.p.Notes[i].What == what {
			m.p.Notes[i].Count += count
			return
		}
	}
	m.p.Notes = append(m.p.Notes, Note{What: what, Count: count})
}

// Profile is the result. The Merger must not be used afterwards.
func (m *Merger) Profile() *Profile {
	p := &m.p
	p.DefaultType = m.defaultType()
	p.LabelSets = m.tables.labels.sets
	if kind, ok := p.Overflow(); ok {
		m.note(fmt.Sprintf("values of %s add up to more than 64 bits can hold: sums of them are wrong", p.Types[kind].Type), 1)
	}
	if len(p.LabelSets) == 1 {
		p.LabelOf = nil
	}
	if kind := slices.Index(p.Types, p.PeriodType); m.uncounted && kind >= 0 && !scaledUp(p.PeriodType) && p.counter(kind) < 0 {
		p.Period = 0
	}
	if !hasZeros(p) {
		return p
	}
	// Merging it once more leaves out what only samples without a value used, as google/pprof does.
	again := NewMerger(MergeOptions{Limits: m.options.Limits})
	origin, notes := p.Origin, p.Notes
	if err := again.Add(p); err != nil {
		return p // it can only have become less: never
	}
	q := again.Profile()
	q.Origin, q.Notes = origin, notes
	return q
}

// hasZeros reports whether there is a sample all of whose values are 0.
func hasZeros(p *Profile) bool {
	width := len(p.Types)
	for i := range p.Len() {
		bits := int64(0)
		for _, v := range p.Values[i*width:][:width] {
			bits |= v
		}
		if bits == 0 {
			return true
		}
	}
	return false
}

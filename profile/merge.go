package profile

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"kitescope/internal/words"
)

// MergeOptions configures a merge.
type MergeOptions struct {
	// Nodes labels each sample with the node and role of its profile's Origin (NodeLabel, RoleLabel), so that
	// nodes stay separate. If the node is unknown, the profile's name is used. Samples that have the label
	// from an earlier merge keep it. Unless SameNodes is set, processes of the same name are renamed, which a
	// Note reports.
	Nodes bool
	// SameNodes treats profiles with the same node name as one process at different times.
	SameNodes bool
	// Count is the number of profiles to come, 0 if unknown. As with Limits.Size, tables then need not be
	// moved while they grow.
	Count int
	// Limits bounds the result by MaxMemory and MaxSamples.
	Limits Limits
}

// Merge merges profiles into one, as `go tool pprof` does for several files. The result has the sample types
// that all profiles have, matched by name, in the finest unit. As in google/pprof's profile.Merge, samples with
// equal stacks and labels are added up, and samples whose values are all 0 are removed. Durations are added up,
// the period is the longest, and the time is the earliest.
//
// Unlike google/pprof, Merge clears the period if the number of samples could be computed only from the period,
// and the values of some profile are not multiples of it. Their sums could be multiples by chance and would
// give a wrong number.
//
// It returns an error if ps is empty, if the profiles have incompatible types, or if the result exceeds the
// limits.
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

// Merger merges profiles one at a time. It does not retain them.
type Merger struct {
	options  MergeOptions
	p        Profile // the result so far
	count    int
	defaults []typeDefault
	names    nodeNames
	tables   mergeTables
	samples  sampleTable
	// uncounted reports whether the values of some profile were not numbers of samples times the period of
	// the result.
	uncounted bool
	columns   []column
	row       []int64
	stack     []uint32
}

// NewMerger returns an empty Merger.
func NewMerger(options MergeOptions) *Merger {
	options.Limits = options.Limits.orDefaults()
	m := &Merger{options: options, names: nodeNames{}}
	m.p.Starts = []uint32{0}
	m.tables.init(&m.p)
	m.samples.init(&m.p)
	return m
}

// Add adds a profile. An incompatible profile leaves the Merger unchanged.
func (m *Merger) Add(p *Profile) error {
	if err := m.addTypes(p); err != nil {
		return err
	}
	if kind := slices.Index(p.Types, p.PeriodType); kind >= 0 && !p.sampledBy(p.Period, kind) {
		m.uncounted = true
	}
	m.addHeader(p)
	m.count++
	m.samples.reserve(m.count-1, m.options.Count)
	sets := m.labelSets(p)
	m.tables.begin(p)
	for i := range p.Len() {
		if !m.fillRow(p, i) {
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

// fillRow puts the values of a sample into m.row. It returns false if all are 0.
func (m *Merger) fillRow(p *Profile, i int) bool {
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

// addHeader combines the profile-wide properties (google/pprof profile/merge.go: combineHeaders).
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
		q.Origin.Node = common(q.Origin.Node, p.Origin.Node)
		q.Origin.Role = common(q.Origin.Role, p.Origin.Role)
		q.Origin.Format = common(q.Origin.Format, p.Origin.Format)
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

// common returns a if it equals b, otherwise "".
func common(a, b string) string {
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

// Profile returns the result. The Merger must not be used afterwards.
func (m *Merger) Profile() *Profile {
	p := &m.p
	p.DefaultType = m.defaultType()
	p.LabelSets = m.tables.labels.sets
	if kind, ok := p.Overflow(); ok {
		m.note(fmt.Sprintf("values of %s add up to more than 64 bits can hold: their sums are wrong",
			p.Types[kind].Type), 1)
	}
	if len(p.LabelSets) == 1 {
		p.LabelOf = nil
	}
	if kind := slices.Index(p.Types, p.PeriodType); m.uncounted && kind >= 0 && !scaledUp(p.PeriodType) &&
		p.counter(kind) < 0 {
		p.Period = 0
	}
	if !hasZeros(p) {
		return p
	}
	// Merging once more removes table entries that only samples without values used, as google/pprof does.
	again := NewMerger(MergeOptions{Limits: m.options.Limits})
	origin, notes := p.Origin, p.Notes
	if err := again.Add(p); err != nil {
		return p // cannot happen: the result only shrinks
	}
	q := again.Profile()
	q.Origin, q.Notes = origin, notes
	return q
}

// hasZeros reports whether there is a sample whose values are all 0.
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

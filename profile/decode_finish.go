package profile

import (
	"cmp"
	"slices"
	"sort"
	"strings"
	"time"
	"unsafe"
)

// finish replaces the file's ids and name numbers by indexes and names, and checks that all references
// resolve.
func (d *decoder) finish() (*Profile, error) {
	if len(d.texts.ends) == 0 {
		return nil, errTruncated // every profile has a name table
	}
	if err := d.checkFinish(); err != nil {
		return nil, err
	}
	if d.width >= 0 && d.width != len(d.types) {
		return nil, malformed("its samples have %d values, but it names %d", d.width, len(d.types))
	}
	// The names share these bytes, which are not written again. A copy would be as large as all names together.
	names := &names{all: unsafe.String(unsafe.SliceData(d.texts.all), len(d.texts.all)), ends: d.texts.ends}
	p := &Profile{
		Types:       make([]ValueType, len(d.types)),
		DefaultType: names.at(d.single[profileDefault]),
		PeriodType:  ValueType{names.at(d.period.kind), names.at(d.period.unit)},
		Period:      int64(d.single[profilePeriod]),
		Duration:    time.Duration(d.single[profileDuration]),
		DocURL:      names.at(d.single[profileDocURL]),
		DropFrames:  names.at(d.single[profileDropFrames]),
		KeepFrames:  names.at(d.single[profileKeepFrames]),
		Functions:   make([]Function, len(d.functions)),
		Mappings:    make([]Mapping, len(d.mappings)),
		Starts:      d.starts, Stacks: d.stacks, Values: d.values, LabelOf: d.labelOf,
		Origin: Origin{Format: "pprof"},
	}
	if t := int64(d.single[profileTime]); t != 0 {
		p.Time = time.Unix(0, t).UTC()
	}
	for i, t := range d.types {
		p.Types[i] = ValueType{names.at(t.kind), names.at(t.unit)}
	}
	for _, c := range d.comments {
		p.Comments = append(p.Comments, names.at(c))
	}
	for i, m := range d.mappings {
		m.File, m.BuildID = names.truncated(m.file), names.truncated(m.buildID)
		p.Mappings[i] = m.Mapping
	}
	for i, f := range d.functions {
		p.Functions[i] = Function{
			Name: names.truncated(f.name), SystemName: names.truncated(f.systemName), File: names.truncated(f.file),
			StartLine: f.start,
		}
	}
	if len(names.long) > 0 {
		p.Notes = append(p.Notes, Note{What: longNotes, Count: int64(len(names.long))})
	}
	for _, step := range []func(*Profile) error{
		d.finishLocations, d.finishStacks, func(p *Profile) error { return d.finishLabels(p, names) },
	} {
		if err := step(p); err != nil {
			return nil, err
		}
	}
	if d.conflicts > 0 {
		p.Notes = append(p.Notes, Note{
			What:  "fields given twice with different numbers: the file may be damaged",
			Count: d.conflicts,
		})
	}
	return p, names.err()
}

// names returns the names of the file's name table by number.
type names struct {
	all  string
	ends []int
	long map[uint64]string // shortened forms of long names

	isBad bool
	bad   uint64 // a number beyond the table
}

// at returns name i. If i is beyond the table, it returns "" and err returns an error later.
func (n *names) at(i uint64) string {
	if i >= uint64(len(n.ends)) {
		n.isBad, n.bad = true, i
		return ""
	}
	if i == 0 {
		return n.all[:n.ends[0]]
	}
	return n.all[n.ends[i-1]:n.ends[i]]
}

func (n *names) err() error {
	if !n.isBad {
		return nil
	}
	return malformed("name %d is used, but there are %d: it may be cut", n.bad, len(n.ends))
}

// finishLocations resolves the references of locations to mappings and functions.
func (d *decoder) finishLocations(p *Profile) error {
	mappings, err := d.mappingIDs.index("mapping")
	if err != nil {
		return err
	}
	functions, err := d.functionIDs.index("function")
	if err != nil {
		return err
	}
	strays := int64(0)
	for i := range d.locations {
		l := &d.locations[i]
		if l.Mapping == NoMapping {
			continue
		}
		to := mappings.lookup(uint32(l.Mapping))
		if to == missing { // google's reader treats it as a location without a mapping
			strays++
			l.Mapping = NoMapping
			continue
		}
		l.Mapping = int32(to)
	}
	if strays > 0 {
		p.Notes = append(p.Notes, Note{What: "locations in a mapping that the file does not have", Count: strays})
	}
	for i := range d.lines {
		l := &d.lines[i]
		to := functions.lookup(l.Function)
		if to == missing {
			return malformed("a location refers to function %d, which is missing", d.functionIDs.id(l.Function))
		}
		l.Function = to
	}
	p.Locations, p.Lines = d.locations, d.lines
	return nil
}

// finishStacks replaces the location references in stacks by indexes. In most files the references equal the
// indexes.
func (d *decoder) finishStacks(p *Profile) error {
	locations, err := d.locationIDs.index("location")
	if err != nil {
		return err
	}
	if locations.identity && d.locationIDs.top <= locations.count {
		return nil
	}
	for i, ref := range p.Stacks {
		to := locations.lookup(ref)
		if to == missing {
			s := sort.Search(p.Len(), func(s int) bool { return int(p.Starts[s+1]) > i })
			return malformed("sample %d refers to location %d, which is missing", s+1, d.locationIDs.id(ref))
		}
		p.Stacks[i] = to
	}
	return nil
}

// finishLabels decodes the labels of samples. It merges sets that differ only in their encoding.
func (d *decoder) finishLabels(p *Profile, names *names) error {
	p.LabelSets = [][]Label{nil}
	seen := map[string]uint32{"": 0}
	to := make([]uint32, len(d.raw)+1)
	isSame := true
	var numbers textNumbers
	var key []byte
	for i, raw := range d.raw {
		set, err := d.readLabels([]byte(raw), names)
		if err != nil {
			return err
		}
		key = numbers.appendLabels(key[:0], set)
		at, ok := seen[string(key)]
		if !ok {
			at = uint32(len(p.LabelSets))
			p.LabelSets = append(p.LabelSets, set)
			seen[string(key)] = at
		}
		to[i+1] = at
		isSame = isSame && at == uint32(i+1)
	}
	if len(p.LabelSets) == 1 {
		p.LabelOf = nil
		return nil
	}
	if !isSame {
		for i, set := range p.LabelOf {
			p.LabelOf[i] = to[set]
		}
	}
	return nil
}

// readLabels reads the labels of a sample, in the order of sortLabels. Like google's reader, it skips a label
// that has no text, no unit and the number 0.
func (d *decoder) readLabels(b []byte, names *names) ([]Label, error) {
	n := 0
	for rest := b; len(rest) > 0; n++ {
		var err error
		if _, rest, err = next(rest); err != nil {
			return nil, err
		}
	}
	set := make([]Label, 0, n)
	for len(b) > 0 {
		f, rest, err := next(b)
		if err != nil {
			return nil, err
		}
		b = rest
		var v [5]uint64
		if err := d.scalars(f.data, v[:]); err != nil {
			return nil, err
		}
		l := Label{Key: names.at(v[1])}
		switch {
		case v[2] != 0:
			l.Str = names.at(v[2])
		case v[3] != 0 || v[4] != 0:
			l.Num, l.Unit, l.IsNum = int64(v[3]), names.at(v[4]), true
		default:
			continue
		}
		set = append(set, l)
	}
	if len(set) == 0 {
		return nil, nil
	}
	sortLabels(set)
	return set, nil
}

// sortLabels sorts a label set into its canonical order: texts by key, then numbers by key. Values of the
// same key keep their order.
func sortLabels(set []Label) {
	slices.SortStableFunc(set, compareLabels)
}

func compareLabels(a, b Label) int {
	if a.IsNum != b.IsNum {
		return cmp.Compare(bit(a.IsNum), bit(b.IsNum))
	}
	return strings.Compare(a.Key, b.Key)
}

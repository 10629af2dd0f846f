package profile

import (
	"slices"
)

// SetLabel returns the profile with a text label on all samples. It replaces other texts with the same key,
// as google/pprof's Profile.SetLabel does.
func (p *Profile) SetLabel(key, value string) *Profile {
	return p.relabel(func(set []Label) []Label { return withLabel(set, key, value) })
}

// Collapse returns the profile without NodeLabel and RoleLabel. Samples that become equal are added up. It
// returns p itself if no sample has these labels.
func (p *Profile) Collapse() *Profile {
	drop := []string{NodeLabel, RoleLabel}
	if !slices.ContainsFunc(p.LabelSets, func(set []Label) bool { return len(withoutLabels(set, drop)) < len(set) }) {
		return p
	}
	collapsed, err := Merge([]*Profile{p.relabel(func(set []Label) []Label { return withoutLabels(set, drop) })},
		MergeOptions{})
	if err != nil {
		return p // cannot happen: it has no more frames than before
	}
	collapsed.Origin = p.Origin
	return collapsed
}

// withLabel returns a set with a text label that replaces all texts with the same key.
func withLabel(set []Label, key, value string) []Label {
	with := make([]Label, 0, len(set)+1)
	for _, l := range set {
		if l.IsNum || l.Key != key {
			with = append(with, l)
		}
	}
	with = append(with, Label{Key: key, Str: value})
	sortLabels(with)
	return with
}

func withoutLabels(set []Label, keys []string) []Label {
	if !slices.ContainsFunc(set, func(l Label) bool { return slices.Contains(keys, l.Key) }) {
		return set
	}
	return slices.DeleteFunc(slices.Clone(set), func(l Label) bool { return slices.Contains(keys, l.Key) })
}

func isSorted(set []Label) bool { return slices.IsSortedFunc(set, compareLabels) }

// relabel returns a profile with change applied to each label set. The other tables are shared.
func (p *Profile) relabel(change func([]Label) []Label) *Profile {
	q := *p
	table := newLabelTable()
	sets := p.LabelSets
	if len(sets) == 0 {
		sets = [][]Label{nil}
	}
	to := make([]uint32, len(sets))
	for i, set := range sets {
		to[i] = table.index(change(set))
	}
	q.LabelSets, q.LabelOf = table.sets, nil
	if len(table.sets) == 1 {
		return &q
	}
	q.LabelOf = make([]uint32, p.Len())
	for i := range q.LabelOf {
		if p.LabelOf == nil {
			q.LabelOf[i] = to[0]
		} else {
			q.LabelOf[i] = to[p.LabelOf[i]]
		}
	}
	return &q
}

// labelTable stores equal label sets once. The first set is the empty one.
type labelTable struct {
	sets [][]Label
	at   map[string]uint32
	key  []byte

	texts  textNumbers
	memory int64 // approximate size in bytes of the sets and their keys, without the texts, which profiles share
}

func newLabelTable() *labelTable {
	return &labelTable{sets: [][]Label{nil}, at: map[string]uint32{"": 0}}
}

// index returns the index of a set, adding it if necessary. Its labels must be in the order of sortLabels.
func (t *labelTable) index(set []Label) uint32 {
	t.key = t.texts.appendLabels(t.key[:0], set)
	i, ok := t.at[string(t.key)]
	if !ok {
		i = uint32(len(t.sets))
		t.sets = append(t.sets, set)
		t.at[string(t.key)] = i
		t.memory += int64(len(t.key)) + 64*int64(len(set)) + mapEntry + 48
	}
	return i
}

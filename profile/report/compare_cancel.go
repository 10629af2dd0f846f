package report

import (
	"fmt"
	"hash/maphash"
	"slices"
	"strings"

	"kitescope/profile"
)

// cancelled is a difference whose base is labelled, without that label and with the samples
// added up that are equal then: what pprof's -base has. The first of them has the sum, the others
// nothing, which is not counted. All tables but the values and labels are those of the difference,
// so that its frames have the same ids.
func cancelled(p *profile.Profile) *profile.Profile {
	c := &canceller{p: p, out: *p, first: map[uint64]uint32{}, next: make([]uint32, p.Len()), seed: maphash.Comparable(maphash.MakeSeed(), 0)}
	c.unlabel()
	width := len(p.Types)
	c.out.Values = slices.Clone(p.Values)
	c.out.LabelOf = make([]uint32, p.Len())
	for i := range p.Len() {
		c.out.LabelOf[i] = c.set(i)
		at := c.find(i)
		if at == i {
			continue
		}
		for kind := range width {
			c.out.Values[at*width+kind] += p.Value(i, kind)
			c.out.Values[i*width+kind] = 0
		}
	}
	return &c.out
}

type canceller struct {
	p *profile.Profile
	// out is what is made.
	out profile.Profile
	// sets are the numbers of the label sets without the label.
	sets []uint32
	// first is the sample with a hash that was met last, of those that are like none before, and next the one before it, both plus 1.
	first map[uint64]uint32
	next  []uint32
	seed  uint64
}

// unlabel makes the label sets without the label.
func (c *canceller) unlabel() {
	c.sets = make([]uint32, len(c.p.LabelSets))
	c.out.LabelSets = [][]profile.Label{nil}
	known := map[string]uint32{"": 0}
	for i, set := range c.p.LabelSets {
		plain := slices.DeleteFunc(slices.Clone(set), isBaseLabel)
		var text strings.Builder
		for _, l := range plain {
			fmt.Fprintf(&text, "%q %q %d %q %t;", l.Key, l.Str, l.Num, l.Unit, l.IsNum)
		}
		key := text.String()
		at, ok := known[key]
		if !ok {
			at = uint32(len(c.out.LabelSets))
			c.out.LabelSets = append(c.out.LabelSets, plain)
			known[key] = at
		}
		c.sets[i] = at
	}
}

func (c *canceller) set(i int) uint32 {
	if c.p.LabelOf == nil {
		return 0
	}
	return c.sets[c.p.LabelOf[i]]
}

// find is the sample that sample i is like: one before it, or it if there is none.
func (c *canceller) find(i int) int {
	const multiplier = 0x9E3779B97F4A7C15
	stack, set := c.p.Stack(i), c.out.LabelOf[i]
	hash := (c.seed ^ uint64(set)) * multiplier
	for _, location := range stack {
		hash = (hash ^ hash>>29 ^ uint64(location)) * multiplier
	}
	for at := c.first[hash]; at > 0; at = c.next[at-1] {
		if c.out.LabelOf[at-1] == set && slices.Equal(c.p.Stack(int(at-1)), stack) {
			return int(at - 1)
		}
	}
	c.next[i] = c.first[hash]
	c.first[hash] = uint32(i) + 1
	return i
}

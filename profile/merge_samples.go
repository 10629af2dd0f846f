package profile

import (
	"hash/maphash"
	"math"
	"math/bits"
	"slices"
)

// sampleTable is a hash table of a result's samples, keyed by stack and labels.
type sampleTable struct {
	p    *Profile
	seed uint64
	// slots holds 0 for an empty slot. Otherwise the upper 32 bits are half of a sample's hash, and the lower
	// 32 bits its index plus 1. Most samples with another hash are thus skipped without comparing stacks.
	slots []uint64
}

func (t *sampleTable) init(p *Profile) {
	*t = sampleTable{p: p, seed: maphash.Comparable(maphash.MakeSeed(), 0), slots: make([]uint64, 1<<10)}
}

// reserve grows the tables to their predicted final size when enough profiles were merged to predict it.
func (t *sampleTable) reserve(in, count int) {
	const least = 4
	if in < least || in > count || in&(in-1) != 0 { // after 4, 8, 16...
		return
	}
	done := float64(in) / float64(count)
	if p := t.p; float64(cap(p.Stacks))*done < float64(len(p.Stacks)) {
		p.Stacks = grow(p.Stacks, 0, done)
		p.Values = grow(p.Values, 0, done)
	}
}

// add adds values to the sample with the given stack and labels, inserting it if necessary.
func (t *sampleTable) add(stack []uint32, values []int64, set uint32) error {
	h := hashStack(t.seed, stack, set) << 32
	mask := uint64(len(t.slots) - 1)
	at := h >> 32 & mask
	for ; t.slots[at] != 0; at = (at + 1) & mask {
		slot := t.slots[at]
		if slot&^math.MaxUint32 != h {
			continue
		}
		if i := int(slot&math.MaxUint32) - 1; t.p.LabelOf[i] == set && slices.Equal(t.p.Stack(i), stack) {
			own := t.p.Values[i*len(values):]
			for j, v := range values {
				own[j] += v
			}
			return nil
		}
	}
	if len(t.p.Stacks)+len(stack) > math.MaxUint32 {
		return errTooMany
	}
	t.insert(stack, values, set)
	t.slots[at] = h | uint64(t.p.Len())
	if t.p.Len() > len(t.slots)/4*3 {
		t.grow()
	}
	return nil
}

// hashStack returns a hash of a stack and its labels. It processes four frames at a time: each pair is mixed
// with the previous state, these are multiplied 64 by 64 bits, and both halves of the product are combined
// (the mixing of wyhash). The seed differs in each run, so that no file can be crafted with colliding stacks.
func hashStack(seed uint64, stack []uint32, set uint32) uint64 {
	h := seed ^ uint64(len(stack))<<32 ^ uint64(set)
	for len(stack) >= 4 {
		high, low := bits.Mul64(seed^(uint64(stack[0])|uint64(stack[1])<<32), h^(uint64(stack[2])|uint64(stack[3])<<32))
		h = high ^ low
		stack = stack[4:]
	}
	for _, l := range stack {
		high, low := bits.Mul64(seed^uint64(l), h)
		h = high ^ low
	}
	high, low := bits.Mul64(h, seed|1)
	return high ^ low
}

func (t *sampleTable) insert(stack []uint32, values []int64, set uint32) {
	p := t.p
	p.Stacks = append(room(p.Stacks, len(stack)), stack...)
	p.Starts = append(room(p.Starts, 1), uint32(len(p.Stacks)))
	p.Values = append(room(p.Values, len(values)), values...)
	p.LabelOf = append(room(p.LabelOf, 1), set)
}

// grow quadruples the number of slots.
func (t *sampleTable) grow() {
	old := t.slots
	t.slots = make([]uint64, 4*len(old))
	mask := uint64(len(t.slots) - 1)
	for _, slot := range old {
		if slot == 0 {
			continue
		}
		at := slot >> 32 & mask
		for t.slots[at] != 0 {
			at = (at + 1) & mask
		}
		t.slots[at] = slot
	}
}

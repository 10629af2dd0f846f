package profile

import (
	"hash/maphash"
	"math"
	"math/bits"
	"slices"
)

// sampleTable is the samples of a result, found by stack and labels.
type sampleTable struct {
	p    *Profile
	seed uint64
	// slots are 0, or the index of a sample plus 1 below half of its hash: what another stack is in a slot, the slot tells.
	slots []uint64
}

func (t *sampleTable) init(p *Profile) {
	*t = sampleTable{p: p, seed: maphash.Comparable(maphash.MakeSeed(), 0), slots: make([]uint64, 1<<10)}
}

// foresee makes room for all, when some of the profiles are in: enough of them to tell what the next will bring.
func (t *sampleTable) foresee(in, count int) {
	const least = 4
	if in < least || in > count || in&(in-1) != 0 { // after 4, 8, 16...
		return
	}
	done := float64(in) / float64(count)
	if p := t.p; float64(cap(p.Stacks))*done < float64(len(p.Stacks)) {
		p.Stacks = grown(p.Stacks, 0, done)
		p.Values = grown(p.Values, 0, done)
	}
}

// add adds values to the sample with a stack and labels, of which there may be none yet.
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

// hashStack is a hash of a stack and its labels, four frames at a time: each two are multiplied by what came of those
// before, 64 bits by 64, and both halves of the product count (the mixing of wyhash). The seed is another one in each
// run, so that no file can be made of stacks that collide.
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

// grow makes four times as many slots.
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

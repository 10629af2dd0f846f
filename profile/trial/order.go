package trial

import (
	"math/rand/v2"
	"slices"
)

// slot is one run that is to be made.
type slot struct {
	number, pair int
	control      bool
	side         string
}

// order is the order of all runs, which the seed decides: pairs of both programs and those of the control in a random
// order, one after the other; in half of the pairs, chosen at random, the second program comes first. So what drifts
// with time meets both alike, and nothing that comes back regularly meets one of them.
func (p *Plan) order(seed uint64) []slot {
	rng := rand.New(rand.NewPCG(seed, 0x6b697465)) // any constant will do, and must stay
	pairs := append(halfReversed(rng, p.Pairs, false), halfReversed(rng, p.Control, true)...)
	rng.Shuffle(len(pairs), func(i, j int) { pairs[i], pairs[j] = pairs[j], pairs[i] })
	var slots []slot
	number := [2]int{}
	for _, pair := range pairs {
		kind := 0
		if pair[0].control {
			kind = 1
		}
		number[kind]++
		for _, s := range pair {
			s.pair, s.number = number[kind], len(slots)+1
			slots = append(slots, s)
		}
	}
	return slots
}

func halfReversed(rng *rand.Rand, n int, control bool) [][2]slot {
	second := sidePacked
	if control {
		second = sideCopy
	}
	odd := rng.IntN(2) // of an odd number of pairs, which half is the larger
	pairs := make([][2]slot, n)
	for i := range pairs {
		pairs[i] = [2]slot{{control: control, side: sidePlain}, {control: control, side: second}}
		if i < (n+odd)/2 {
			slices.Reverse(pairs[i][:])
		}
	}
	rng.Shuffle(n, func(i, j int) { pairs[i], pairs[j] = pairs[j], pairs[i] })
	return pairs
}

// reopen puts aside what was measured and cannot count: a run whose partner was not made at once after it, and, where
// too many runs had failed, those and their partners.
func (s *state) reopen(order []slot) {
	of := map[slot]int{}
	for _, r := range s.Runs {
		of[slot{pair: r.Pair, control: r.Control}]++
	}
	again := map[slot]bool{}
	for key, count := range of {
		again[key] = count < 2
	}
	for _, r := range s.Runs {
		if s.Stopped != "" && r.Failed != "" {
			again[slot{pair: r.Pair, control: r.Control}] = true
		}
	}
	var kept []Measured
	for _, r := range s.Runs {
		if again[slot{pair: r.Pair, control: r.Control}] {
			s.Discarded = append(s.Discarded, r)
		} else {
			kept = append(kept, r)
		}
	}
	s.Runs, s.Stopped = kept, ""
	if len(s.Runs) < len(order) {
		s.Finished = false
		s.Warmed = 0 // the machine has done something else meanwhile
	}
}

// todo are the slots that have no run.
func (s *state) todo(order []slot) []slot {
	done := map[int]bool{}
	for _, r := range s.Runs {
		done[r.Number] = true
	}
	return slices.DeleteFunc(order, func(x slot) bool { return done[x.number] })
}

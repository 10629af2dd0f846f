package trial

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestOrderPairsAndMixes(t *testing.T) {
	const pairs, control, seeds = 21, 10, 200
	reversedOnce, adjacentOnce := false, false
	firsts := 0
	for seed := uint64(1); seed <= seeds; seed++ {
		p := Plan{Pairs: pairs, Control: control}
		order := p.order(seed)
		if len(order) != 2*(pairs+control) {
			t.Fatalf("%d slots", len(order))
		}
		reversed, lastControl := 0, -1
		seen := map[slot]bool{}
		for i := 0; i < len(order); i += 2 {
			a, b := order[i], order[i+1]
			if a.pair != b.pair || a.control != b.control || a.side == b.side || a.number != i+1 || b.number != i+2 {
				t.Fatalf("seed %d: %+v and %+v are no pair", seed, a, b)
			}
			key := slot{pair: a.pair, control: a.control}
			if seen[key] {
				t.Fatalf("seed %d: pair %+v twice", seed, key)
			}
			seen[key] = true
			second := sidePacked
			if a.control {
				second, lastControl = sideCopy, i
			}
			if a.side != sidePlain && a.side != second {
				t.Fatalf("seed %d: side %q in a pair", seed, a.side)
			}
			if !a.control && a.side == second {
				reversed++
			}
		}
		if reversed != pairs/2 && reversed != pairs/2+1 {
			t.Errorf("seed %d: %d of %d pairs begin with PGO", seed, reversed, pairs)
		}
		firsts += reversed
		reversedOnce = reversedOnce || order[0].side != sidePlain
		adjacentOnce = adjacentOnce || lastControl < len(order)-2
	}
	if !reversedOnce || !adjacentOnce {
		t.Error("the order is always the same")
	}
	if middle := seeds * pairs / 2; firsts < middle-60 || firsts > middle+60 { // a standard deviation is 7
		t.Errorf("PGO comes first in %d of %d pairs", firsts, seeds*pairs)
	}
}

func TestOrderIsThatOfTheSeed(t *testing.T) {
	p := Plan{Pairs: 12, Control: 6}
	opt := cmp.AllowUnexported(slot{})
	if d := cmp.Diff(p.order(7), p.order(7), opt); d != "" {
		t.Error("a seed gives two orders:", d)
	}
	if cmp.Equal(p.order(7), p.order(8), opt) {
		t.Error("two seeds give one order")
	}
}

func TestReopenPutsHalvesAside(t *testing.T) {
	order := (&Plan{Pairs: 3}).order(1)
	at := func(i int, failed string) Measured {
		s := order[i]
		return Measured{Number: s.number, Pair: s.pair, Side: s.side, Control: s.control, Failed: failed}
	}
	s := &state{Runs: []Measured{at(0, ""), at(1, "exit status 1"), at(2, "")}, Warmed: 1}
	s.reopen(order)
	if len(s.Runs) != 2 || len(s.Discarded) != 1 || s.Discarded[0].Number != 3 {
		t.Errorf("after an interruption: kept %v, put aside %v", s.Runs, s.Discarded)
	}
	if todo := s.todo(order); len(todo) != 4 || todo[0].number != 3 {
		t.Errorf("what is left to do: %v", todo)
	}
	if s.Warmed != 0 {
		t.Error("no warm-up after an interruption")
	}

	s = &state{Runs: []Measured{at(0, ""), at(1, "exit status 1"), at(2, ""), at(3, "")}, Stopped: "too many"}
	s.reopen(order)
	if len(s.Runs) != 2 || len(s.Discarded) != 2 || s.Stopped != "" {
		t.Errorf("after too many failures: kept %v, put aside %v", s.Runs, s.Discarded)
	}

	s = &state{Runs: []Measured{at(0, ""), at(1, ""), at(2, ""), at(3, ""), at(4, ""), at(5, "")}, Warmed: 1, Finished: true}
	s.reopen(order)
	if len(s.Runs) != 6 || !s.Finished || s.Warmed != 1 || len(s.todo(order)) != 0 {
		t.Errorf("a trial that is done: %+v", s)
	}
}

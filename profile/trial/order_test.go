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
	if middle := seeds * pairs / 2; firsts < middle-60 || firsts > middle+60 { // the standard deviation is 7
		t.Errorf("PGO comes first in %d of %d pairs", firsts, seeds*pairs)
	}
}

func TestOrderDependsOnSeed(t *testing.T) {
	p := Plan{Pairs: 12, Control: 6}
	opt := cmp.AllowUnexported(slot{})
	if d := cmp.Diff(p.order(7), p.order(7), opt); d != "" {
		t.Error("a seed gives two orders:", d)
	}
	if cmp.Equal(p.order(7), p.order(8), opt) {
		t.Error("two seeds give one order")
	}
}

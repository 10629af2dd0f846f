package main

import (
	"math/rand/v2"
	"slices"

	"kitescope/tools/e2e/lab"
)

var (
	// loaded lists the collections that client.py seeds and loads. indexed lists those that have index files.
	loaded  = []string{"photos_cos", "songs_ip", "prints_ham", "pages_pq", "tags_flat"}
	indexed = []string{"photos_cos", "songs_ip", "prints_ham", "pages_pq"}
)

// dice draws at random. The same seed yields the same draws on every machine.
type dice struct{ r *rand.Rand }

func newDice(seed uint64, round int) *dice {
	return &dice{rand.New(rand.NewPCG(seed, uint64(round)))}
}

func pick[T any](d *dice, of []T) T { return of[d.r.IntN(len(of))] }

// some draws n elements of a list and keeps their order.
func some(d *dice, of []string, n int) []string {
	chosen := d.r.Perm(len(of))[:n]
	slices.Sort(chosen)
	out := make([]string, n)
	for i, c := range chosen {
		out[i] = of[c]
	}
	return out
}

// group draws one process, several of a role, or one of each of two roles.
func (d *dice) group() []string {
	switch n := d.r.IntN(10); {
	case n < 6:
		return some(d, lab.AllProcesses, 1)
	case n < 8:
		return some(d, lab.QueryNodes, 2+d.r.IntN(2))
	default:
		return some(d, slices.Concat(lab.Coordinators, lab.Workers, []string{pick(d, lab.QueryNodes)}), 2)
	}
}

// round draws the actions of one round: one, or two at once that touch different things.
func round(seed uint64, number int) []Draw {
	d := newDice(seed, number)
	first := d.draw(nil)
	draws := []Draw{first}
	if !first.Kind.Alone && d.r.IntN(5) == 0 {
		for range 20 {
			second := d.draw(func(k *Kind) bool { return !k.Alone && k.Name != first.Kind.Name })
			if !overlap(first, second) {
				draws = append(draws, second)
				break
			}
		}
	}
	return draws
}

func (d *dice) draw(allowed func(*Kind) bool) Draw {
	total := 0
	var of []*Kind
	for _, k := range kinds() {
		if allowed == nil || allowed(k) {
			of = append(of, k)
			total += k.Weight
		}
	}
	n := d.r.IntN(total)
	for _, k := range of {
		if n -= k.Weight; n < 0 {
			return Draw{k, k.Draw(d)}
		}
	}
	panic("weights do not add up")
}

func overlap(a, b Draw) bool {
	for _, x := range a.Kind.Targets(a.Args) {
		if slices.Contains(b.Kind.Targets(b.Args), x) {
			return true
		}
	}
	return false
}

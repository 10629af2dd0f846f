package main

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"kitescope/tools/e2e/lab"
)

// dice draws the same from one seed on every machine.
type dice struct{ *rand.Rand }

func pick[T any](d *dice, of []T) T { return of[d.IntN(len(of))] }

// between draws a strength, each order of magnitude as likely as another.
func (d *dice) between(low, high float64) float64 {
	return low * math.Exp(d.Float64()*math.Log(high/low))
}

// services are the components that are processes, but not of Milvus.
var services = []string{"etcd", "kafka"}

func processes() []string { return slices.Concat(lab.AllProcesses, services) }

type family struct {
	name   string
	weight int
	draw   func(d *dice) *Action
}

// families is the grammar.
func families() []family {
	return []family{
		{"cpu", 5, drawCPU},
		{"memory", 2, drawMemory},
		{"threads", 1, drawThreads},
		{"files", 2, drawFiles},
		{"signal", 3, drawSignal},
		{"host", 1, drawHost},
		{"link", 9, drawLink},
		{"quota", 2, drawQuota},
		{"topic", 4, drawTopic},
		{"folder", 3, drawCalls},
		{"space", 2, drawSpace},
		{"client", 5, drawMisuse},
		{"key", 3, drawKey},
		{"setting", 3, drawSetting},
		{"login", 1, drawLogin},
	}
}

// round draws what is done in one round: one action, or two at once on different components.
func round(seed uint64, number int) []*Action {
	d := &dice{rand.New(rand.NewPCG(seed, uint64(number)))}
	actions := []*Action{d.action()}
	if d.IntN(5) == 0 {
		for range 20 {
			second := d.action()
			if !slices.ContainsFunc(second.Components, func(c string) bool {
				return slices.Contains(actions[0].Components, c)
			}) {
				return append(actions, second)
			}
		}
	}
	return actions
}

func (d *dice) action() *Action {
	all, total := families(), 0
	for _, f := range all {
		total += f.weight
	}
	n := d.IntN(total)
	for _, f := range all {
		if n -= f.weight; n < 0 {
			a := f.draw(d)
			a.Family = f.name
			return a
		}
	}
	panic("weights do not add up")
}

func plan(actions []*Action) string {
	var all []string
	for _, a := range actions {
		all = append(all, a.String())
	}
	return strings.Join(all, " + ")
}

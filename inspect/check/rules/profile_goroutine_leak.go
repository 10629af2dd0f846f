package rules

import (
	"fmt"
	"math"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
	"kitescope/internal/words"
)

// profileGoroutineLeak finds stacks with a growing number of goroutines in a process.
var profileGoroutineLeak = &check.Check{
	ID:       "profile-goroutine-leak",
	Title:    "Goroutines with the same stack keep growing in number",
	Severity: check.Warning,
	Symptoms: []string{check.MemoryFull},
	Starts:   "node_joined | node_lost",
	Doc: `Goroutines wait forever and hold their memory. The check compares goroutine profiles of one process at two
or more moments, recorded with ` + "`kitescope profile pull --every 10m --kind goroutine`" + `, or
` + "`diagnose --profile 5s`" + `, which takes two that far apart.

Reported: a stack with at least 100 more goroutines at the end than at the start, and at least twice as many, if
chance does not explain it (an exact test of two counts, corrected for the number of stacks, 1%). Warning with three
or more dumps over at least ten minutes and growth from each to the next, or with 10,000 new ones. Else info: more
requests have more goroutines, too, and those end.

The top of the stack shows what they wait for, its last function who started them.`,
	Remedy: `Check again at constant load: ` + "`kitescope profile pull --every 10m --keep 6 --kind goroutine`" + `. A
leak continues when the load ends. Report the stack to Milvus (github.com/milvus-io/milvus/issues) with both dumps.
Until then restart the process to free them: query nodes one after the other, with auto-balance on.`,
	Needs: check.NeedProfiles,
	Run:   runProfileLeak,
}

const (
	leakFew   = 100
	leakMany  = 10_000
	leakLong  = freshProfile
	leakDumps = 3
)

func runProfileLeak(p *check.Pass) {
	list := profiled(p, "goroutine", func(x *model.ProfiledProcess) (bool, string) {
		return x.Goroutines != nil && x.Goroutines.Dumps > 1, x.GoroutineReason
	})
	if len(list) == 0 {
		p.Skip("needs two goroutine profiles of a process")
		return
	}
	for _, x := range list {
		var worst *model.GrownStack
		for i := range x.Goroutines.Grown {
			g := &x.Goroutines.Grown[i]
			if g.After-g.Before >= leakFew && g.After >= 2*g.Before &&
				(worst == nil || g.After-g.Before > worst.After-worst.Before) {
				worst = g
			}
		}
		if worst != nil {
			reportLeak(p, x, worst)
		}
	}
}

func reportLeak(p *check.Pass, x *model.ProfiledProcess, g *model.GrownStack) {
	d := x.Goroutines
	over := d.To.Sub(d.From)
	f := check.Finding{
		Severity: check.Info, Object: x.Ref(),
		Message: fmt.Sprintf("goroutines in %s grew from %s to %s in %s", g.Function, words.Number(g.Before),
			words.Number(g.After), words.Span(over)),
		Evidence: []check.Evidence{
			check.Factf("goroutines with the stack", x.Name+" goroutine profiles", "%s, then %s", check.N(g.Before),
				check.N(g.After)),
			check.Factf("all goroutines", x.Name+" goroutine profiles", "%s, then %s", check.N(d.Before),
				check.N(d.After)),
			check.Factf("dumps", x.Name+" goroutine profiles", "%s over %s", check.Digits(d.Dumps), check.Span(over)),
		},
		Impact: "Each holds its stack and what it refers to until the process exits or is killed for its memory.",
		Fix: check.Fix(check.Shell(check.Kitescope(
			"profile pull --every 10m --keep 6 --kind goroutine --out goroutines",
		)).
			Does("records goroutines every ten minutes, until interrupted: a leak continues, a burst of requests " +
				"does not")),
	}
	if !math.IsNaN(g.P) {
		f.Evidence = append(f.Evidence, check.Fact("p-value", pValue(g.P), "computed"))
	}
	if g.Entry != "" && g.Entry != g.Function {
		f.Evidence = append(f.Evidence, check.Fact("started as", g.Entry, x.Name+" goroutine profiles"))
	}
	for i, frame := range g.Frames {
		if i == facts.MostNodes {
			break
		}
		f.Evidence = append(f.Evidence, check.Fact("stack", frame, ""))
	}
	if d.Dumps >= leakDumps && g.Steady && over >= leakLong || g.After-g.Before >= leakMany {
		f.Severity = check.Warning
		f.Fix = check.Fix(
			check.Do("restart %s: that frees them until the leak is fixed", x.Name).
				Interrupting(2*time.Minute, "its work until it is back"),
			check.Do("report the stack to Milvus, with the dumps"),
		)
	}
	reportProfiled(p, f)
}

// pValue formats a p-value.
func pValue(p float64) string {
	if p < 1e-6 {
		return "less than one in a million"
	}
	return fmt.Sprintf("%.2g", p)
}

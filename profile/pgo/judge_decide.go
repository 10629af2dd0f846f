package pgo

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"kitescope/internal/words"
	"kitescope/profile"
)

// decide finds the verdict and says why.
func (j *judge) decide() {
	if len(j.Refusals) == 0 && len(j.profiles) == 0 {
		j.Verdict, j.Reason = Unfit, j.noneFits()
		return
	}
	j.leftOut()
	if len(j.Refusals) > 0 {
		j.Verdict, j.Reason = Unfit, j.Refusals[0].Message
		return
	}
	if j.bound() < j.options.MinCeiling {
		j.Verdict, j.Reason = LittleToGain, j.littleToGain()
	} else if r := j.unfit(); r != nil {
		j.Verdict, j.Reason, j.Refusals = Unfit, r.Message, append(j.Refusals, *r)
	} else {
		j.Verdict = WorthBuilding
		j.Reason = percent(j.Reach.Total) + " of the samples are in code that Go compiles, and the profile is good; only a trial shows the gain: kitescope pgo trial"
	}
	j.cautionUnlike()
	j.caution()
}

// noneFits is why there is nothing to build with.
func (j *judge) noneFits() string {
	if len(j.Profiles) == 0 {
		j.Refusals = append(j.Refusals, Refusal{"no-profile", "there is no profile", "kitescope profile pull takes them"})
		return j.Refusals[0].Message
	}
	first := &j.Profiles[0]
	if len(j.Profiles) == 1 {
		return first.Refusals[0].Message
	}
	for i := range j.Profiles {
		if j.Profiles[i].Refusals[0].Message != first.Refusals[0].Message {
			return fmt.Sprintf("Go cannot build with any of the %d profiles; %s: %s", len(j.Profiles), first.Input.Name, first.Refusals[0].Message)
		}
	}
	return fmt.Sprintf("Go cannot build with any of the %d profiles: %s", len(j.Profiles), first.Refusals[0].Message)
}

// leftOut names what does not count beside what does.
func (j *judge) leftOut() {
	for i := range j.Profiles {
		if a := &j.Profiles[i]; len(a.Refusals) > 0 {
			j.Cautions = append(j.Cautions, Refusal{"left-out", fmt.Sprintf("%s is left out: %s", a.Input.Name, a.Refusals[0].Message), a.Refusals[0].Hint})
		}
	}
}

// bound is the most that PGO may gain, where what nothing is known of is taken for Go's, and, where there are fewer
// samples than wanted, for as much as chance allows.
func (j *judge) bound() float64 {
	share := j.Reach.Total
	if j.Reach.Unknown >= muchUnknown {
		share = min(1, share+j.Reach.Unknown)
	}
	if j.Events >= 0 && j.Events < j.options.MinEvents {
		share = likelyMost(share, float64(j.Events))
	}
	return ceilingOfReach * share
}

// muchUnknown is from which share on samples of which nothing is known could change the verdict.
const muchUnknown = 0.05

// likelyMost is the upper end of Wilson's interval of a share of so many samples: in 39 of 40 cases the true one is below.
func likelyMost(share, n float64) float64 {
	const z = 1.96
	if n <= 0 {
		return 1
	}
	return (share + z*z/(2*n) + z*math.Sqrt(share*(1-share)/n+z*z/(4*n*n))) / (1 + z*z/n)
}

// unfit is what makes profiles that Go takes too bad to build with, nil if nothing does.
func (j *judge) unfit() *Refusal {
	switch {
	case j.Events < 0 && j.options.MinEvents > 0:
		return &Refusal{
			"unknown-samples", "the number of samples is unknown, so hot calls may be hot by chance",
			"take the profile with Go's own profiler, it counts samples",
		}
	case j.Events < j.options.MinEvents:
		return &Refusal{
			"few-samples", fmt.Sprintf("%s too few (needs %s): hot calls may be hot by chance", words.Count(j.Events, "sample is", "samples are"), words.Number(j.options.MinEvents)),
			"profile longer, or add profiles of other nodes",
		}
	case j.Reach.Ceiling < j.options.MinCeiling:
		return &Refusal{
			"unknown-code", fmt.Sprintf("for %s of the samples it is unknown whether Go compiled their code", percent(j.Reach.Unknown)),
			"profile a binary with its symbols",
		}
	}
	return j.unlike()
}

// littleToGain names what takes the time that PGO cannot reach.
func (j *judge) littleToGain() string {
	type taker struct {
		share float64
		text  string
	}
	r := &j.Reach
	most := slices.MaxFunc([]taker{
		{r.Native, "native code" + j.libraries() + ", not compiled by Go"},
		{r.Assembly, "assembly (not touched by the compiler)"},
		{r.Syscall, "system calls and waiting (no compiler makes them faster)"},
	}, func(a, b taker) int { return cmp.Compare(a.share, b.share) })
	return fmt.Sprintf("%s of the samples are %s; PGO reaches %s", percent(most.share), most.text, percent(r.Total))
}

// calledC is what time in C is called of which nothing tells the library.
const calledC = "C called through cgo"

// libraries names the native libraries with the most samples.
func (j *judge) libraries() string {
	kind := kindOf(j.whole)
	spent, weight := j.whole.FoldPreempt().Spent(), map[string]int64{}
	for i := range j.whole.Len() {
		switch k := spent.Kind(i); {
		case k.Class == profile.Cgo:
			weight[calledC] += j.whole.Value(i, kind)
		case k.Class == profile.Native && k.Library != "":
			weight[k.Library] += j.whole.Value(i, kind)
		}
	}
	var names []string
	for name := range weight {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(weight[b], weight[a]), strings.Compare(a, b)) })
	switch len(names) {
	case 0:
		return ""
	case 1, 2:
		return " (" + strings.Join(names, ", ") + ")"
	}
	return " (" + strings.Join(names[:2], ", ") + " and others)"
}

// caution says what else a person should know.
func (j *judge) caution() {
	if len(j.profiles) == 1 && j.Verdict == WorthBuilding {
		j.Cautions = append(j.Cautions, Refusal{"one-window", "there is only one profile: other times and nodes may look different", "add a second one of the same load"})
	}
	if j.Preempted >= muchPreempted && j.Verdict != LittleToGain {
		j.Cautions = append(j.Cautions, Refusal{
			"preempted", percent(j.Preempted) + " of the samples are in runtime.asyncPreempt, and the compiler takes it for a call",
			"the machine was busy; profile on a quieter one, or let pgo pack --fold-preempt count them for what was interrupted",
		})
	}
	if missing := j.withoutStartLine(); missing >= someMissing && j.Verdict != LittleToGain {
		j.Cautions = append(j.Cautions, Refusal{
			"some-start-lines", percent(missing) + " of the samples are in functions of Go without a start line, whose calls the compiler does not find",
			"was a profile converted on the way? go tool pprof -proto takes start lines away: use -symbolize=none",
		})
	}
}

// someMissing is from which share on functions without a start line are worth a word.
const someMissing = 0.05

// withoutStartLine is the share of samples of Go whose leaf has no start line.
func (j *judge) withoutStartLine() float64 {
	kind, kinds := kindOf(j.whole), j.whole.KindsOfLocations()
	missing, total := 0.0, 0.0
	for i := range j.whole.Len() {
		v, stack := float64(j.whole.Value(i, kind)), j.whole.Stack(i)
		if len(stack) == 0 {
			continue
		}
		total += v
		lines := j.whole.LinesOf(stack[0])
		switch kinds[stack[0]].Class {
		case profile.GoCode, profile.Runtime, profile.GC:
			if len(lines) > 0 && j.whole.Functions[lines[0].Function].StartLine == 0 {
				missing += v
			}
		case profile.Unknown, profile.Cgo, profile.Native, profile.Assembly, profile.Syscall, profile.Kernel, profile.Idle, profile.Managed:
		}
	}
	if total == 0 {
		return 0
	}
	return missing / total
}

func percent(share float64) string { return fmt.Sprintf("%.0f%%", 100*share) }

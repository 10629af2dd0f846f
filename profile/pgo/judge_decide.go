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

// decide sets the verdict and its reason.
func (j *judge) decide() {
	if len(j.Refusals) == 0 && len(j.profiles) == 0 {
		j.Verdict, j.Reason = Unfit, j.noUsableReason()
		return
	}
	j.cautionUnused()
	if len(j.Refusals) > 0 {
		j.Verdict, j.Reason = Unfit, j.Refusals[0].Message
		return
	}
	if j.maxGain() < j.options.MinCeiling {
		j.Verdict, j.Reason = LittleToGain, j.littleToGain()
	} else if r := j.unfit(); r != nil {
		j.Verdict, j.Reason, j.Refusals = Unfit, r.Message, append(j.Refusals, *r)
	} else {
		j.Verdict = WorthBuilding
		number := "there are enough samples"
		if j.Events < 0 {
			number = "their number is unknown"
		}
		j.Reason = percent(j.Reach.Total) + " of the samples are in code that Go compiles, and " + number +
			"; only a trial shows the gain: kitescope pgo trial"
	}
	j.caution()
}

// noUsableReason returns the reason why no profile is usable.
func (j *judge) noUsableReason() string {
	if len(j.Profiles) == 0 {
		j.Refusals = append(j.Refusals, Refusal{"no-profile", "no profiles", "take some: kitescope profile pull"})
		return j.Refusals[0].Message
	}
	first := &j.Profiles[0]
	if len(j.Profiles) == 1 {
		return first.Refusals[0].Message
	}
	for i := range j.Profiles {
		if j.Profiles[i].Refusals[0].Message != first.Refusals[0].Message {
			return fmt.Sprintf("Go cannot build with any of the %d profiles; %s: %s", len(j.Profiles), first.Input.Name,
				first.Refusals[0].Message)
		}
	}
	return fmt.Sprintf("Go cannot build with any of the %d profiles: %s", len(j.Profiles), first.Refusals[0].Message)
}

// cautionUnused adds a caution for each profile that is not used.
func (j *judge) cautionUnused() {
	for i := range j.Profiles {
		if a := &j.Profiles[i]; len(a.Refusals) > 0 {
			j.Cautions = append(j.Cautions, Refusal{
				"left-out", fmt.Sprintf("%s is left out: %s", a.Input.Name, a.Refusals[0].Message), a.Refusals[0].Hint,
			})
		}
	}
}

// maxGain returns the maximum gain. Samples of unknown code count as Go code if their share is at least maxUnknown.
// With fewer than MinEvents samples the result is the upper end of the confidence interval.
func (j *judge) maxGain() float64 {
	share := j.Reach.Total
	if j.Reach.Unknown >= maxUnknown {
		share = min(1, share+j.Reach.Unknown)
	}
	if j.Events >= 0 && j.Events < j.options.MinEvents {
		share = wilsonUpper(share, float64(j.Events))
	}
	return ceilingOfReach * share
}

// maxUnknown is the share of samples of unknown code at which they could change the verdict.
const maxUnknown = 0.05

// wilsonUpper returns the upper end of the 95% Wilson interval of a share of n samples. The true share is lower
// in 39 of 40 cases.
func wilsonUpper(share, n float64) float64 {
	const z = 1.96
	if n <= 0 {
		return 1
	}
	return (share + z*z/(2*n) + z*math.Sqrt(share*(1-share)/n+z*z/(4*n*n))) / (1 + z*z/n)
}

// unfit returns the reason why profiles that Go accepts are not good enough for a build, or nil if they are.
func (j *judge) unfit() *Refusal {
	switch {
	case j.Events < 0 && j.options.MinEvents > 0:
		return &Refusal{
			"unknown-samples", "the number of samples is unknown, so hot calls may be hot by chance",
			"take the profile with Go's own profiler, which counts samples; --min-samples 0 judges it without",
		}
	case j.Events >= 0 && j.Events < j.options.MinEvents:
		return &Refusal{
			"few-samples",
			fmt.Sprintf("%s too few (needs %s): hot calls may be hot by chance",
				words.Count(j.Events, "sample is", "samples are"), words.Number(j.options.MinEvents)),
			"profile longer, or add profiles of other nodes",
		}
	case j.Reach.Ceiling < j.options.MinCeiling:
		return &Refusal{
			"unknown-code",
			fmt.Sprintf("for %s of the samples it is unknown whether Go compiled their code", percent(j.Reach.Unknown)),
			"profile a binary with its symbols",
		}
	}
	return nil
}

// littleToGain returns the reason for LittleToGain: the largest share of time on which PGO has no effect.
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

// calledC represents time in C whose library is unknown.
const calledC = "C called through cgo"

// libraries returns the names of the native libraries with the most samples.
func (j *judge) libraries() string {
	kind := kindOf(j.merged)
	spent, weight := j.merged.FoldPreempt().SampleKinds(), map[string]int64{}
	for i := range j.merged.Len() {
		switch k := spent.Kind(i); {
		case k.Class == profile.Cgo:
			weight[calledC] += j.merged.Value(i, kind)
		case k.Class == profile.Native && k.Library != "":
			weight[k.Library] += j.merged.Value(i, kind)
		}
	}
	var names []string
	for name := range weight {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(weight[b], weight[a]), strings.Compare(a, b))
	})
	switch len(names) {
	case 0:
		return ""
	case 1, 2:
		return " (" + strings.Join(names, ", ") + ")"
	}
	return " (" + strings.Join(names[:2], ", ") + " and others)"
}

// caution adds the remaining warnings: a single window, and many preempted samples.
func (j *judge) caution() {
	if len(j.profiles) == 1 && j.Verdict == WorthBuilding {
		j.Cautions = append(j.Cautions, Refusal{
			"one-window",
			"there is only one profile: other times and nodes may look different",
			"add a second profile of the same load",
		})
	}
	if j.Preempted >= maxPreempted && j.Verdict != LittleToGain {
		j.Cautions = append(j.Cautions, Refusal{
			"preempted", percent(j.Preempted) + " of the samples are in runtime.asyncPreempt, and the compiler " +
				"treats it as a call",
			"the machine was busy; profile on a quieter one, or use pgo pack --fold-preempt, which counts them for " +
				"the interrupted function",
		})
	}
}

func percent(share float64) string { return fmt.Sprintf("%.0f%%", 100*share) }

package pgo

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"kitescope/profile"
)

// JudgeOptions are the thresholds of Judge. A field of 0 selects the default; a negative one disables the
// threshold.
type JudgeOptions struct {
	// Hot is the number of hot calls to list: 10 if 0, all if negative.
	Hot int
	// MinCeiling is the smallest maximum gain, as a share of CPU time, that is worth a build: 0.05 if 0.
	MinCeiling float64
	// MinEvents is the minimum number of samples: 2000 if 0.
	MinEvents int64
}

// Defaults of JudgeOptions.
const (
	DefaultMinCeiling = 0.05
	DefaultMinEvents  = 2000
	defaultHot        = 10
	// minHits is the number of samples below which a call may be hot by chance.
	minHits = 5
	// maxPreempted is the share of asyncPreempt samples at which Judge adds a caution.
	maxPreempted = 0.05
)

func (o JudgeOptions) orDefaults() JudgeOptions {
	o.Hot = cmp.Or(o.Hot, defaultHot)
	o.MinCeiling = max(0, cmp.Or(o.MinCeiling, DefaultMinCeiling))
	o.MinEvents = max(0, cmp.Or(o.MinEvents, DefaultMinEvents))
	return o
}

// judge is the state of Judge.
type judge struct {
	*Judgement
	options    JudgeOptions
	inputs     []Input
	profiles   []*profile.Profile // profiles that Go accepts, without duplicates
	inputIndex []int              // index in inputs of each profile
	merged     *profile.Profile   // merge of profiles; nil if they cannot be merged
}

// Judge reports whether a build with CPU profiles is worth the trouble: whether Go accepts them, whether they
// have enough samples, and how much of the time PGO can affect. It does not predict the gain: nine scores were
// tried on sixteen programs, and none of the nine predicted it.
//
// The rules for the verdict, in order: Profiles that Go refuses or ignores are Unfit. A maximum gain below
// MinCeiling is LittleToGain, if there are enough samples to be sure. Profiles with too few or an unknown
// number of samples, or with too many samples of unknown code, are Unfit. An Unfit Judgement has a Refusal with
// the Reason, either for all profiles or for each one.
func Judge(ctx context.Context, inputs []Input, o JudgeOptions) (*Judgement, error) {
	o = o.orDefaults()
	j := &judge{options: o, inputs: inputs, Judgement: &Judgement{
		Events: -1, Edges: &Edges{}, Thresholds: Thresholds{Events: o.MinEvents, Ceiling: o.MinCeiling},
	}}
	if err := j.assess(ctx); err != nil {
		return nil, err
	}
	j.merge()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	j.measure()
	j.decide()
	return j.Judgement, nil
}

// assess checks each profile separately.
func (j *judge) assess(ctx context.Context) error {
	seen := map[string]string{} // input name by hash
	for i := range j.inputs {
		if err := ctx.Err(); err != nil {
			return err
		}
		in := &j.inputs[i]
		a := Assessment{Input: in, Events: -1}
		if in.Profile == nil {
			a.Refusals = []Refusal{readRefusal(in)}
			j.Profiles = append(j.Profiles, a)
			continue
		}
		a.Refusals = Refusals(in.Profile)
		a.Duration = in.Profile.Duration
		if kind := kindOf(in.Profile); kind >= 0 {
			_, a.Events = in.Profile.Events(kind)
			a.CPU, a.Reach = cpuOf(in.Profile), ReachOf(in.Profile)
		}
		if first, twice := seen[in.SHA256]; len(a.Refusals) == 0 && twice && in.SHA256 != "" {
			a.Refusals = []Refusal{{
				"twice", fmt.Sprintf("it is the same profile as %s: its samples count once", first),
				"leave one of them out",
			}}
		}
		if len(a.Refusals) == 0 {
			j.profiles, j.inputIndex = append(j.profiles, in.Profile), append(j.inputIndex, i)
			seen[in.SHA256] = in.Name
		}
		j.Profiles = append(j.Profiles, a)
	}
	return nil
}

// merge merges the profiles. It adds a caution if they come from several Go versions.
func (j *judge) merge() {
	if len(j.profiles) == 0 {
		return
	}
	var versions []string
	for _, i := range j.inputIndex {
		versions = distinct(versions, j.inputs[i].GoVersion)
	}
	if len(versions) > 1 {
		j.Cautions = append(j.Cautions, Refusal{
			"two-go-versions", "they are from programs built with " + strings.Join(versions, " and "),
			"calls inside the runtime and the standard library count for one of them only; profile with the Go that " +
				"you build with",
		})
	}
	whole, err := profile.Merge(j.profiles, profile.MergeOptions{})
	switch {
	case err != nil:
		j.refuse("no-merge", "they cannot be merged: "+err.Error(), "judge and pack them one at a time")
		return
	case kindOf(whole) < 0:
		j.refuse("no-merge", "they cannot be merged: they have no sample type in common that Go accepts",
			"take all profiles in the same way")
		return
	}
	if kind, ok := whole.Overflow(); ok && kind == kindOf(whole) {
		j.refuse("too-large", "together their values overflow 64 bits: Go would add them up wrong",
			"judge and pack fewer profiles")
		return
	}
	j.merged = whole
}

func (j *judge) refuse(id, message, hint string) {
	j.Refusals = append(j.Refusals, Refusal{id, message, hint})
}

package pgo

import (
	"cmp"
	"context"
	"fmt"

	"kitescope/profile"
)

// JudgeOptions say what profiles are held against. Zero fields take the defaults, negative ones hold nothing against them.
type JudgeOptions struct {
	// Hot is how many of the hot calls are listed: 10 if 0, all if negative.
	Hot int
	// MinCeiling is the least bound on the gain, as a share of CPU time, that is worth a build: 0.05 if 0.
	MinCeiling float64
	// MinOverlap is how alike two profiles of one load must be in their calls: 0.8 if 0.
	MinOverlap float64
	// MinEvents is the least number of samples: 2000 if 0.
	MinEvents int64
}

// Defaults of JudgeOptions. Two profiles of one load of Milvus, 700 to 2,200 samples each, had 0.83 to 0.87 of their
// calls in common, different loads 0.67 to 0.74, an idle process and a busy one 0.27.
const (
	DefaultMinCeiling = 0.05
	DefaultMinOverlap = 0.8
	DefaultMinEvents  = 2000
	defaultHot        = 10
	// fewHits is below how many samples a call may be hot by chance.
	fewHits = 5
	// muchPreempted is from which share on asyncPreempt takes a notable part of the samples away.
	muchPreempted = 0.05
)

func (o JudgeOptions) orDefaults() JudgeOptions {
	o.Hot = cmp.Or(o.Hot, defaultHot)
	o.MinCeiling = max(0, cmp.Or(o.MinCeiling, DefaultMinCeiling))
	o.MinOverlap = max(0, cmp.Or(o.MinOverlap, DefaultMinOverlap))
	o.MinEvents = max(0, cmp.Or(o.MinEvents, DefaultMinEvents))
	return o
}

// judge is a Judgement under way.
type judge struct {
	*Judgement
	options  JudgeOptions
	inputs   []Input
	profiles []*profile.Profile // those that Go takes, each once
	of       []int              // the input of each
	pool     *pool              // their calls
	whole    *profile.Profile   // all together; nil if they do not belong together
	groups   []alike
}

// Judge says whether a build with CPU profiles is worth the trouble: whether Go takes them, whether they are good,
// what they can reach. It predicts no gain: of nine scores that were tried on sixteen programs none told who gains.
// The verdict and all figures are the same in whatever order the profiles come.
//
// The verdict is found in this order. What Go refuses or ignores, or what is not of one program, is Unfit. What is
// bounded below MinCeiling is LittleToGain, however good the profile is, if it has samples enough to say so. Of the
// rest, too few samples, or calls that differ between profiles of one load, are Unfit. An Unfit Judgement has a
// Refusal that says the Reason, of all of them or of each one.
func Judge(ctx context.Context, inputs []Input, o JudgeOptions) (*Judgement, error) {
	o = o.orDefaults()
	j := &judge{
		options: o, inputs: inputs, pool: newPool(),
		Judgement: &Judgement{Events: -1, Edges: &Edges{}, Thresholds: Thresholds{Events: o.MinEvents, Overlap: o.MinOverlap, Ceiling: o.MinCeiling}},
	}
	for _, step := range []func(context.Context) error{j.assess, j.together, j.measure} {
		if err := step(ctx); err != nil {
			return nil, err
		}
	}
	j.decide()
	return j.Judgement, nil
}

// assess looks at each profile on its own.
func (j *judge) assess(ctx context.Context) error {
	for i := range j.inputs {
		if err := ctx.Err(); err != nil {
			return err
		}
		in := &j.inputs[i]
		a := Assessed{Input: in, Events: -1}
		if in.Profile == nil {
			a.Refusals = []Refusal{unread(in)}
			j.Profiles = append(j.Profiles, a)
			continue
		}
		a.Refusals = Refusals(in.Profile)
		a.Duration = in.Profile.Duration
		if kind := kindOf(in.Profile); kind >= 0 {
			_, a.Events = in.Profile.Events(kind)
			a.CPU, a.Reach = cpuOf(in.Profile), ReachOf(in.Profile)
		}
		if first := j.twin(in); len(a.Refusals) == 0 && first != nil {
			a.Refusals = []Refusal{{"twice", fmt.Sprintf("it is the same profile as %s: its samples count once", first.Name), "leave one of them out"}}
		}
		if len(a.Refusals) == 0 {
			calls, err := stackCallsOf(ctx, in.Profile)
			if err != nil {
				return err
			}
			j.profiles, j.of = append(j.profiles, in.Profile), append(j.of, i)
			j.pool.take(calls)
		}
		j.Profiles = append(j.Profiles, a)
	}
	return nil
}

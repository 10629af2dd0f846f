package trial

import (
	"context"
	"errors"

	"kitescope/profile"
	"kitescope/profile/gobuild"
	"kitescope/profile/pgo"
)

// witness profiles both programs again, and looks in what both do for what only the profile can have done. The program
// without PGO is looked at in the same way: if it shows the same, the witness is worth nothing.
func (t *trial) witness(ctx context.Context, r *Report) error {
	if !t.plan.selfProfiles() {
		r.NoWitness = "the trial was given its profiles, and no way to take one"
		return nil
	}
	if err := t.rounds(ctx, []string{sidePlain, sidePacked}, true); err != nil {
		var said *OutputError
		if !errors.As(err, &said) {
			return err
		}
		t.remark(said.Output, "%v; measurements are kept", err)
		r.NoWitness = err.Error()
		return nil
	}
	inputs, err := t.first(ctx)
	if err != nil {
		return err
	}
	old, err := merged(inputs)
	if err != nil {
		return err
	}
	var fresh [2]*profile.Profile
	for i, side := range []string{sidePlain, sidePacked} {
		again, err := t.inputs(ctx, side, true)
		if err != nil {
			return err
		}
		if fresh[i], err = merged(again); err != nil {
			return err
		}
	}
	if r.Witness, err = pgo.NewWitness(old, fresh[1], fresh[0]); err == nil {
		r.WitnessControl, err = pgo.NewWitness(old, fresh[0])
	}
	if err != nil {
		r.Witness, r.NoWitness = nil, err.Error()
	}
	return nil
}

// examine looks for the same in the binaries, where all calls are to be seen and not only those that were met.
func (t *trial) examine(ctx context.Context, r *Report) error {
	inputs, err := t.first(ctx)
	if err != nil {
		return err
	}
	old, err := merged(inputs)
	if err != nil {
		return err
	}
	var sights [2]*pgo.Sight
	for i, b := range []*Build{t.state.Plain, t.state.Packed} {
		binary, err := gobuild.ReadBinary(b.File)
		if err != nil {
			return err
		}
		inlined, starts, err := binary.Inlined(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			r.NoBinaryWitness = err.Error()
			break
		}
		sights[i] = pgo.SightOfBinary(inlined, starts)
	}
	if r.NoBinaryWitness != "" {
		return nil
	}
	if r.BinaryWitness, err = pgo.NewWitnessOf(old, sights[1], sights[0]); err != nil {
		r.BinaryWitness, r.NoBinaryWitness = nil, err.Error()
	}
	return nil
}

func merged(inputs []pgo.Input) (*profile.Profile, error) {
	var ps []*profile.Profile
	for i := range inputs {
		if inputs[i].Err == nil {
			ps = append(ps, inputs[i].Profile)
		}
	}
	return profile.Merge(ps, profile.MergeOptions{Compatible: true})
}

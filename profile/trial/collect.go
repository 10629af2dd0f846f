package trial

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"kitescope/internal/hints"
	"kitescope/profile"
	"kitescope/profile/pgo"
	profileread "kitescope/profile/read"
)

// collect is step 3: it runs the program without PGO under its load until there are enough samples.
func (t *trial) collect(ctx context.Context) (err error) {
	if len(t.plan.Profiles) > 0 {
		t.inputs, err = t.loadInputs(ctx)
		return err
	}
	for {
		events := t.sampleCount()
		n := len(t.inputs)
		if n == t.plan.Rounds || n > 0 && events >= t.plan.Events {
			return nil
		}
		p, err := t.round(ctx, n+1, events)
		if err != nil {
			return err
		}
		t.inputs = append(t.inputs, pgo.Input{
			Name: "round " + strconv.Itoa(n+1), Node: "program", Profile: p, GoVersion: t.report.Plain.GoVersion,
			BuildID: t.report.Plain.BuildID,
		})
	}
}

// sampleCount returns the number of samples in all rounds; 0 if unknown.
func (t *trial) sampleCount() (events int64) {
	for _, r := range t.report.Rounds {
		events += max(r.Events, 0)
	}
	return events
}

// round runs the load once and returns its profile.
func (t *trial) round(ctx context.Context, n int, events int64) (*profile.Profile, error) {
	t.notify("profile %d: %d of %d samples so far", n, events, t.plan.Events)
	name := fmt.Sprintf("profile-%02d", n)
	r := t.newRun(slot{number: n, side: sidePlain}, name, true)
	if t.plan.PProf != "" {
		r.window = time.Duration(t.plan.Seconds) * time.Second
	}
	got, err := t.perform(ctx, r)
	if err != nil {
		return nil, err
	}
	if got.failed != "" {
		return nil, r.outputError(fmt.Errorf("run for a profile: %s", got.failed))
	}
	p, err := profileread.Open(ctx, r.profile, profileread.Options{})
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, &hints.Error{
			Err:    r.outputError(fmt.Errorf("the load succeeded, but left no readable profile: %w", err)),
			Advice: "the program must write a CPU profile to {profile} before it ends; a service has one at --pprof",
		}
	}
	r.clean(true)
	t.report.Rounds = append(t.report.Rounds, Round{
		Side: sidePlain, File: path.Join("profiles", name+".pb.gz"), Events: eventsOf(p), Wall: got.wall,
	})
	return p, nil
}

// eventsOf returns the number of samples, -1 if unknown.
func eventsOf(p *profile.Profile) int64 {
	for kind := range p.Types {
		if _, total := p.Events(kind); total >= 0 {
			return total
		}
	}
	return -1
}

// loadInputs returns the profiles that the user named.
func (t *trial) loadInputs(ctx context.Context) (inputs []pgo.Input, err error) {
	for _, name := range t.plan.Profiles {
		p, err := profileread.Open(ctx, name, profileread.Options{})
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		inputs = append(inputs, pgo.Input{Name: filepath.Base(name), Profile: p, Err: err})
	}
	return inputs, nil
}

// UnfitError reports that Go cannot usefully build with the profiles.
type UnfitError struct{ Judgement *pgo.Judgement }

func (e *UnfitError) Error() string { return "the profile is unfit: " + e.Judgement.Reason }

// judge is step 4: it judges the profiles.
func (t *trial) judge(ctx context.Context) (err error) {
	t.notify("judging the profiles")
	if t.report.Judgement, err = pgo.Judge(ctx, t.inputs, pgo.JudgeOptions{MinEvents: t.plan.minEvents()}); err != nil {
		return err
	}
	if t.report.Judgement.Verdict == pgo.Unfit && !t.plan.Force {
		return &hints.Error{Err: &UnfitError{t.report.Judgement}, Advice: t.moreSamplesHint()}
	}
	return nil
}

// minEvents returns the minimum number of samples for pgo.Judge.
func (p *Plan) minEvents() int64 {
	if p.Events == DefaultEvents {
		return 0 // the default of pgo.Judge
	}
	return p.Events
}

// moreSamplesHint returns a hint on how to get more samples, or "" if no profile is usable.
func (t *trial) moreSamplesHint() string {
	n, events := len(t.report.Rounds), t.sampleCount()
	const anyway = "--anyway continues with this profile"
	switch {
	case !slices.ContainsFunc(t.inputs, func(in pgo.Input) bool {
		return in.Err == nil && len(pgo.Refusals(in.Profile)) == 0
	}):
		return ""
	case n == 0 || events >= t.plan.Events:
		return anyway
	case t.plan.Events > 20*events:
		return fmt.Sprintf("%d rounds gave %d samples: let the load take longer; %s", n, events, anyway)
	}
	needed := (t.plan.Events*int64(n) + events - 1) / events
	return fmt.Sprintf("%d rounds gave %d samples: try --rounds %d, in a new folder (-O); %s", n, events, needed,
		anyway)
}

// Pack is the profile that the program was built with.
type Pack struct {
	// File is an absolute path, because the go command requires one and records it.
	File, SHA256 string
	Size, Edges  int
}

// pack is step 5: it packs the profiles into a default.pgo.
func (t *trial) pack(ctx context.Context) error {
	t.notify("packing default.pgo")
	readable := slices.DeleteFunc(slices.Clone(t.inputs), func(in pgo.Input) bool { return in.Err != nil })
	pack, err := pgo.NewPack(ctx, readable, pgo.PackOptions{Judgement: t.report.Judgement, Kitescope: t.plan.Tool})
	if err != nil {
		return err
	}
	var manifest bytes.Buffer
	if _, err := pack.Manifest.WriteTo(&manifest); err != nil {
		return err
	}
	name := pack.FileName(false)
	if err := errors.Join(t.folder.write(pack.Bytes, name),
		t.folder.write(manifest.Bytes(), pgo.ManifestName(name))); err != nil {
		return fmt.Errorf("keep the packed profile: %w", err)
	}
	t.report.Pack = &Pack{
		File: t.folder.path(name), SHA256: pack.SHA256, Size: len(pack.Bytes), Edges: len(pack.Edges.ByWeight),
	}
	return nil
}

package trial

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"kitescope/internal/hints"
	"kitescope/internal/shellquote"
	"kitescope/profile"
	"kitescope/profile/pgo"
	"kitescope/profile/pull"
	profileread "kitescope/profile/read"
)

// minRounds is so that two profiles of the same load can be compared: how alike they are is what tells whether
// there are samples enough.
const minRounds = 2

// collect is the third step: the program without PGO runs under its load until there are samples enough.
func (t *trial) collect(ctx context.Context) error {
	if len(t.plan.Profiles) > 0 || t.state.Pack != nil {
		return nil
	}
	return t.rounds(ctx, []string{sidePlain}, false)
}

// rounds profiles programs in turns, until there are samples enough of each.
func (t *trial) rounds(ctx context.Context, sides []string, after bool) error {
	for {
		var open []string
		for _, side := range sides {
			if n, events := t.state.sampled(side, after); n < minRounds && n < t.plan.Rounds || events < t.plan.Events && n < t.plan.Rounds {
				open = append(open, side)
			}
		}
		if len(open) == 0 {
			return nil
		}
		for _, side := range open {
			if err := t.round(ctx, side, after); err != nil {
				return err
			}
		}
	}
}

// sampled is how many rounds there are of a side, and how many samples they have; 0 if that is unknown.
func (s *state) sampled(side string, after bool) (rounds int, events int64) {
	for _, r := range s.Rounds {
		if r.Side == side && r.After == after {
			rounds++
			events += max(r.Events, 0)
		}
	}
	return rounds, events
}

// round is one run for a profile.
func (t *trial) round(ctx context.Context, side string, after bool) error {
	n, events := t.state.sampled(side, after)
	t.say("profile %d, %s: %d of %d samples so far", n+1, sideName(side), events, t.plan.Events)
	name := fmt.Sprintf("profile-%02d-%s", n+1, side)
	if after {
		name = "after-" + name
	}
	r := t.newRun(slot{number: n + 1, side: side}, name, true)
	if t.plan.PProf != "" {
		r.window = time.Duration(t.plan.Seconds) * time.Second
	}
	_ = os.Remove(r.profile) // of a round that was interrupted
	got, err := t.perform(ctx, r)
	if err != nil {
		return err
	}
	if got.failed != "" {
		return t.loadError(fmt.Errorf("run for a profile, %s: %s", sideName(side), got.failed), r)
	}
	if err := t.benchmarked(ctx, r); err != nil {
		return err
	}
	p, err := profileread.Open(ctx, r.profile, profileread.Options{})
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		said, all := r.tail()
		return &hints.Error{
			Err:    &OutputError{Err: fmt.Errorf("the load went well and left no profile that can be read: %w", err), Output: said, File: all},
			Advice: "the program must write a CPU profile to {profile} before it ends; a service has one at --pprof",
		}
	}
	r.clean(true)
	t.state.Rounds = append(t.state.Rounds, Round{
		Side: side, After: after, File: path.Join("profiles", name+".pb.gz"), Events: eventsOf(p), Wall: got.wall,
	})
	return t.save()
}

// benchmarked finds out whether the regular expression met any benchmark.
func (t *trial) benchmarked(ctx context.Context, r *run) error {
	if t.plan.Bench == "" {
		return nil
	}
	printed, err := printedValues(ctx, r.load.out)
	if err == nil && len(printed) == 0 {
		err = planError("what there is: "+shellquote.Shell("go", "test", "-list=Benchmark").Arg(t.state.Module.Package).String(), "no benchmark is called %s", t.plan.Bench)
	}
	return err
}

// eventsOf is how often the program was sampled, -1 if unknown.
func eventsOf(p *profile.Profile) int64 {
	for kind := range p.Types {
		if _, total := p.Events(kind); total >= 0 {
			return total
		}
	}
	return -1
}

// inputs are the profiles of a side: the earlier rounds as one and the later as another, so that what is compared are
// the two largest profiles of different times that there are.
func (t *trial) inputs(ctx context.Context, side string, after bool) ([]pgo.Input, error) {
	var halves [2][]*profile.Profile
	var names [2][]string
	all, _ := t.state.sampled(side, after)
	n := 0
	for i := range t.state.Rounds {
		r := &t.state.Rounds[i]
		if r.Side != side || r.After != after {
			continue
		}
		half := n * 2 / all
		p, err := profileread.Open(ctx, t.folder.path(filepath.FromSlash(r.File)), profileread.Options{})
		if err != nil {
			return nil, err
		}
		n++
		halves[half] = append(halves[half], p)
		names[half] = append(names[half], strconv.Itoa(n))
	}
	var inputs []pgo.Input
	build := t.state.Plain
	if side == sidePacked {
		build = t.state.Packed
	}
	for i, half := range halves {
		if len(half) == 0 {
			continue
		}
		p, err := profile.Merge(half, profile.MergeOptions{Compatible: true})
		if err != nil {
			return nil, err
		}
		name := "round " + names[i][0]
		if len(half) > 1 {
			name = "rounds " + names[i][0] + " to " + names[i][len(half)-1]
		}
		inputs = append(inputs, pgo.Input{
			Name: name, Node: "program", Profile: p, GoVersion: build.GoVersion, BuildID: build.BuildID,
		})
	}
	return inputs, nil
}

// brought are profiles that the user named: files, or folders that "profile pull" wrote.
func (t *trial) brought(ctx context.Context) ([]pgo.Input, error) {
	var inputs []pgo.Input
	for _, name := range t.plan.Profiles {
		if info, err := os.Stat(name); err == nil && info.IsDir() {
			pulled, err := pulledInputs(ctx, name)
			if err != nil {
				return nil, err
			}
			inputs = append(inputs, pulled...)
			continue
		}
		p, err := profileread.Open(ctx, name, profileread.Options{})
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		inputs = append(inputs, pgo.Input{Name: filepath.Base(name), Profile: p, Err: err})
	}
	return inputs, nil
}

// pulledInputs are the CPU profiles of a folder.
func pulledInputs(ctx context.Context, dir string) ([]pgo.Input, error) {
	record, err := pull.Read(dir)
	if err != nil {
		return nil, err
	}
	var inputs []pgo.Input
	for i := range record.Items {
		item := &record.Items[i]
		if item.Kind != pull.CPU {
			continue
		}
		in := pgo.Input{Name: item.Name, Node: item.Node, BuildID: item.BuildID}
		in.Profile, in.Err = readItem(ctx, item)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		inputs = append(inputs, in)
	}
	if len(inputs) == 0 {
		return nil, planError("name a folder that kitescope profile pull wrote, or files", "%s holds no CPU profiles", dir)
	}
	return inputs, nil
}

func readItem(ctx context.Context, item *pull.Item) (*profile.Profile, error) {
	f, err := item.Open()
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return profileread.From(ctx, item.Name, f, profileread.Options{})
}

// first are the profiles to build with.
func (t *trial) first(ctx context.Context) ([]pgo.Input, error) {
	if len(t.plan.Profiles) > 0 {
		return t.brought(ctx)
	}
	return t.inputs(ctx, sidePlain, false)
}

// UnfitError says that the profiles cannot be built with.
type UnfitError struct{ Judgement *pgo.Judgement }

func (e *UnfitError) Error() string { return "the profile is unfit: " + e.Judgement.Reason }

// judge is the fourth step.
func (t *trial) judge(ctx context.Context) error {
	if t.state.Pack != nil {
		return nil
	}
	t.say("judging the profiles")
	inputs, err := t.first(ctx)
	if err != nil {
		return err
	}
	j, err := pgo.Judge(ctx, inputs, pgo.JudgeOptions{MinEvents: t.plan.minEvents()})
	if err != nil {
		return err
	}
	if j.Verdict == pgo.Unfit && !t.plan.Anyway {
		return &hints.Error{Err: &UnfitError{j}, Advice: t.more(inputs)}
	}
	return nil
}

// minEvents is how many samples the judge wants.
func (p *Plan) minEvents() int64 {
	if p.Events == DefaultEvents {
		return 0 // its own default
	}
	return p.Events
}

// more says what would make profiles fit that are too little; nothing helps where there is nothing to build with.
func (t *trial) more(inputs []pgo.Input) string {
	n, events := t.state.sampled(sidePlain, false)
	const anyway = "--anyway continues with it"
	switch {
	case !slices.ContainsFunc(inputs, func(in pgo.Input) bool { return in.Err == nil && len(pgo.Refusals(in.Profile)) == 0 }):
		return ""
	case n == 0 || events >= t.plan.Events:
		return anyway
	case t.plan.Events > 20*events:
		return fmt.Sprintf("%d rounds gave %d samples: let the load take longer; %s", n, events, anyway)
	}
	needed := (t.plan.Events*int64(n) + events - 1) / events
	return fmt.Sprintf("%d rounds gave %d samples: run the same command with --rounds %d to continue; %s", n, events, needed, anyway)
}

// Pack is what the program was built with.
type Pack struct {
	// File is an absolute path: go wants one, and records it.
	File, SHA256 string
	Size, Edges  int
}

// pack is the fifth step.
func (t *trial) pack(ctx context.Context) error {
	if p := t.state.Pack; p != nil {
		if sum, _, err := checksum(p.File); err != nil || sum != p.SHA256 {
			return planError("start over in a new folder, with -O", "%s is not the profile used for the build", p.File)
		}
		return nil
	}
	t.say("packing default.pgo")
	inputs, err := t.first(ctx)
	if err != nil {
		return err
	}
	readable := inputs[:0:0]
	for i := range inputs {
		if inputs[i].Err == nil {
			readable = append(readable, inputs[i])
		}
	}
	j, err := pgo.Judge(ctx, inputs, pgo.JudgeOptions{MinEvents: t.plan.minEvents()})
	if err != nil {
		return err
	}
	pack, err := pgo.NewPack(ctx, readable, pgo.PackOptions{Weight: pgo.WeighByCPU, Judgement: j, Kitescope: t.plan.Tool})
	if err != nil {
		return err
	}
	var manifest bytes.Buffer
	if _, err := pack.Manifest.WriteTo(&manifest); err != nil {
		return err
	}
	name := pack.FileName(false)
	if err := errors.Join(t.folder.write(pack.Bytes, name), t.folder.write(manifest.Bytes(), pgo.ManifestName(name))); err != nil {
		return fmt.Errorf("keep the packed profile: %w", err)
	}
	t.state.Pack = &Pack{File: t.folder.path(name), SHA256: pack.SHA256, Size: len(pack.Bytes), Edges: len(pack.Edges.ByWeight)}
	return t.save()
}

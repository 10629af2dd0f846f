package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"kitescope/tools/bench/measure"
	"kitescope/tools/bench/profilegen"
)

// job is a task that both programs do.
type job struct {
	what         string
	ours, theirs measure.Program
	theirName    string
	rounds       int
	// theirRounds is the number of pprof's runs; 0: as many as rounds. CPU times of a minute vary little.
	theirRounds int
	// faster is the minimum ratio of pprof's CPU time to kitescope's. memory is the maximum of kitescope's
	// peak memory in MB. 0 sets no bar.
	faster, memory float64
}

// measured holds a job and its costs.
type measured struct {
	job
	our, their []measure.Cost
}

func (b *bench) run(ctx context.Context, r *report, jobs ...job) error {
	done := make([]measured, len(jobs))
	for i := range jobs {
		done[i].job = jobs[i]
	}
	most := 0
	for _, j := range jobs {
		most = max(most, j.rounds)
	}
	for round := range most {
		for i := range done {
			d := &done[i]
			if round < d.rounds {
				cost, err := b.runner.Run(ctx, d.ours)
				if err != nil {
					return err
				}
				d.our = append(d.our, cost)
			}
			if round < d.rounds && (d.theirRounds == 0 || round < d.theirRounds) {
				cost, err := b.runner.Run(ctx, d.theirs)
				if err != nil {
					return err
				}
				d.their = append(d.their, cost)
			}
		}
	}
	r.jobs = append(r.jobs, done...)
	return nil
}

// svg returns pprof's option for a graph and its name in the table. Without Graphviz pprof can write only the
// description of the graph.
func (b *bench) svg() (option, name string) {
	if b.graphviz {
		return "-svg", "`pprof -svg`, laid out by Graphviz"
	}
	return "-dot", "`pprof -dot`: `-svg` without layout, because Graphviz is not installed"
}

func (b *bench) big(ctx context.Context, r *report) error {
	shape := profilegen.Big()
	shape.Samples = b.samples
	b.logf("generating %d samples", shape.Samples)
	file, err := shape.File(b.cache)
	if err != nil {
		return err
	}
	if r.size, err = sizes(file); err != nil {
		return err
	}
	b.logf("the big profile")
	option, name := b.svg()
	picture := func(format string) measure.Program {
		return b.program("profile", "flame", file, "-o", format, "-O", filepath.Join(b.scratch, "big."+format),
			"--force")
	}
	graph := b.tool(option, "-output", filepath.Join(b.scratch, "big.graph"), file)
	return b.run(
		ctx, r,
		job{
			"`profile top`, the big profile", b.program("profile", "top", file), b.tool("-top", file), "`pprof -top`",
			b.rounds, 1, 8, 600,
		},
		job{"`profile flame -o html`, the big profile", picture("html"), graph, name, b.rounds, 1, 10, 0},
		job{"`profile flame -o svg`, the big profile", picture("svg"), graph, name, b.rounds, 1, 10, 0},
	)
}

// sizes returns the size of a file as text.
func sizes(file string) (string, error) {
	info, err := os.Stat(file)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%.1f MB", float64(info.Size())/1e6), nil
}

// parts is the number of merged profiles.
const parts = 100

func (b *bench) merge(ctx context.Context, r *report) error {
	b.logf("merging %d profiles", parts)
	var files []string
	for i := range parts {
		file, err := profilegen.Part(i).File(b.cache)
		if err != nil {
			return err
		}
		files = append(files, file)
	}
	merged := filepath.Join(b.scratch, "merged.pb.gz")
	theirs := b.tool(append([]string{"-proto", "-output", filepath.Join(b.scratch, "merged.pprof.pb.gz")}, files...)...)
	ours := func(more ...string) measure.Program {
		return b.program(append(append([]string{"profile", "merge", "-O", merged, "--force"}, more...), files...)...)
	}
	return b.run(
		ctx, r,
		job{
			"`profile merge --collapse`, 100 profiles of 5,000 samples", ours("--collapse"), theirs, "`pprof -proto`",
			b.rounds, 0, 5, 300,
		},
		job{"`profile merge`, the same, nodes kept apart", ours(), theirs, "`pprof -proto`", b.rounds, 0, 5, 300},
	)
}

// small measures jobs on the profile of a real process. Most of their time is start-up.
func (b *bench) small(ctx context.Context, r *report) error {
	b.logf("a Milvus profile")
	file := filepath.Join(b.repo, "testdata", "profiles", "milvus-cpu-flat.pb.gz")
	option, name := b.svg()
	rounds := 10 * b.rounds
	top := b.program("profile", "top", file)
	picture := b.program("profile", "flame", file, "-o", "svg", "-O", "-")
	graph := []string{option, "-output", filepath.Join(b.scratch, "small.graph"), file}
	return b.run(
		ctx, r,
		job{"`profile top`, a Milvus profile", top, b.tool("-top", file), "`pprof -top`", rounds, 0, 1, 0},
		job{"the same", top, b.goTool("-top", file), "`go tool pprof -top`, as typed", rounds, 0, 1, 0},
		job{"`profile flame -o svg`, a Milvus profile", picture, b.tool(graph...), name, rounds, 0, 1, 0},
		job{"the same", picture, b.goTool(graph...), "`go tool pprof " + option + "`, as typed", rounds, 0, 1, 0},
	)
}

// cpu returns the median CPU time.
func cpu(costs []measure.Cost) time.Duration {
	times := make([]time.Duration, len(costs))
	for i, c := range costs {
		times[i] = c.CPU
	}
	return measure.Median(times)
}

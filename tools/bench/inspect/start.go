package main

import (
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"time"

	"kitescope/tools/bench/measure"
	"kitescope/tools/bench/metagen"
)

const (
	startRuns     = 20
	smallSegments = 400
)

// startResult holds the start-up times of small commands and the size of the program.
type startResult struct {
	// commands holds the costs of all runs, by command.
	commands []startRow
	binary   int64
	// static is nil if it is unknown.
	static *bool
}

type startRow struct {
	what  string
	costs []measure.Cost
}

func (r startRow) firstBytes() []time.Duration {
	var all []time.Duration
	for _, c := range r.costs {
		all = append(all, c.FirstByte)
	}
	return all
}

func (b *bench) start(ctx context.Context) (*startResult, error) {
	info, err := os.Stat(b.kitescope)
	if err != nil {
		return nil, err
	}
	result := &startResult{binary: info.Size()}
	if runtime.GOOS == "linux" {
		static, err := isStatic(b.kitescope)
		if err != nil {
			return nil, err
		}
		result.static = &static
	}
	c, err := b.cluster(ctx, metagen.Of(smallSegments))
	if err != nil {
		return nil, err
	}
	defer c.Stop()
	db, err := c.snapshot(ctx)
	if err != nil {
		return nil, err
	}
	b.logf("start-up on a small cluster")
	for _, command := range [][]string{
		{"version"},
		{"get", "collections", "--from", c.from()},
		{"get", "segments", "--from", c.from()},
		{"get", "segments", "--from", db},
	} {
		r := startRow{what: fmt.Sprintf("`%s`", command[0])}
		if len(command) > 1 {
			kind := "live"
			if command[3] == db {
				kind = "from the .db file"
			}
			r.what = fmt.Sprintf("`get %s`, %s", command[1], kind)
		}
		for i := range startRuns + 1 {
			cost, err := b.runner.RunToReader(ctx, b.program(command...), drain)
			if err != nil {
				return nil, err
			}
			if i > 0 {
				r.costs = append(r.costs, cost)
			}
		}
		result.commands = append(result.commands, r)
	}
	return result, nil
}

func drain(r io.Reader) error {
	n, err := io.Copy(io.Discard, r)
	if n == 0 {
		return errors.Join(errors.New("no output"), err)
	}
	return err
}

// isStatic reports whether a Linux binary has no interpreter, i.e. no shared libraries.
func isStatic(path string) (bool, error) {
	f, err := elf.Open(path)
	if err != nil {
		return false, fmt.Errorf("read %s: %w", path, err)
	}
	defer f.Close()
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			return false, nil
		}
	}
	return true, nil
}

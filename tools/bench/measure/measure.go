// Package measure runs programs and returns their wall time, CPU time and peak memory, with summaries over
// several runs.
package measure

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Program is a command line and its environment.
type Program struct {
	Path string
	Args []string
	Env  []string // added to the environment of this process
}

func (p Program) String() string { return filepath.Base(p.Path) + " " + strings.Join(p.Args, " ") }

// Command returns the command and a buffer that collects its standard error for error messages.
func (p Program) Command(ctx context.Context) (*exec.Cmd, *bytes.Buffer) {
	cmd := exec.CommandContext(ctx, p.Path, p.Args...)
	cmd.Env = append(os.Environ(), p.Env...)
	stderr := new(bytes.Buffer)
	cmd.Stderr = stderr
	return cmd, stderr
}

// Cost is the cost of one run of a program.
type Cost struct {
	Wall, CPU time.Duration
	// FirstByte is the time from the start to the first byte on standard output, or 0 if it was not measured.
	FirstByte time.Duration
	PeakRSS   int64 // bytes
}

// Runner runs programs through a small launcher, because getrusage(2) counts into a child's peak memory what
// its parent used when it started the child.
type Runner struct {
	// Launcher is the path of a program that calls Launch.
	Launcher string
}

// Run runs the program and discards its output.
func (r Runner) Run(ctx context.Context, p Program) (Cost, error) {
	return r.RunToReader(ctx, p, nil)
}

// RunToReader runs the program and passes its output to read. If read is nil, the output is discarded without
// a pipe.
func (r Runner) RunToReader(ctx context.Context, p Program, read func(io.Reader) error) (_ Cost, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("run %s: %w", p, err)
		}
	}()
	cmd, stderr := Program{Path: r.Launcher, Args: append([]string{p.Path}, p.Args...), Env: p.Env}.Command(ctx)
	reports, childEnd, err := os.Pipe()
	if err != nil {
		return Cost{}, err
	}
	defer reports.Close()
	cmd.ExtraFiles = []*os.File{childEnd}
	var first firstByte
	if read != nil {
		if first.r, err = cmd.StdoutPipe(); err != nil {
			return Cost{}, err
		}
	}
	err = cmd.Start()
	_ = childEnd.Close() // the launcher has its own copy
	if err != nil {
		return Cost{}, err
	}
	if read != nil {
		err = read(&first)
		_, _ = io.Copy(io.Discard, first.r) // let it end by itself
	}
	var got launched
	if decodeErr := json.NewDecoder(reports).Decode(&got); decodeErr != nil {
		err = errors.Join(err, fmt.Errorf("no report: %w", decodeErr))
	}
	if waitErr := cmd.Wait(); waitErr != nil {
		err = errors.Join(err, fmt.Errorf("%w: %s", waitErr, bytes.TrimSpace(stderr.Bytes())))
	}
	if read != nil && !first.at.IsZero() {
		got.FirstByte = first.at.Sub(got.Started)
	}
	return got.Cost, err
}

// firstByte is a reader that records when the first byte arrived.
type firstByte struct {
	r  io.Reader
	at time.Time
}

func (f *firstByte) Read(p []byte) (int, error) {
	n, err := f.r.Read(p)
	if n > 0 && f.at.IsZero() {
		f.at = time.Now()
	}
	return n, err
}

// Walls returns the wall times of several runs.
func Walls(costs []Cost) []time.Duration {
	walls := make([]time.Duration, len(costs))
	for i, c := range costs {
		walls[i] = c.Wall
	}
	return walls
}

// PeakRSS returns the largest peak of several runs, in bytes.
func PeakRSS(costs []Cost) int64 {
	var peak int64
	for _, c := range costs {
		peak = max(peak, c.PeakRSS)
	}
	return peak
}

// Median returns the median of the values, or 0 without values.
func Median(values []time.Duration) time.Duration { return Quantile(values, 0.5) }

// Quantile returns the q-quantile of the values by nearest rank, or 0 without values.
func Quantile(values []time.Duration, q float64) time.Duration {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	return sorted[min(int(q*float64(len(sorted))), len(sorted)-1)]
}

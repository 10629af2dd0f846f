// Package measure runs programs and says what they cost: what enters is a command
// line, what leaves is its wall time, CPU time and peak memory, and summaries of
// several such runs.
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

// Program is a command line with its environment.
type Program struct {
	Path string
	Args []string
	Env  []string // beside the environment of this process
}

func (p Program) String() string { return filepath.Base(p.Path) + " " + strings.Join(p.Args, " ") }

// Command prepares the program; standard error is kept for error messages.
func (p Program) Command(ctx context.Context) (*exec.Cmd, *bytes.Buffer) {
	cmd := exec.CommandContext(ctx, p.Path, p.Args...)
	cmd.Env = append(os.Environ(), p.Env...)
	stderr := new(bytes.Buffer)
	cmd.Stderr = stderr
	return cmd, stderr
}

// Cost is what one run of a program took.
type Cost struct {
	Wall, CPU time.Duration
	// FirstByte is from start to the first byte on standard output, where that was measured.
	FirstByte time.Duration
	PeakRSS   int64 // bytes
}

// Runner runs programs through a small launcher: getrusage(2) counts into a
// child's peak memory what its parent had in use when it was started.
type Runner struct {
	// Launcher is the path of a program that calls Launch.
	Launcher string
}

// Run runs the program with its output thrown away.
func (r Runner) Run(ctx context.Context, p Program) (Cost, error) {
	return r.RunToReader(ctx, p, nil)
}

// RunToReader runs the program and hands its output to read; nil throws it away
// without a pipe.
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
	_ = childEnd.Close() // the launcher has its own
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

// firstByte notes when the first byte came.
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

// Walls are the wall times of several runs.
func Walls(costs []Cost) []time.Duration {
	walls := make([]time.Duration, len(costs))
	for i, c := range costs {
		walls[i] = c.Wall
	}
	return walls
}

// PeakRSS is the largest of several runs.
func PeakRSS(costs []Cost) int64 {
	var peak int64
	for _, c := range costs {
		peak = max(peak, c.PeakRSS)
	}
	return peak
}

// Median is the middle of the values, 0 for none.
func Median(values []time.Duration) time.Duration { return Quantile(values, 0.5) }

// Quantile is the value below which the fraction q of the values lies (nearest rank).
func Quantile(values []time.Duration, q float64) time.Duration {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	return sorted[min(int(q*float64(len(sorted))), len(sorted)-1)]
}

// Package read reads benchmark results of other programs.
//
// Open reads paths and From reads a stream; both return bench Sets. The first bytes select the format, never
// the file name. A file that is not a result is rejected with an error that has a hint.
//
//  1. Open finds the files of a side, and groups them by run.
//  2. From detects the format of a file and reads it. A file with a line that does not fit is rejected. A
//     malformed value is skipped and counted.
//  3. Observations (vmstat) are added to the run during which they were made, and also as values per query.
//
// Values are stored in units without a prefix: seconds, bytes, per second. So results in milliseconds and in
// seconds can be compared.
package read

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"kitescope/internal/hints"
	"kitescope/internal/interrupt"
	"kitescope/profile/bench"
)

// Options control how files are read. The zero value is right for files of known programs.
type Options struct {
	// Better overrides directions, by a name of a metric (see bench.DirectionFor).
	Better map[string]bench.Direction
	// Side declares that a file is one side of a comparison: commands or settings that differ in it are
	// different benchmarks. Otherwise they are sides.
	Side bool
	// MaxBytes is the maximum decompressed size of a file; 0 means 64 MiB.
	MaxBytes int64
}

// Format describes a supported format.
type Format struct {
	// Name is the value of Set.Format, e.g. "go benchmark" or "hyperfine".
	Name string
	// Doc is one sentence: the program that writes the format, and the meaning of a run.
	Doc string
}

// format is a Format with its reader.
type format struct {
	Format
	sniff func(*doc) bool
	read  func(*doc) ([]*bench.Set, error)
	// observes is true if the file describes the machine during a run of another program.
	observes bool
}

// formats returns all formats, easiest to detect first. A new format needs a file and a line here.
func formats() []format {
	return []format{
		kitescopeRuns(),
		hyperfine(),
		vectorDBBench(),
		openSearchRun(),
		jmhJSON(),
		goBenchmark(),
		apacheBench(),
		vmstatText(),
		annCSV(),
		plainCSV(),
	}
}

// Formats returns all supported formats.
func Formats() []Format {
	var all []Format
	for _, f := range formats() {
		all = append(all, f.Format)
	}
	return all
}

// errNoResult is the error for a file that no reader accepts.
var errNoResult = errors.New("not a supported benchmark result")

// formatsHint returns a hint that lists the formats.
func formatsHint() string {
	var names []string
	for _, f := range formats() {
		names = append(names, f.Name)
	}
	return "supported formats: " + strings.Join(names, ", ")
}

// From reads one stream. It returns several Sets if the file holds several sides.
func From(ctx context.Context, name string, r io.Reader, o Options) ([]*bench.Set, error) {
	t, err := from(ctx, name, r, o)
	if err != nil {
		return nil, err
	}
	return t.sets, nil
}

// table holds the Sets of a file.
type table struct {
	sets     []*bench.Set
	observes bool
}

func from(ctx context.Context, name string, r io.Reader, o Options) (*table, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	d, err := interrupt.Wait(ctx, func() (*doc, error) { return load(name, r, o) })
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	for _, f := range formats() {
		if !f.sniff(d) {
			continue
		}
		sets, err := f.read(d)
		if err == nil {
			err = finish(d, sets, f)
		}
		if err != nil {
			return nil, fmt.Errorf("read %s as %s: %w", name, f.Name, err)
		}
		return &table{sets: sets, observes: f.observes}, nil
	}
	return nil, fmt.Errorf("read %s: %w", name, d.refuse())
}

// finish sets the names of sets, the notes of the file, and the directions set by the user.
func finish(d *doc, sets []*bench.Set, f format) error {
	measured := false
	for i, s := range sets {
		if s.Name == "" {
			s.Name = clean(d.name)
		}
		s.Format = cmp.Or(s.Format, f.Name)
		if i == 0 {
			s.Notes = append(s.Notes, d.notes()...)
		}
		for _, r := range s.Runs {
			measured = measured || len(r.Values) > 0 || r.Failed != ""
		}
		override(s, d.o.Better)
	}
	if !measured {
		return hints.Errorf("did the program end before it wrote its figures?", "it has no figures%s", d.firstOddity())
	}
	return nil
}

// override sets the directions given by the user.
func override(s *bench.Set, better map[string]bench.Direction) {
	if len(better) == 0 {
		return
	}
	for i := range s.Runs {
		for j := range s.Runs[i].Values {
			v := &s.Runs[i].Values[j]
			if d, ok := bench.DirectionFor(better, v.Metric); ok {
				v.Better = d
			}
		}
	}
}

// hasAny reports whether s contains any of words.
func hasAny(s string, words ...string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(s, w) })
}

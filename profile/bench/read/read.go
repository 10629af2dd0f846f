// Package read reads results of benchmarks that other programs wrote.
//
// What enters is paths, or a stream; what leaves is bench Sets. The first bytes tell the format, never
// the name of a file; what is no result is refused with what to do about it.
//
//  1. Open finds the files of one side, and which of them belong to one run.
//  2. From recognises the format of each and has it read; a file with a line that
//     does not fit is refused, and a figure that is broken is left out and counted.
//  3. What was observed during a run (vmstat) joins the run that it was observed during, and
//     becomes a figure per query.
//
// Values are kept in units without a prefix: seconds, bytes, per second. So results of a program that
// writes milliseconds and of one that writes seconds can be compared.
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

// Options say how files are read. The zero Options are right for files of known programs.
type Options struct {
	// Better overrides directions, by a name of a metric (bench.Said).
	Better map[string]bench.Direction
	// Side says that a file is one side of a comparison: commands or settings that differ in it are things that were
	// measured. Without it they are sides.
	Side bool
	// MaxBytes is how large a file may be, decompressed; 0: 64 MiB.
	MaxBytes int64
}

// Format is one that can be read.
type Format struct {
	// Name is what Set.Format says: "go benchmark", "hyperfine".
	Name string
	// Doc is one sentence: what writes it, and what of it is a run.
	Doc string
}

// format is a Format with its reader.
type format struct {
	Format
	sniff func(*doc) bool
	read  func(*doc) ([]*bench.Set, error)
	// observes says that the file tells what happened during a run of something else.
	observes bool
}

// formats are all, the ones that are easily told first. Adding one is a file and a line here.
func formats() []format {
	return []format{
		ownRuns(),
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

// Formats are all that can be read.
func Formats() []Format {
	var all []Format
	for _, f := range formats() {
		all = append(all, f.Format)
	}
	return all
}

// errNoResult is the error of a file that no reader knows.
var errNoResult = errors.New("not a result of a benchmark that can be read")

// known is a hint that names the formats.
func known() string {
	var names []string
	for _, f := range formats() {
		names = append(names, f.Name)
	}
	return "formats that are read: " + strings.Join(names, ", ")
}

// From reads one stream. It gives several Sets where the file holds several sides.
func From(ctx context.Context, name string, r io.Reader, o Options) ([]*bench.Set, error) {
	t, err := from(ctx, name, r, o)
	if err != nil {
		return nil, err
	}
	return t.sets, nil
}

// table is what one file holds.
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

// finish gives sets their names, the notes of the file, and the directions that the user said.
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
		return hints.Errorf("did the program end before it wrote its figures?", "there is no figure in it%s", d.complaint())
	}
	return nil
}

// override sets the directions that the user gave.
func override(s *bench.Set, better map[string]bench.Direction) {
	if len(better) == 0 {
		return
	}
	for i := range s.Runs {
		for j := range s.Runs[i].Values {
			v := &s.Runs[i].Values[j]
			if d, ok := bench.Said(better, v.Metric); ok {
				v.Better = d
			}
		}
	}
}

// hasAny reports whether a text contains one of several.
func hasAny(s string, words ...string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(s, w) })
}

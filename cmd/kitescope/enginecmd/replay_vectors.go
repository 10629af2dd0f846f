package enginecmd

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"kitescope/cmd/kitescope/cli"
	"kitescope/engine/dataset"
	"kitescope/engine/dist"
	"kitescope/replay"
	"kitescope/replay/live"
)

// vectorFile is a file with the vectors of a target, which replaces the segments of a cluster.
type vectorFile struct {
	path, ids string
}

func (f *vectorFile) register(cmd *cobra.Command) {
	fl := cmd.Flags()
	cli.WithSection(fl, cli.SectionReplay, func() {
		fl.StringVar(&f.path, "vectors", "", "with --target: file of its vectors; needs --metric, no cluster")
		fl.StringVar(&f.ids, "ids", "", "with --vectors: keys of its rows, if not row numbers from 0 (.npy, .ivecs)")
	})
}

// checkUnusedFlags returns an error if a flag has no effect.
func (f *vectorFile) checkUnusedFlags(cmd *cobra.Command, target, metric string) error {
	if f.path == "" {
		return requireFlag(cmd, "vectors", "ids")
	}
	if target == "" {
		return requireFlag(cmd, "target", "vectors")
	}
	if err := rejectFlags(cmd, "vectors",
		"from", "storage", "field", "milvus", "replica", "load-threads", "memory-limit", "node-cores"); err != nil {
		return err
	}
	if metric == "" {
		return cli.Usage(errors.New("a vector file has no metric"),
			"give it: --metric L2, IP, COSINE, HAMMING or JACCARD")
	}
	return nil
}

// load returns a collection with a single segment, which is searched row by row.
func (f *vectorFile) load(ctx context.Context, a *cli.App, name, metric string) (*loadedData, error) {
	set, err := dataset.Open(ctx, f.path)
	if err != nil {
		return nil, err
	}
	data, err := f.collection(ctx, a, set, name, metric)
	if err != nil {
		set.Close()
		return nil, err
	}
	return data, nil
}

func (f *vectorFile) collection(
	ctx context.Context, a *cli.App, set *dataset.Set, name, metric string,
) (*loadedData, error) {
	v := set.Vectors
	if v == nil || v.Rows == 0 {
		return nil, fmt.Errorf("read %s: expected vectors, it has none", f.path)
	}
	m, err := dist.ParseMetric(metric)
	if err != nil {
		return nil, err
	}
	if set.NaNs > 0 {
		a.Note("%s: %d rows have a value that is not a number", f.path, set.NaNs)
	}
	keys := make([]int64, v.Rows)
	for i := range keys {
		keys[i] = int64(i)
	}
	if f.ids != "" {
		if keys, err = readIDs(ctx, f.ids); err != nil {
			return nil, err
		}
		if len(keys) != v.Rows {
			return nil, fmt.Errorf("%s has %d ids, %s has %d vectors", f.ids, len(keys), f.path, v.Rows)
		}
	}
	return &loadedData{
		Loaded: replay.FromVectors(filepath.Base(f.path), name, v, keys, m),
		place:  strings.TrimSuffix(f.path, "#"+set.Column), file: set,
	}, nil
}

// matchTarget sets the index of the vectors of a file to the target's, and returns an error if their keys cannot be
// the same.
func (l *loadedData) matchTarget(d live.Description) error {
	if l.file == nil {
		return nil
	}
	if d.TextKeys {
		return cli.Usage(fmt.Errorf("keys of %s are text, those of a vector file are numbers", d.Collection),
			"give a numeric column or field with --target-key")
	}
	if d.Index != "" && !strings.EqualFold(d.Index, "flat") {
		l.Layout.Segments[0].State, l.Layout.Segments[0].Index.Type = replay.Indexed, strings.ToUpper(d.Index)
	}
	return nil
}

// numberKeys reports whether the keys of the loaded rows are numbers.
func (l *loadedData) numberKeys() bool {
	return !slices.ContainsFunc(l.Parts, func(p *replay.Part) bool { return p.Data.Strings != nil })
}

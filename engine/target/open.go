package target

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"kitescope/engine"
	"kitescope/engine/dataset"
	"kitescope/engine/dist"
	"kitescope/engine/flat"
	"kitescope/engine/index"
	"kitescope/engine/object"
	"kitescope/engine/sparse"
)

// Hint holds properties that the file at a path may not record.
type Hint struct {
	// Metric is the metric of a file that names none. Nil means L2, or inner product for sparse vectors.
	Metric *engine.Metric
}

func (h *Hint) index() index.Hint {
	if h.Metric == nil {
		return index.Hint{}
	}
	return index.Hint{Metric: *h.Metric}
}

// Open opens an index file, the folder of an index in Milvus's storage (or a file in it), or a file of vectors,
// which it wraps in a FLAT index. It returns an error if the metric of the hint differs from the file's.
func Open(ctx context.Context, path string, h Hint) (*Target, error) {
	info, err := os.Stat(path)
	if err != nil && isDataset(path) { // FILE#COLUMN: the error for a missing file omits the column
		info, err = os.Stat(withoutColumn(path))
	}
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, withoutPath(err))
	}
	if err := dataset.Foreign(path); err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	var t *Target
	switch {
	case info.IsDir():
		t, err = openEnvelope(ctx, path, h)
	case isDataset(path):
		t, err = openVectors(ctx, path, h)
	default:
		t, err = openFile(ctx, path, h)
	}
	if err != nil {
		return nil, err
	}
	if f := t.File; f.MetricKnown && h.Metric != nil && f.Metric != *h.Metric {
		t.Close()
		return nil, fmt.Errorf("open %s: its metric is %s, not %s", path, f.Metric, *h.Metric)
	}
	t.metricGiven = !t.File.MetricKnown && h.Metric != nil
	return t, nil
}

func withoutPath(err error) error {
	if p, ok := errors.AsType[*os.PathError](err); ok {
		return p.Err
	}
	return err
}

// withoutColumn returns the FILE of FILE#COLUMN.
func withoutColumn(path string) string {
	if at := strings.LastIndexByte(path, '#'); at > 0 {
		return path[:at]
	}
	return path
}

// isDataset reports whether package dataset opens files with this name.
func isDataset(path string) bool {
	ending := strings.ToLower(filepath.Ext(path))
	if column := withoutColumn(path); strings.ToLower(filepath.Ext(column)) == ".parquet" {
		return true
	}
	switch ending {
	case ".npy", ".fvecs", ".bvecs", ".ivecs", ".csr", ".parquet", ".hdf5", ".h5":
		return true
	}
	return false
}

func openFile(ctx context.Context, path string, h Hint) (*Target, error) {
	f, err := index.OpenFile(ctx, path, h.index())
	if err != nil {
		return nil, err
	}
	t := newIndexTarget(f)
	if !f.MetricKnown && h.Metric == nil {
		t.Notes = append(t.Notes, fmt.Sprintf("no metric in the file: assuming %s (--metric)", f.Metric))
	}
	return t, nil
}

// openEnvelope opens the folder to which Milvus wrote an index.
func openEnvelope(ctx context.Context, folder string, h Hint) (*Target, error) {
	if err := checkFolder(folder); err != nil {
		return nil, err
	}
	name := folder
	folder, err := filepath.Abs(folder)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", name, err)
	}
	store, err := object.OpenFolder(filepath.Dir(folder))
	if err != nil {
		return nil, err
	}
	defer store.Close()
	x, hint, err := index.ReadBlobs(ctx, store, filepath.Base(folder), h.index())
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", name, err)
	}
	f, err := index.FromBlobs(x, hint)
	if err != nil {
		x.Release()
		return nil, fmt.Errorf("open %s: %w", name, err)
	}
	f.Name = name
	return newIndexTarget(f), nil
}

// newIndexTarget returns a target that closes the index with it.
func newIndexTarget(f *index.File) *Target {
	return &Target{File: f, close: []func(){f.Close}}
}

// checkFolder returns an error if a folder cannot be an index's, before everything below it is read. The folder of
// an index contains only files.
func checkFolder(folder string) error {
	const expected = "expected the folder of one index in Milvus's storage, " +
		"index_files/BUILD/VERSION/PARTITION/SEGMENT or index_v1/COLLECTION/PARTITION/SEGMENT/BUILD/VERSION"
	entries, err := os.ReadDir(folder)
	switch {
	case err != nil:
		return fmt.Errorf("open %s: %w", folder, withoutPath(err))
	case len(entries) == 0:
		return fmt.Errorf("open %s: it is empty; %s", folder, expected)
	}
	for _, e := range entries {
		if e.IsDir() {
			return fmt.Errorf("open %s: it contains folders, such as %s; %s", folder, e.Name(), expected)
		}
	}
	return nil
}

func openVectors(ctx context.Context, path string, h Hint) (*Target, error) {
	set, err := dataset.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	if set.Vectors == nil {
		set.Close()
		return nil, fmt.Errorf("read %s: %w", path, set.NoVectors())
	}
	metric := h.index().Metric
	if set.Vectors.Element == dist.Sparse {
		return openSparse(path, set, h)
	}
	t := &Target{Set: set, close: []func(){set.Close}, File: &index.File{
		Name: path, Metric: metric, Dim: set.Vectors.Dim, Rows: set.Vectors.Rows, Bytes: set.Vectors.Bytes(),
		Searchable: index.FromRows(&flat.Index{Vectors: set.Vectors, Metric: metric}),
	}}
	t.Notes = NoteSet(set)
	return t, nil
}

// openSparse opens sparse rows, which are compared one by one.
func openSparse(path string, set *dataset.Set, h Hint) (*Target, error) {
	metric := dist.InnerProduct
	if h.Metric != nil {
		metric = *h.Metric
	}
	v := set.Vectors
	t := &Target{Set: set, close: []func(){set.Close}, File: &index.File{
		Name: path, Metric: metric, Dim: sparse.Dim(v), Rows: v.Rows, Bytes: v.Bytes(),
		Searchable: index.FromSparseRows(v, metric),
	}}
	return t, nil
}

// NoteSet returns notes on unusual values in a file of vectors.
func NoteSet(s *dataset.Set) []string {
	var notes []string
	if s.NaNs > 0 {
		notes = append(notes,
			fmt.Sprintf("%d rows contain NaN, first row %d: searches cannot find them or use them as queries", s.NaNs,
				s.NaNRows[0]))
	}
	if s.Rounded > 0 {
		notes = append(notes, fmt.Sprintf("%d float64 values rounded to float32", s.Rounded))
	}
	return notes
}

// Package dataset reads benchmark files of vectors and of ids of true neighbours, and writes .npy and .fvecs files.
//
// It reads .npy, .fvecs, .bvecs, .ivecs, .csr and .parquet files into a Set, which holds either vectors or rows of
// ids:
//
//  1. Open maps the file and derives the format from the file extension. OpenAs takes the format as an argument.
//  2. Headers, counts and lengths are checked against the size of the file.
//  3. Vectors refer to the mapped file if its layout allows; otherwise they are copied.
//  4. All values are read once, and rows with NaN are counted.
//
// WriteNPY, WriteIDs and WriteFvecs are used for results and by tools.
package dataset

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"kitescope/engine"
	"kitescope/engine/object"
	"kitescope/engine/parquet"
)

// Format is a file format.
type Format string

// The formats, named after their file extensions.
const (
	NPY     Format = "npy"
	Fvecs   Format = "fvecs"
	Bvecs   Format = "bvecs"
	Ivecs   Format = "ivecs"
	Parquet Format = "parquet"
	CSR     Format = "csr"  // sparse vectors
	HDF5    Format = "hdf5" // recognized, but not supported
)

// Set holds the contents of a file. Close releases its memory.
type Set struct {
	Format Format
	Column string // name of the column in a parquet file
	// Vectors holds the rows, or is nil if the file holds ids. If Mapped is set, the file must not be truncated
	// while the vectors are in use.
	Vectors *engine.Vectors
	// IDs holds the rows of a file of integers, e.g. true neighbours. It is nil if the file holds vectors.
	IDs [][]int64
	// Mapped is set if the vectors refer to the mapped file instead of a copy.
	Mapped bool
	// NaNs is the number of rows with a NaN value. NaNRows holds the first such rows.
	NaNs    int
	NaNRows []int
	// Rounded is the number of float64 values that are not exact in float32 and were rounded to the nearest.
	Rounded int

	unmap func()
}

// Close releases the memory. The vectors of the set must not be used afterwards.
func (s *Set) Close() {
	if s.Vectors != nil {
		s.Vectors.Release()
	}
	if s.unmap != nil {
		s.unmap()
	}
	*s = Set{Format: s.Format, Column: s.Column}
}

// NoVectors returns the error for a set of ids if vectors are expected.
func (s *Set) NoVectors() error {
	if s.Column != "" {
		return fmt.Errorf("column %s has ids, which are whole numbers: expected vectors", parquet.QuoteName(s.Column))
	}
	return errors.New("it has ids, which are whole numbers: expected vectors")
}

// Open reads a file. For a parquet file with several columns of vectors, "FILE#COLUMN" selects one. Errors contain
// the file name, and the offset if there is one.
func Open(ctx context.Context, name string) (*Set, error) {
	path, column := name, ""
	if at := strings.LastIndexByte(name, '#'); at > 0 && FormatOf(name[:at]) == Parquet {
		path, column = name[:at], name[at+1:]
	}
	s, err := OpenAs(ctx, path, FormatOf(path), column)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return s, nil
}

// OpenAs reads a file in the given format, regardless of its name. column selects a column of a parquet file.
// Errors do not contain the file name; the caller adds it.
func OpenAs(ctx context.Context, path string, format Format, column string) (*Set, error) {
	if format == HDF5 {
		return nil, refuseHDF5(path)
	}
	if format == "" {
		if err := Foreign(path); err != nil {
			return nil, err
		}
		return nil, errors.New("expected a name ending in .npy, .fvecs, .bvecs, .ivecs, .csr or .parquet")
	}
	f, err := os.Open(path)
	if err != nil {
		if pathError, ok := errors.AsType[*os.PathError](err); ok {
			err = pathError.Err
		}
		return nil, err
	}
	defer f.Close()
	m, err := object.Map(f)
	if err != nil {
		return nil, err
	}
	s, err := parse(ctx, format, column, m.Data)
	if err != nil || !s.Mapped {
		m.Unmap()
	} else {
		s.unmap = m.Unmap
	}
	return s, err
}

// parse reads a file in memory. If the set is Mapped, it refers to data.
func parse(ctx context.Context, format Format, column string, data []byte) (s *Set, err error) {
	switch format {
	case NPY:
		s, err = readNPY(ctx, data)
	case Fvecs, Bvecs, Ivecs:
		s, err = readVecs(ctx, format, data)
	case CSR:
		s, err = readCSR(ctx, data)
	case Parquet:
		s, err = readParquet(ctx, column, data)
	default:
		return nil, fmt.Errorf("unknown format %q", format)
	}
	if err != nil {
		return nil, err
	}
	s.Format = format
	if err := s.findNaNs(ctx); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// FormatOf returns the format for the extension of name, or "" if it is unknown.
func FormatOf(name string) Format {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".npy":
		return NPY
	case ".fvecs":
		return Fvecs
	case ".bvecs":
		return Bvecs
	case ".ivecs":
		return Ivecs
	case ".parquet":
		return Parquet
	case ".csr":
		return CSR
	case ".hdf5", ".h5":
		return HDF5
	}
	return ""
}

// refuseHDF5 returns an error with a command that converts a file of ann-benchmarks. HDF5 is not supported because
// the module proxy has no reader in pure Go, and a new reader would be a lot of code to trust.
func refuseHDF5(path string) error {
	return fmt.Errorf("HDF5 is not supported; convert it to .npy files: python3 -c "+
		"'import h5py,numpy,sys; f=h5py.File(sys.argv[1]); [numpy.save(k,f[k]) for k in "+
		"(\"train\",\"test\",\"neighbors\")]' %s", path)
}

// checkEvery is the number of rows between checks of the context in long loops.
const checkEvery = 1 << 14

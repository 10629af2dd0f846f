// Package dataset reads the files in which benchmarks keep vectors and the ids of true
// neighbours, and writes two of them.
//
// In: the name of a .npy, .fvecs, .bvecs, .ivecs, .csr or .parquet file. Out: a Set, which has
// either vectors or rows of ids.
//
//  1. Open maps the file and chooses the format by the ending of its name; OpenAs is told.
//  2. Headers, counts and lengths are held against the bytes that are there.
//  3. Vectors are served where they lie, if their layout allows; else they are copied.
//  4. All values are looked at once: rows with NaN are counted.
//
// WriteNPY, WriteIDs and WriteFvecs are for results and tools.
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

// Format is how a file is laid out.
type Format string

// The formats, by the endings of their names.
const (
	NPY     Format = "npy"
	Fvecs   Format = "fvecs"
	Bvecs   Format = "bvecs"
	Ivecs   Format = "ivecs"
	Parquet Format = "parquet"
	CSR     Format = "csr"  // sparse vectors
	HDF5    Format = "hdf5" // named, and refused
)

// Set is what a file holds. Close gives its memory back.
type Set struct {
	Format Format
	Column string // of a parquet file
	// Vectors are the rows; nil if they are ids. Those that lie in the mapped file follow it: nobody
	// may cut it short while they are used.
	Vectors *engine.Vectors
	// IDs are the rows of a file of integers, such as true neighbours; nil if it has vectors.
	IDs [][]int64
	// Mapped tells that the vectors lie in the file, and were not copied.
	Mapped bool
	// NaNs is how many rows have a value that is no number; NaNRows the first of them.
	NaNs    int
	NaNRows []int
	// Rounded is how many float64 values are no float32, and were rounded to the nearest.
	Rounded int

	unmap func()
}

// Close gives back the memory; nothing may use the set's vectors afterwards.
func (s *Set) Close() {
	if s.Vectors != nil {
		s.Vectors.Release()
	}
	if s.unmap != nil {
		s.unmap()
	}
	*s = Set{Format: s.Format, Column: s.Column}
}

// NoVectors returns the error for a set of ids where vectors are expected.
func (s *Set) NoVectors() error {
	if s.Column != "" {
		return fmt.Errorf("column %s has ids, which are whole numbers: expected vectors", parquet.Shown(s.Column))
	}
	return errors.New("it has ids, which are whole numbers: expected vectors")
}

// Open reads a file. Of a parquet file with several columns of vectors, "FILE#COLUMN" names
// one. The error names the file, and the offset where there is one.
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

// OpenAs reads a file of a format, whatever its name is, and the column of a parquet file that has several. The caller names the file.
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

// parse reads a file that is in memory. If the set says Mapped, it refers to data.
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

// FormatOf is the format that a name's ending says; "" if none.
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

// refuseHDF5 says what to do with a file of ann-benchmarks. No module that reads HDF5 in Go
// alone could be had from the module proxy, and a reader of our own is a large thing to trust.
func refuseHDF5(path string) error {
	return fmt.Errorf("HDF5 is not supported; convert it to .npy files: python3 -c "+
		"'import h5py,numpy,sys; f=h5py.File(sys.argv[1]); [numpy.save(k,f[k]) for k in (\"train\",\"test\",\"neighbors\")]' %s", path)
}

// checkEvery is after how many rows a long loop asks whether it is still wanted.
const checkEvery = 1 << 14

// Package index reads and writes index files of hnswlib, faiss, and knowhere (Milvus's index library).
//
// OpenFile reads a file by its path (mapped); for a file of a Milvus index, it also reads the other files in the
// folder. ReadBlobs and FromBlobs read such a folder from an object.Store, and Parse reads bytes in memory. Each index
// is a File: its description, and a Searchable whose Searchers use engine/flat, engine/ivf, engine/hnsw or
// engine/sparse.
//
// The format is detected by its magic, or by a self-consistent header if it has none. Every count is checked against
// the number of remaining bytes. Rows of FLAT and IVF indexes stay in place. The records of an HNSW graph are split
// into aligned vectors and links, in parallel. Pages of the file that were copied are released, to save memory.
//
// Files are not trusted. An error names the file, the offset and the expected value, and no allocation is larger
// than a small multiple of the bytes present. An index of an unsupported type yields an UnsupportedError that
// names the type.
package index

import (
	"fmt"

	"kitescope/engine"
	"kitescope/engine/dist"
)

// Format is the format of an index file. It names the library that wrote the file, whose search is to be
// reproduced.
type Format uint8

// The formats.
const (
	HNSWLib        Format = iota // written by hnswlib's saveIndex
	Faiss                        // written by faiss's write_index
	KnowhereHNSW                 // the blob HNSW of Milvus up to 2.4, written by knowhere's fork of hnswlib
	KnowhereFaiss                // a blob of Milvus, written by knowhere's fork of faiss
	KnowhereSparse               // a blob of Milvus 2.4 and later, with sparse vectors
)

func (f Format) String() string {
	switch f {
	case HNSWLib:
		return "hnswlib"
	case Faiss:
		return "faiss"
	case KnowhereHNSW:
		return "knowhere (hnswlib)"
	case KnowhereFaiss:
		return "knowhere (faiss)"
	case KnowhereSparse:
		return "knowhere (sparse)"
	default:
		return fmt.Sprintf("format %d", uint8(f))
	}
}

// Hint holds properties of an index that its file may not record.
type Hint struct {
	// Metric is the metric of a file that does not name one (hnswlib). The default is L2.
	Metric engine.Metric
	// Element is the element type of a file that gives only the size of a vector. In knowhere's HNSW blob, float16
	// and bfloat16 look alike. hnswlib files are read as float32.
	Element dist.Element
	// Dim is the expected dimension; 0 accepts any.
	Dim int
	// RawData is the blob RAW_DATA, which knowhere 1 stores next to the blob of an IVF_FLAT index. It holds the
	// vectors in row order, which the index blob omits.
	RawData []byte

	split   *splitRecords // set by ReadBlobs; nil if nothing was placed
	segment bool          // the index is a segment's, whose vectors are also in insert logs
	sparse  bool          // the name of the blob is that of a sparse index
	wand    bool          // the name is SPARSE_WAND
}

// Part is a byte range of a file, or several ranges of the same purpose.
type Part struct {
	Name   string // header, vectors, links, upper links, norms, ids, ...
	Offset int    // of the first range
	Bytes  int    // total of all ranges
}

// File is an index together with the properties of its file.
type File struct {
	Searchable

	Name   string
	Format Format
	// Codes holds the nested four-character codes of a faiss file, outermost first, e.g. "IxMp", "IHNf", "IxF2". It
	// is nil for other formats.
	Codes []string
	// Metric is the metric of the file, or of the hint if the file names none (MetricKnown is false).
	Metric      engine.Metric
	MetricKnown bool
	Dim         int
	Rows        int

	Parts []Part
	Bytes int // size of the whole file

	unmap func()
}

// Close releases the index, and the mapping of the file if the index uses it. The index must not be used
// afterwards.
func (f *File) Close() {
	if f.Searchable != nil {
		f.ReleaseCodes()
		if own, _ := f.OwnMemory(); own != nil {
			own.Release()
		}
	}
	if f.unmap != nil {
		f.unmap()
		f.unmap = nil
	}
	f.Searchable = nil
}

// keep calls release at once if the index has its own memory, otherwise in Close.
func (f *File) keep(release func()) {
	if own, _ := f.OwnMemory(); own == nil {
		f.unmap = release
		return
	}
	release()
}

// part adds n bytes at offset at to the part with that name.
func (f *File) part(name string, at, n int) {
	if n == 0 {
		return
	}
	for i := range f.Parts {
		if f.Parts[i].Name == name {
			f.Parts[i].Bytes += n
			return
		}
	}
	f.Parts = append(f.Parts, Part{Name: name, Offset: at, Bytes: n})
}

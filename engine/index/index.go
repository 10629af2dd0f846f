// Package index reads and writes the files of vector indexes: hnswlib's, faiss's, and what
// Milvus's knowhere serialises.
//
// In: a file by its path (mapped), a reader, or bytes in memory (the blob of a Milvus
// envelope, see engine/binlog). Out: a File that says what it is and holds one
// Searchable, of whatever kind. The steps: tell the format by its magic,
// or by a header that agrees with itself where there is none; read the header and hold every
// count against the bytes that are left; then FLAT and IVF rows stay where they lie, and the
// records of an HNSW graph are taken apart into aligned vectors and links, in parallel, while
// the pages of the file are given back.
//
// Nothing in a file is trusted: an error names the file, the offset and what was expected,
// and no allocation is larger than a small multiple of the bytes that are there. Types that
// cannot be read are named (UnsupportedError).
package index

import (
	"fmt"

	"kitescope/engine"
	"kitescope/engine/dist"
)

// Format is who wrote a file, and so whose search is to be reproduced.
type Format uint8

// The formats.
const (
	HNSWLib        Format = iota // hnswlib's saveIndex
	Faiss                        // faiss's write_index
	KnowhereHNSW                 // the blob HNSW of Milvus up to 2.4: knowhere's fork of hnswlib
	KnowhereFaiss                // a blob of Milvus that knowhere's fork of faiss wrote
	KnowhereSparse               // a blob of Milvus 2.4 and later with sparse vectors
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

// Hint is what a file may not say.
type Hint struct {
	// Metric of a file that does not name one (hnswlib); L2 if left out.
	Metric engine.Metric
	// Element of a file that gives only the size of a vector (knowhere's HNSW blob: float16 and
	// bfloat16 look alike). hnswlib files are read as float32.
	Element dist.Element
	// Dim is the dimension that is expected; 0 expects none.
	Dim int
	// RawData is the blob RAW_DATA, which knowhere 1 stores beside the blob of an IVF_FLAT index:
	// the vectors in the order of rows, which that one leaves out.
	RawData []byte

	placed  *placed // by ReadBlobs; nil for nothing
	segment bool    // the index is a segment's, whose vectors are in insert logs too
	sparse  bool    // the blob is named as lists of sparse vectors are
	wand    bool    // and that is SPARSE_WAND
}

// Part is a stretch of a file, or several of one purpose.
type Part struct {
	Name   string // header, vectors, links, upper links, norms, ids, ...
	Offset int    // of the first
	Bytes  int    // of all together
}

// File is an index as a file has it.
type File struct {
	Searchable

	Name   string
	Format Format
	// Codes are the four-character codes that a faiss file nests, outermost first: "IxMp",
	// "IHNf", "IxF2". Nil for the others.
	Codes []string
	// Metric is the file's, or the hint's if the file names none (MetricKnown is false).
	Metric      engine.Metric
	MetricKnown bool
	Dim         int
	Rows        int

	Parts []Part
	Bytes int // of the whole file

	unmap func()
}

// Close gives back the index and, where it lies in the file's mapping, that. Nothing may use the index afterwards.
func (f *File) Close() {
	if f.Searchable != nil {
		f.Unshade()
		if own, _ := f.Own(); own != nil {
			own.Release()
		}
	}
	if f.unmap != nil {
		f.unmap()
		f.unmap = nil
	}
	f.Searchable = nil
}

// keep holds on to the memory in which the file lies for as long as the index is in it; else it gives it back now.
func (f *File) keep(release func()) {
	if own, _ := f.Own(); own == nil {
		f.unmap = release
		return
	}
	release()
}

// part adds n bytes at offset at to the part of that name.
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

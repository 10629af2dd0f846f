package index

import (
	"fmt"
	"slices"
	"strings"
)

// UnsupportedError is an index whose type is known and cannot be searched here.
type UnsupportedError struct {
	Type string // in Milvus's words where it has one
	Hint string // what a person can do instead; may be empty
}

func (e *UnsupportedError) Error() string {
	s := fmt.Sprintf("index type %s is not supported", e.Type)
	if e.Hint != "" {
		s += "; " + e.Hint
	}
	return s
}

// What can be done instead, where the vectors themselves are in Milvus's insert logs (FromBlobs
// says so of whatever it is) and where they are not.
const (
	hintReplay  = "kitescope replay compares the vectors of its insert logs row by row"
	hintRebuild = "build an index of its vectors with engine build"
)

// CheckType returns an UnsupportedError if indexes of a type, by the name that Milvus's
// metadata has for it, cannot be searched.
func CheckType(name string) error {
	if isSparseType(name) {
		return nil
	}
	for _, t := range milvusTypes() {
		if t.read != nil && t.name == strings.ToUpper(name) {
			return nil
		}
	}
	return &UnsupportedError{Type: name, Hint: hintReplay}
}

// typeOf is the type whose blobs begin with a faiss code.
func typeOf(code string) (milvusType, bool) {
	for _, t := range milvusTypes() {
		if slices.Contains(t.codes, code) {
			return t, true
		}
	}
	return milvusType{}, false
}

// unsupportedCode is the error for a faiss code that Open does not read.
func unsupportedCode(code string) error {
	if t, ok := typeOf(code); ok {
		return &UnsupportedError{Type: t.name, Hint: hintRebuild}
	}
	return &UnsupportedError{Type: "faiss " + code, Hint: hintRebuild}
}

// unsupportedLists is the error for inverted lists of another form than ilar.
func unsupportedLists(at int, code string) error {
	switch code {
	case "il00":
		return &FormatError{Offset: at, Expected: "inverted lists", Found: "il00: omitted when the file was written"}
	case "ilca":
		return &UnsupportedError{Type: "IVF_FLAT_CC", Hint: hintReplay}
	case "ilod":
		return &UnsupportedError{Type: "faiss ilod (inverted lists in a file of their own)", Hint: hintRebuild}
	}
	if !strings.HasPrefix(code, "il") {
		return &FormatError{Offset: at, Expected: "inverted lists (ilar)", Found: fmt.Sprintf("%q", code)}
	}
	return &UnsupportedError{Type: "faiss " + code, Hint: hintRebuild}
}

// typeName is Milvus's name for a code, or faiss's.
func typeName(code string) string {
	if t, ok := typeOf(code); ok {
		return fmt.Sprintf("%s (%s)", t.name, code)
	}
	return "faiss " + code
}

// milvusType is a type of index that Milvus makes, with the codes by which its blobs begin, and what reads a blob whose code
// was just read; a type without that is refused.
type milvusType struct {
	name  string
	codes []string
	read  func(r *faissReader, at int, code string) faissHeader
}

// milvusTypes are the codes of knowhere's fork of faiss.
// Source: knowhere v2.6.9 and v2.5.5, thirdparty/faiss/faiss/impl/index_write.cpp, and
// src/index/hnsw/faiss_hnsw.cc (what is refined is HNSW: SCANN has a code of its own).
func milvusTypes() []milvusType {
	return []milvusType{
		{"FLAT", []string{"IxF2", "IxFI", "IxFl", "IxF9"}, (*faissReader).rows},
		{"BIN_FLAT", []string{"IBxF"}, (*faissReader).binaryFlat},
		{"BIN_IVF_FLAT", []string{"IBwF"}, (*faissReader).binaryIVF},
		{"HNSW", []string{"IHNf", "IHN9", "IH00"}, (*faissReader).hnsw}, // IH00: over any storage, faiss's
		{"IVF_FLAT", []string{"IwFl"}, (*faissReader).ivf},
		{"HNSW_SQ", []string{"IHNs", "IHN8", "IHNa", "IHNb"}, nil},
		{"HNSW_PQ", []string{"IHNp", "IHN7"}, nil},
		{"HNSW_PRQ", []string{"IHN6", "IHN5"}, nil},
		{"SQ", []string{"IxSQ", "IxS8", "IxS4", "IxSI"}, nil}, // by itself: faiss's, no type of Milvus
		{"PQ", []string{"IxPq", "IxP7"}, nil},
		{"PRQ", []string{"IxPR", "IxP5"}, nil},
		{"with refinement", []string{"IxRF"}, nil}, // HNSW_SQ and IVF_SQ8 from 2.5 on, if it was asked for
		{"HNSW by partition key (several graphs)", []string{"IHMV"}, nil},
		{"IVF_FLAT_CC", []string{"IwFc"}, nil},
		{"IVF_PQ", []string{"IwPQ"}, nil},
		{"IVF_PQ with refinement", []string{"IwQR"}, nil}, // by parts, faiss's
		{"IVF_SQ8", []string{"IwSq", "IwSQ"}, (*faissReader).ivfSQ},
		{"IVF_RABITQ", []string{"IwrQ", "Iwrq", "Iwrr", "Iwrn", "Iwrf"}, nil},
		{"RaBitQ without lists", []string{"IxrQ", "Ixrq", "Ixrr"}, nil},            // faiss's, no type of Milvus
		{"IVF_RABITQ, or another index of mapped vectors,", []string{"IxPT"}, nil}, // the rotation around IVF_RABITQ
		{"SCANN", []string{"IxSC"}, nil},
		{"IVFPQFastScan", []string{"IwPf"}, nil}, // by itself: faiss's, no type of Milvus
	}
}

package index

import (
	"fmt"
	"slices"
	"strings"
)

// UnsupportedError reports an index of a known type that this package cannot search.
type UnsupportedError struct {
	Type string // Milvus's name if there is one
	Hint string // an instruction for the user; may be empty
}

func (e *UnsupportedError) Error() string {
	s := fmt.Sprintf("index type %s is not supported", e.Type)
	if e.Hint != "" {
		s += "; " + e.Hint
	}
	return s
}

// Hints of an UnsupportedError. hintReplay is for vectors that are also in Milvus's insert logs, as with every
// index that FromBlobs reads; hintRebuild is for the others.
const (
	hintReplay  = "kitescope replay compares the vectors of its insert logs row by row"
	hintRebuild = "build an index of its vectors with engine build"
)

// CheckType returns an UnsupportedError if indexes of the named type cannot be searched. name is the type's name in
// Milvus's metadata.
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

// typeOf returns the type whose blobs begin with a faiss code.
func typeOf(code string) (milvusType, bool) {
	for _, t := range milvusTypes() {
		if slices.Contains(t.codes, code) {
			return t, true
		}
	}
	return milvusType{}, false
}

// unsupportedCode returns the error for a faiss code that Parse does not read.
func unsupportedCode(code string) error {
	if t, ok := typeOf(code); ok {
		return &UnsupportedError{Type: t.name, Hint: hintRebuild}
	}
	return &UnsupportedError{Type: "faiss " + code, Hint: hintRebuild}
}

// unsupportedLists returns the error for inverted lists in a form other than ilar.
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

// typeName returns Milvus's name and the code, or faiss's code if Milvus has no such type.
func typeName(code string) string {
	if t, ok := typeOf(code); ok {
		return fmt.Sprintf("%s (%s)", t.name, code)
	}
	return "faiss " + code
}

// milvusType is a type of index that Milvus builds. codes holds the codes that its blobs begin with. read reads a
// blob after its code; it is nil if the type is unsupported.
type milvusType struct {
	name  string
	codes []string
	read  func(r *faissReader, at int, code string) faissHeader
}

// milvusTypes returns the index types by the codes of knowhere's fork of faiss.
// Sources: knowhere v2.6.9 and v2.5.5, thirdparty/faiss/faiss/impl/index_write.cpp, and
// src/index/hnsw/faiss_hnsw.cc (refined indexes are HNSW: SCANN has a code of its own).
func milvusTypes() []milvusType {
	return []milvusType{
		{"FLAT", []string{"IxF2", "IxFI", "IxFl", "IxF9"}, (*faissReader).rows},
		{"BIN_FLAT", []string{"IBxF"}, (*faissReader).binaryFlat},
		{"BIN_IVF_FLAT", []string{"IBwF"}, (*faissReader).binaryIVF},
		{"HNSW", []string{"IHNf", "IHN9", "IH00"}, (*faissReader).hnsw}, // IH00: faiss's code, over any storage
		{"IVF_FLAT", []string{"IwFl"}, (*faissReader).ivf},
		{"HNSW_SQ", []string{"IHNs", "IHN8", "IHNa", "IHNb"}, nil},
		{"HNSW_PQ", []string{"IHNp", "IHN7"}, nil},
		{"HNSW_PRQ", []string{"IHN6", "IHN5"}, nil},
		{"SQ", []string{"IxSQ", "IxS8", "IxS4", "IxSI"}, nil}, // standalone: faiss's code, not a Milvus type
		{"PQ", []string{"IxPq", "IxP7"}, nil},
		{"PRQ", []string{"IxPR", "IxP5"}, nil},
		{"with refinement", []string{"IxRF"}, nil}, // HNSW_SQ and IVF_SQ8 since 2.5, if refinement is enabled
		{"HNSW by partition key (several graphs)", []string{"IHMV"}, nil},
		{"IVF_FLAT_CC", []string{"IwFc"}, nil},
		{"IVF_PQ", []string{"IwPQ"}, nil},
		{"IVF_PQ with refinement", []string{"IwQR"}, nil}, // faiss's code, stored in parts
		{"IVF_SQ8", []string{"IwSq", "IwSQ"}, (*faissReader).ivfSQ},
		{"IVF_RABITQ", []string{"IwrQ", "Iwrq", "Iwrr", "Iwrn", "Iwrf"}, nil},
		{"RaBitQ without lists", []string{"IxrQ", "Ixrq", "Ixrr"}, nil},            // faiss's code, not a Milvus type
		{"IVF_RABITQ, or another index of mapped vectors,", []string{"IxPT"}, nil}, // the rotation around IVF_RABITQ
		{"SCANN", []string{"IxSC"}, nil},
		{"IVFPQFastScan", []string{"IwPf"}, nil}, // standalone: faiss's code, not a Milvus type
	}
}

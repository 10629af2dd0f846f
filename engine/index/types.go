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
// metadata has for it, cannot be searched: all but FLAT, BIN_FLAT, HNSW and IVF_FLAT.
func CheckType(name string) error {
	if slices.Contains([]string{"FLAT", "BIN_FLAT", "HNSW", "IVF_FLAT"}, strings.ToUpper(name)) {
		return nil
	}
	return &UnsupportedError{Type: name, Hint: hintReplay}
}

// unsupportedCode is the error for a faiss code that Open does not read.
func unsupportedCode(code string) error {
	for _, t := range milvusTypes() {
		if slices.Contains(t.codes, code) {
			return &UnsupportedError{Type: t.name, Hint: hintRebuild}
		}
	}
	return &UnsupportedError{Type: "faiss " + code, Hint: hintRebuild}
}

// unsupportedLists is the error for inverted lists of another form than ilar.
func unsupportedLists(at int, code string) error {
	switch code {
	case "il00":
		return &FormatError{Offset: at, Expected: "inverted lists", Found: "il00: they were left out when the file was written"}
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
	for _, t := range milvusTypes() {
		if slices.Contains(t.codes, code) {
			return fmt.Sprintf("%s (%s)", t.name, code)
		}
	}
	return "faiss " + code
}

// milvusType is a type of index that Milvus makes and that is refused, with the codes by which
// its blobs begin.
type milvusType struct {
	name  string
	codes []string
}

// milvusTypes are the codes of knowhere's fork of faiss.
// Source: knowhere v2.6.9 and v2.5.5, thirdparty/faiss/faiss/impl/index_write.cpp, and
// src/index/hnsw/faiss_hnsw.cc (what is refined is HNSW: SCANN has a code of its own).
func milvusTypes() []milvusType {
	return []milvusType{
		{"HNSW_SQ", []string{"IHNs", "IHN8", "IHNa", "IHNb"}},
		{"HNSW_PQ", []string{"IHNp", "IHN7"}},
		{"HNSW_PRQ", []string{"IHN6", "IHN5"}},
		{"SQ", []string{"IxSQ", "IxS8", "IxS4", "IxSI"}}, // by itself: faiss's, no type of Milvus
		{"PQ", []string{"IxPq", "IxP7"}},
		{"PRQ", []string{"IxPR", "IxP5"}},
		{"HNSW with refinement", []string{"IxRF"}},
		{"HNSW by partition key (several graphs)", []string{"IHMV"}},
		{"IVF_FLAT_CC", []string{"IwFc"}},
		{"IVF_PQ", []string{"IwPQ", "IwQR"}},
		{"IVF_SQ8", []string{"IwSq", "IwSQ"}},
		{"IVF_RABITQ", []string{"IwrQ"}},
		{"SCANN", []string{"IxSC", "IwPf"}},
		{"BIN_IVF_FLAT", []string{"IBwF"}},
	}
}

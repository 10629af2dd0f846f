package index

import (
	"context"
	"errors"
	"fmt"
	"os"

	"kitescope/engine/object"
)

// OpenFile opens the index file at path. The file is mapped: rows of FLAT and IVF indexes are read from it until
// Close. As with every mapping, the process crashes if the file shrinks meanwhile. An HNSW index is copied into
// memory, and the mapping is released. If the file is an index file of Milvus, OpenFile extracts its content,
// together with the other files of the same index in the same folder.
func OpenFile(ctx context.Context, path string, hint Hint) (*File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err // "open PATH: ..."
	}
	defer f.Close()
	if isEnvelopeFile(f) {
		return openEnvelope(ctx, path, hint)
	}
	m, err := object.Map(f)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	x, err := read(path, &cursor{data: m.Data, discard: m.Discard}, hint)
	if err != nil {
		m.Unmap()
		return nil, err
	}
	x.keep(m.Unmap)
	return x, nil
}

// Parse reads an index in memory, such as the blob of an index file of Milvus. Errors contain name. FLAT and IVF
// indexes keep using data.
func Parse(name string, data []byte, hint Hint) (*File, error) {
	return read(name, &cursor{data: data}, hint)
}

// read detects the format and reads the index.
func read(name string, c *cursor, hint Hint) (*File, error) {
	f, err := parse(c, hint)
	var unsupported *UnsupportedError
	if hint.segment && errors.As(err, &unsupported) {
		unsupported.Hint = hintReplay
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	f.Name, f.Bytes = name, len(c.data)
	return f, nil
}

func parse(c *cursor, hint Hint) (*File, error) {
	if hint.Dim < 0 {
		return nil, fmt.Errorf("vectors of %d dimensions", hint.Dim)
	}
	switch {
	case isEnvelope(c.data):
		return nil, ErrEnvelope
	case sniffFaiss(c.data):
		return readFaiss(c, hint)
	case sniffHNSWLib(c.data):
		return readHNSWLib(c, hint)
	case sniffSparseLists(c.data):
		return readSparseLists(c, hint)
	}
	if found, quantised := sniffKnowhere(c.data); quantised {
		return nil, &UnsupportedError{Type: knowhereSQ8, Hint: hintReplay}
	} else if found {
		return readKnowhere(c, hint)
	}
	if hint.sparse || sniffSparseRows(c.data) {
		return readSparseRows(c, hint)
	}
	return nil, &FormatError{
		Offset: 0, Expected: "an index of hnswlib, faiss or Milvus",
		Found: fmt.Sprintf("%d bytes of another format (or a damaged header)", len(c.data)),
	}
}

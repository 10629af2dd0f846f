package index

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kitescope/engine/hnsw"
)

// TestWriteRoundTrip reads, writes and compares each file of hnswlib and knowhere.
func TestWriteRoundTrip(t *testing.T) {
	for name, want := range expectations(t) {
		if want.Refused != "" || strings.HasPrefix(name, "knowhere_ivf") {
			continue
		}
		data, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		f, err := Parse(name, data, Hint{})
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		switch f.Format {
		case HNSWLib:
			err = WriteHNSWLib(&b, As[hnsw.Index](f))
		case KnowhereHNSW:
			err = WriteKnowhere(&b, As[hnsw.Index](f))
			binary.LittleEndian.PutUint64(data[56:], 0) // label_offset, which knowhere never sets
		default:
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if at := firstDifference(data, b.Bytes()); at >= 0 {
			t.Errorf("%s: %d bytes became %d, different from %d on", name, len(data), b.Len(), at)
		}
	}
}

// firstDifference returns the offset where two files differ, or -1 if they are equal.
func firstDifference(a, b []byte) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	if len(a) != len(b) {
		return min(len(a), len(b))
	}
	return -1
}

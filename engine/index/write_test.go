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

// Every file is read, written and compared; id maps of the second kind and direct maps are
// written in their simpler form.
func TestWrittenFilesAreThoseThatWereRead(t *testing.T) {
	for name, want := range expectations(t) {
		if want.Refused != "" || strings.Contains(name, "_ivf_") || strings.Contains(name, "idmap_ivf") || strings.Contains(name, "binary") || strings.HasPrefix(name, "faiss_sq8_") || name == "faiss_pq_l2.bin" ||
			strings.HasPrefix(name, "knowhere_faiss") || strings.HasPrefix(name, "knowhere_ivf") {
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
			err = WriteFaiss(&b, f)
			data = bytes.Replace(data, []byte("IxM2"), []byte("IxMp"), 1)
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

// firstDifference is where two files differ, -1 if they do not.
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

// Nothing runs concurrently here, so the race detector would find nothing and take up to ten times as long.

//go:build !race

package meta

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/klauspost/compress/zstd"

	"kitescope/inspect/model"
	"kitescope/inspect/source"
)

func compress(t *testing.T, raw []byte) []byte {
	t.Helper()
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	return encoder.EncodeAll(raw, nil)
}

func TestDecompress(t *testing.T) {
	noise := make([]byte, 6<<20)
	random := rand.New(rand.NewPCG(7, 8))
	for i := range noise {
		noise[i] = byte(random.IntN(8)) // compresses, but not by much
	}
	u, err := newDecompressor()
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name   string
		raw    []byte
		tooBig bool
	}{
		{"empty", nil, false},
		{"small", []byte("abc"), false},
		{"3 MiB of zeros", make([]byte, 3<<20), false},
		{"6 MiB", noise, false},
		{"30 MiB of zeros", make([]byte, 30<<20), true},
		{"20 MiB of zeros in a large value", append(bytes.Clone(noise[:2<<20]), make([]byte, 20<<20)...), false},
		{"200 MiB of zeros in a large value", append(bytes.Clone(noise[:1<<20]), make([]byte, 200<<20)...), true},
	}
	for _, tt := range tests {
		got, err := u.value(compress(t, tt.raw))
		if tt.tooBig != errors.Is(err, errTooLarge) || !tt.tooBig && (err != nil || !bytes.Equal(got, tt.raw)) {
			t.Errorf("%s: %d bytes, %v", tt.name, len(got), err)
		}
	}
}

// TestBombs checks that values that would fill the memory are reported and skipped, and that their neighbours are
// read.
func TestBombs(t *testing.T) {
	huge := make([]byte, maxMessage+2)
	for i := 0; i < len(huge); i += 2 {
		huge[i] = 0x0a // an empty message in field 1, repeated
	}
	kvs := []source.KV{
		{Key: []byte("by-dev/meta/queryCoord-Collection-Target/1"), Value: compress(t, huge[:maxMessage])},
		{Key: []byte("by-dev/meta/field-index/1/2"), Value: huge},
		{Key: []byte("by-dev/meta/datacoord-meta/s/1/2/3"), Value: huge},
		{Key: []byte("by-dev/meta/datacoord-meta/s/1/2/4"), Value: []byte("\x08\x04\x10\x01\x18\x02")},
	}
	c, err := Load(t.Context(), newMemory(kvs), Want{Parts: model.PartAll, Records: true})
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Undecoded) != 3 || c.Segment(4) == nil || c.Segment(3) != nil {
		t.Errorf("undecoded %d, segments %d", len(c.Undecoded), len(c.Segments))
	}
	for i := range c.Keyspace.Len() {
		if r := c.Keyspace.Record(i); (r.Problem == "") != (r.Key == "by-dev/meta/datacoord-meta/s/1/2/4") {
			t.Errorf("%s: %q", r.Key, r.Problem)
		}
	}
}

package binlog

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"

	"kitescope/engine"
	"kitescope/engine/dist"
	"kitescope/engine/parquet"
)

// TestVectorsInPlace reads vectors of which the first page has a dictionary and the others are decompressed to where they stay, with
// and without gaps between the rows.
func TestVectorsInPlace(t *testing.T) {
	for _, dim := range []int{256, 255} { // rows without and with a gap behind them
		r := rand.New(rand.NewPCG(uint64(dim), 1))
		rows := 2 << 20 / (4 * dim)
		v, err := engine.NewVectors(dist.Float32, dim, rows)
		if err != nil {
			t.Fatal(err)
		}
		for i := range rows {
			for j := range dim {
				v.Float32(i)[j] = float32(r.IntN(1000))
			}
		}
		var b bytes.Buffer
		if err := WriteColumn(&b, &Column{Descriptor: Descriptor{Type: FloatVector}, Rows: rows, Vectors: v}); err != nil {
			t.Fatal(err)
		}
		c, err := ReadColumn(t.Context(), fileOf(b.Bytes()), "log")
		if err != nil {
			t.Fatal(err)
		}
		for i := range rows {
			if !bytes.Equal(c.Vectors.Row(i), v.Row(i)) {
				t.Fatalf("%d dimensions: row %d of %d differs", dim, i, rows)
			}
		}
		c.Release()
	}
}

func TestDecompressIntoWhatIsThere(t *testing.T) {
	use, err := newScratch()
	if err != nil {
		t.Fatal(err)
	}
	defer use.close()
	w := use.workers[0]
	content := bytes.Repeat([]byte("rows of vectors "), 1000)
	z, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	for codec, b := range map[int][]byte{parquet.CodecSnappy: snappy.Encode(nil, content), parquet.CodecZstd: z.EncodeAll(content, nil)} {
		around := bytes.Repeat([]byte{7}, len(content)+200)
		dst := around[100 : 100+len(content)]
		if err := w.decompressInto(codec, b, dst); err != nil || !bytes.Equal(dst, content) {
			t.Errorf("codec %d: %v", codec, err)
		}
		for name, to := range map[string][]byte{"more": make([]byte, len(content)+1), "less": around[100 : 99+len(content)]} {
			if err := w.decompressInto(codec, b, to); err == nil {
				t.Errorf("codec %d: %s was promised, and it is no error", codec, name)
			}
		}
		if err := w.decompressInto(codec, b[:len(b)/2], dst); err == nil {
			t.Errorf("codec %d: half a page is no error", codec)
		}
		if !bytes.Equal(around[:100], bytes.Repeat([]byte{7}, 100)) || !bytes.Equal(around[100+len(content):], bytes.Repeat([]byte{7}, 100)) {
			t.Errorf("codec %d: bytes beside the rows were written", codec)
		}
	}
	for _, codec := range []int{parquet.CodecNone, 2, 99} {
		if err := w.decompressInto(codec, content, make([]byte, len(content))); err == nil {
			t.Errorf("codec %d is no error", codec)
		}
	}
}

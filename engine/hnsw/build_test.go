package hnsw_test

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"kitescope/engine"
	"kitescope/engine/dist"
	"kitescope/engine/hnsw"
)

// buildCase is an index that testdata/build.py builds as well.
type buildCase struct {
	kind, metric           string
	dim, rows, m, ef, seed int
}

func (c buildCase) String() string {
	return fmt.Sprintf("%s-%s-%d-%d-%d-%d-%d", c.kind, c.metric, c.dim, c.rows, c.m, c.ef, c.seed)
}

func parseBuildCase(tb testing.TB, s string) buildCase {
	tb.Helper()
	f := strings.Split(s, "-")
	c := buildCase{kind: f[0], metric: f[1]}
	for i, to := range []*int{&c.dim, &c.rows, &c.m, &c.ef, &c.seed} {
		n, err := strconv.Atoi(f[2+i])
		if err != nil {
			tb.Fatal(err)
		}
		*to = n
	}
	return c
}

// vectors returns the same rows as the function rows of testdata/build.py.
func (c buildCase) vectors(tb testing.TB) *engine.Vectors {
	tb.Helper()
	v, err := engine.NewVectors(dist.Float32, c.dim, c.rows)
	if err != nil {
		tb.Fatal(err)
	}
	for i := range c.rows {
		from := i
		if c.kind == "twins" {
			from = i / 7 * 7
		}
		row, zero := v.Float32(i), true
		for j := range row {
			z := uint64(from*c.dim+j+1) * 0x9E3779B97F4A7C15
			z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
			z = (z ^ z>>27) * 0x94D049BB133111EB
			z ^= z >> 31
			if c.kind == "ties" {
				row[j] = float32(z>>40%3) - 1
				zero = zero && row[j] == 0
			} else {
				row[j] = float32(z>>40)/(1<<24) - 0.5
			}
		}
		if c.kind == "ties" && zero {
			row[0] = 1
		}
	}
	return v
}

func (c buildCase) options() hnsw.BuildOptions {
	return hnsw.BuildOptions{
		M: c.m, EFConstruction: c.ef, Metric: metrics[c.metric], Seed: uint64(c.seed), Library: engine.HNSWLib,
	}
}

func (c buildCase) build(tb testing.TB) *hnsw.Index {
	tb.Helper()
	x, err := hnsw.Build(tb.Context(), c.vectors(tb), c.options())
	if err != nil {
		tb.Fatal(err)
	}
	return x
}

// count returns the number of links in slots.
func count(slots []uint32) int {
	for i, s := range slots {
		if s&hnsw.End != 0 {
			return i
		}
	}
	return len(slots)
}

// fileBytes returns the file that hnswlib's saveIndex writes for an index.
func fileBytes(x *hnsw.Index) []byte {
	size := x.Vectors.Size()
	links := 4 + 4*x.M0
	le := binary.LittleEndian
	u64 := func(b []byte, vs ...uint64) []byte {
		for _, v := range vs {
			b = le.AppendUint64(b, v)
		}
		return b
	}
	list := func(b []byte, slots []uint32) []byte {
		b = le.AppendUint32(b, uint32(count(slots)))
		for _, s := range slots {
			b = le.AppendUint32(b, s&^hnsw.End)
		}
		return b
	}
	n := uint64(x.Vectors.Rows)
	b := u64(nil, 0, n, n, uint64(links+size+8), uint64(links+size), uint64(links))
	b = le.AppendUint32(b, uint32(x.MaxLevel))
	b = le.AppendUint32(b, x.Entry)
	b = u64(b, uint64(x.M), uint64(x.M0), uint64(x.M))
	b, _ = binary.Append(b, le, hnsw.LevelMult(x.M))
	b = u64(b, uint64(x.EFConstruction))
	for i := range x.Vectors.Rows {
		b = list(b, x.Base[i*x.M0:(i+1)*x.M0])
		b = append(b, x.Vectors.Row(i)...)
		label := uint64(i)
		if x.Labels != nil {
			label = uint64(x.Labels[i])
		}
		b = u64(b, label)
	}
	for i, l := range x.Levels {
		b = le.AppendUint32(b, uint32(l)*uint32(4+4*x.M))
		for level := range int(l) {
			at := (int(x.UpperAt[i]) + level) * x.M
			b = list(b, x.Upper[at:at+x.M])
		}
	}
	return b
}

//go:embed testdata/build_sums.txt
var buildSums string

// TestBuildGolden compares the checksums of built indexes with the checksums of files from hnswlib 0.8.0.
func TestBuildGolden(t *testing.T) {
	n := 0
	for line := range strings.Lines(buildSums) {
		if n++; testing.Short() && n%4 != 0 {
			continue
		}
		want, name, _ := strings.Cut(strings.TrimSpace(line), " ")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := fileBytes(parseBuildCase(t, name).build(t))
			if whole, err := os.ReadFile(filepath.Join("testdata", "build_"+name+".hnsw")); err == nil {
				sameBytes(t, got, whole)
			}
			if sum := sha256.Sum256(got); hex.EncodeToString(sum[:]) != want {
				t.Errorf("the file differs from hnswlib's: sum %x, want %s", sum, want)
			}
		})
	}
}

// sameBytes reports the first difference as a test error.
func sameBytes(t *testing.T, got, want []byte) {
	t.Helper()
	if bytes.Equal(got, want) {
		return
	}
	if len(got) != len(want) {
		t.Errorf("%d bytes, want %d", len(got), len(want))
	}
	differ, first := 0, -1
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			differ++
			if first < 0 {
				first = i
			}
		}
	}
	t.Errorf("%d bytes differ, the first at offset %d: %#x, want %#x", differ, first, got[first], want[first])
}

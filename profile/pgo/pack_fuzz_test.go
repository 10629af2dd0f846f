package pgo

import (
	"bytes"
	"compress/gzip"
	"io"
	"math/rand/v2"
	"os"
	"testing"

	"kitescope/profile"
)

// FuzzPack checks that the compiler reads the same calls from a pack as from the original file, and that nothing
// panics on any input.
func FuzzPack(f *testing.F) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 3 {
		f.Add(unzipped(f, oddProfile(f, random)))
	}
	text, err := os.ReadFile(fixtures + "t3/indexnode.cpu.pb.gz")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(unzipped(f, text))
	f.Fuzz(func(t *testing.T, text []byte) {
		p, err := profile.Decode(t.Context(), bytes.NewReader(text), profile.Limits{
			MaxBytes: 1 << 20, MaxMemory: 1 << 26,
		})
		if err != nil {
			return
		}
		pack, err := NewPack(t.Context(), []Input{{Name: "fuzz", Profile: p}}, PackOptions{})
		if err != nil {
			return
		}
		edges, err := EdgesOf(p)
		if err != nil {
			t.Fatalf("it was packed, and Go refuses it: %v", err)
		}
		if want, got := serialized(edges), serialized(pack.Edges); want != got {
			t.Errorf("the compiler sees another profile:\n%s\n%s", want, got)
		}
		again, err := profile.Decode(t.Context(), bytes.NewReader(pack.Bytes), profile.Limits{})
		if err != nil || again.Len() != pack.Profile.Len() {
			t.Errorf("the pack cannot be read: %v", err)
		}
	})
}

func unzipped(t testing.TB, text []byte) []byte {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return plain
}

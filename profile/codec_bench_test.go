package profile_test

import (
	"bytes"
	"context"
	"io"
	"testing"

	"kitescope/profile"
)

// benchInputs are a profile of a real process, and one that is large.
func benchInputs(b *testing.B) map[string][]byte {
	b.Helper()
	return map[string][]byte{
		"milvus":        fixtures(b)["milvus-cpu-flat.pb.gz"],
		"20000 samples": written(b, generate(1, 20_000)),
	}
}

func BenchmarkDecode(b *testing.B) {
	for name, data := range benchInputs(b) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := profile.Decode(context.Background(), bytes.NewReader(data), profile.Limits{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkEncode(b *testing.B) {
	for name, data := range benchInputs(b) {
		b.Run(name, func(b *testing.B) {
			p := mustDecode(b, data)
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				if err := p.Encode(io.Discard); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkMerge(b *testing.B) {
	for name, data := range benchInputs(b) {
		b.Run(name, func(b *testing.B) {
			p := mustDecode(b, data)
			ps := []*profile.Profile{p, p, p, p}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := profile.Merge(ps, profile.MergeOptions{Nodes: true}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

package profile_test

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"testing"

	pprof "github.com/google/pprof/profile"

	"kitescope/profile"
)

// seed adds small profiles in every encoding.
func seed(f *testing.F) {
	f.Helper()
	for _, name := range []string{"milvus-mutex.pb.gz", "milvus-threadcreate.pb.gz"} {
		f.Add(fixtures(f)[name])
		plain, err := gunzip(fixtures(f)[name])
		if err != nil {
			f.Fatal(err)
		}
		f.Add(plain)
	}
	for i := range uint64(3) {
		var b bytes.Buffer
		if err := generate(i, 3).WriteUncompressed(&b); err != nil {
			f.Fatal(err)
		}
		f.Add(b.Bytes())
	}
	for _, data := range oddForms() {
		if len(data) < 1<<12 {
			f.Add(data)
		}
	}
	f.Add([]byte("heap profile: 1: 2 [3: 4] @ heap/1048576\n"))
}

var fuzzLimits = profile.Limits{MaxBytes: 16 << 20, MaxMemory: 64 << 20, MaxSamples: 100_000}

// FuzzDecode checks that no input crashes the decoder and that every decoded profile is consistent.
func FuzzDecode(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := profile.Decode(context.Background(), bytes.NewReader(data), fuzzLimits)
		if err != nil {
			if hintOf(err) == "" {
				t.Errorf("no hint with %v", err)
			}
			return
		}
		for i := range p.Len() {
			for _, l := range p.Stack(i) {
				_ = p.MappingOf(l)
				for _, line := range p.LinesOf(l) {
					_ = p.Functions[line.Function]
				}
			}
			_ = p.Labels(i)
			_ = p.Values[i*len(p.Types):][:len(p.Types)]
		}
	})
}

// FuzzDecodeMatchesGoogle checks that Decode accepts exactly the inputs that google's reader accepts.
func FuzzDecodeMatchesGoogle(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		if bytes.HasPrefix(data, []byte{0x1f, 0x8b}) {
			var err error
			if data, err = gunzip(data); err != nil || len(data) > 1<<20 {
				return
			}
		}
		theirs, err := pprof.ParseUncompressed(data)
		if err == nil {
			err = theirs.CheckValid()
		}
		ours, ourErr := profile.Decode(context.Background(), bytes.NewReader(data), fuzzLimits)
		switch {
		case errors.Is(ourErr, profile.ErrTooLarge) || bytes.HasPrefix(data, []byte{0x1f, 0x8b}):
		case (err == nil) != (ourErr == nil):
			t.Errorf("google's reader: %v; ours: %v", err, ourErr)
		case err == nil:
			if diff := difference(meaningOfGoogle(theirs), meaningOf(ours)); diff != "" {
				t.Errorf("google's reader (-) and ours (+) differ:\n%s", diff)
			}
		}
	})
}

// FuzzEncode checks that encoding a decoded profile preserves its meaning.
func FuzzEncode(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := profile.Decode(context.Background(), bytes.NewReader(data), fuzzLimits)
		if err != nil {
			return
		}
		again := encode(t, p)
		if diff := difference(meaningOf(p), meaningOf(mustDecode(t, again))); diff != "" {
			t.Errorf("decoded again:\n%s", diff)
		}
		if _, err := parseGoogle(again); err != nil {
			t.Errorf("google's reader: %v", err)
		}
	})
}

// FuzzMerge checks that merging any two compatible profiles adds up their totals and yields a consistent
// profile.
func FuzzMerge(f *testing.F) {
	for i := range uint64(4) {
		var a, b bytes.Buffer
		p := generate(i, 5)
		if err := errors.Join(p.WriteUncompressed(&a), generate(i, 5+int(i%2)).WriteUncompressed(&b)); err != nil {
			f.Fatal(err)
		}
		f.Add(a.Bytes(), b.Bytes())
	}
	f.Fuzz(func(t *testing.T, a, b []byte) {
		p, err := profile.Decode(context.Background(), bytes.NewReader(a), fuzzLimits)
		if err != nil {
			return
		}
		q, err := profile.Decode(context.Background(), bytes.NewReader(b), fuzzLimits)
		if err != nil {
			return
		}
		merged, err := profile.Merge([]*profile.Profile{p, q}, profile.MergeOptions{Nodes: true})
		if err != nil {
			return
		}
		if diff := difference(meaningOf(merged), meaningOf(mustDecode(t, encode(t, merged)))); diff != "" {
			t.Errorf("the result is not whole:\n%s", diff)
		}
		if p.PeriodType != q.PeriodType || !slices.Equal(p.Types, q.Types) {
			return
		}
		for kind := range merged.Types {
			if want, got := sum(p, kind)+sum(q, kind), sum(merged, kind); want != got {
				t.Errorf("type %d: the sum of all is %d, want %d", kind, got, want)
			}
		}
	})
}

// sum returns the sum of all values of a type. It may overflow.
func sum(p *profile.Profile, kind int) (s int64) {
	for i := range p.Len() {
		s += p.Value(i, kind)
	}
	return s
}

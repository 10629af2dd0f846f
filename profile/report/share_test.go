package report

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kitescope/profile"
)

// stacks builds a profile of samples at 100 Hz: "leaf;caller 3" are three of them.
func stacks(t *testing.T, list ...string) *profile.Profile {
	t.Helper()
	b := profile.NewBuilder(profile.ValueType{Type: "samples", Unit: "count"}, profile.ValueType{Type: "cpu", Unit: "nanoseconds"})
	for _, s := range list {
		at := strings.LastIndexByte(s, ' ')
		var n int64
		if _, err := fmt.Sscan(s[at+1:], &n); err != nil {
			t.Fatal(err)
		}
		var stack []uint32
		for name := range strings.SplitSeq(s[:at], ";") {
			stack = append(stack, frame(b, name))
		}
		if err := b.Sample(stack, []int64{n, n * 10_000_000}); err != nil {
			t.Fatal(err)
		}
	}
	b.Meta().PeriodType, b.Meta().Period = profile.ValueType{Type: "cpu", Unit: "nanoseconds"}, 10_000_000
	return b.Profile()
}

// frame is a frame of a name, of a library if it says so: "libknowhere.so!faiss::knn_L2sqr", "libgomp.so.1!".
func frame(b *profile.Builder, name string) uint32 {
	lib, name, in := strings.Cut(name, "!")
	if !in {
		return b.Frame(lib, profile.NoMapping)
	}
	m := b.Mapping(profile.Mapping{Start: 1 << 30, Limit: 2 << 30, File: "/opt/milvus/lib/" + lib})
	if name == "" {
		return b.Location(m, 1<<30+64)
	}
	return b.Frame(name, m)
}

func TestNewShare(t *testing.T) {
	p := stacks(t,
		"org.SearchHits.toXContent;main 40", "java.write;org.SearchHits.toXContent;org.SearchHits.toXContent;main 21",
		"org.Other.run;main 4000", "main 727")
	s, err := NewShare(p, regexp.MustCompile(`SearchHits\.toXContent`), Options{})
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprintf("%.2f%%, %d samples of %d, %.2f to %.2f%%; leaf %d: %.2f, %.2f to %.2f; %v",
		100*s.Part, s.Matched, s.Samples, 100*s.Low, 100*s.High, s.LeafMatched, 100*s.LeafPart, 100*s.LeafLow, 100*s.LeafHigh, s.Functions)
	want := "1.27%, 61 samples of 4788, 0.98 to 1.63%; leaf 40: 0.84, 0.60 to 1.14; [org.SearchHits.toXContent]"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if s.Value != 610_000_000 || s.Total != 47_880_000_000 {
		t.Errorf("value %d of %d", s.Value, s.Total)
	}
	none, err := NewShare(p, regexp.MustCompile("nowhere"), Options{SampleIndex: "samples"})
	if err != nil || none.Matched != 0 || none.Low != 0 || none.High < 0.0005 || none.Functions == nil || len(none.Functions) > 0 {
		t.Errorf("nothing matches: %+v, %v", none, err)
	}
}

func TestNewShareFiltered(t *testing.T) {
	p := stacks(t, "a;x;main 10", "b;x;main 30", "a;y;main 60")
	o := Options{Filter: profile.Filter{Focus: regexp.MustCompile("^x$")}}
	for _, v := range []struct {
		relative bool
		want     string
	}{{false, "10 of 100"}, {true, "10 of 40"}} {
		o.Relative = v.relative
		s, err := NewShare(p, regexp.MustCompile("^a$"), o)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprintf("%d of %d", s.Matched, s.Samples); got != v.want || math.Abs(s.Part-float64(s.Matched)/float64(s.Samples)) > 1e-9 {
			t.Errorf("relative %v: %s, want %s", v.relative, got, v.want)
		}
	}
}

// TestNewShareUnknown: of a profile whose events are unknown a share has no bounds.
func TestNewShareUnknown(t *testing.T) {
	s, err := NewShare(load(t, "milvus-heap.pb.gz"), regexp.MustCompile("milvus"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !(s.Part > 0 && s.Part <= 1) || s.Matched != -1 || !math.IsNaN(s.Low) || !math.IsNaN(s.High) {
		t.Errorf("part %v, matched %d, %v to %v", s.Part, s.Matched, s.Low, s.High)
	}
	empty, err := NewShare(load(t, "milvus-mutex.pb.gz"), regexp.MustCompile("."), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !math.IsNaN(empty.Part) || empty.Value != 0 {
		t.Errorf("a profile without samples: %v", empty.Part)
	}
}

func TestNewShareOfSamples(t *testing.T) {
	p := stacks(t, "a;main 10")
	var mismatch *Mismatch
	if _, err := NewShare(p, regexp.MustCompile("a"), Options{By: profile.ByNode}); !errors.As(err, &mismatch) || mismatch.Hint() == "" {
		t.Errorf("by node: %v", err)
	}
	if _, err := NewShare(p, regexp.MustCompile("a"), Options{SampleIndex: "space"}); err == nil {
		t.Error("an unknown type is no error")
	}
}

// TestNewShareOfMilvus: shares of a real profile, with the flat and cum of `go tool pprof -top`, and exact bounds.
func TestNewShareOfMilvus(t *testing.T) {
	p := load(t, "milvus-cpu-flat.pb.gz")
	got := make(map[string]string)
	for _, pattern := range []string{`^\[libknowhere.so\]$`, `^\[libgomp.so.1\]$`, `^runtime.mallocgc$`, `_Cfunc_Search$`} {
		s, err := NewShare(p, regexp.MustCompile(pattern), Options{})
		if err != nil {
			t.Fatal(err)
		}
		got[pattern] = fmt.Sprintf("%d %d of %d, %.2f to %.2f", s.LeafMatched, s.Matched, s.Samples, 100*s.Low, 100*s.High)
	}
	want := map[string]string{
		`^\[libknowhere.so\]$`: "319 543 of 954, 53.71 to 60.09",
		`^\[libgomp.so.1\]$`:   "35 310 of 954, 29.53 to 35.57",
		`^runtime.mallocgc$`:   "6 70 of 954, 5.76 to 9.18",
		`_Cfunc_Search$`:       "0 182 of 954, 16.63 to 21.72",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

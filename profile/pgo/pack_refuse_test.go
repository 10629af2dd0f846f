package pgo

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"kitescope/internal/hints"
	"kitescope/profile"
)

// sampledAt returns a profile with Go's sample types, sampled with the given period in nanoseconds.
func sampledAt(period, samples int64) *profile.Profile {
	b := profile.NewBuilder(counted, cpuTime)
	f := profile.Line{Function: b.Function(profile.Function{Name: "main.f", StartLine: 10}), Line: 12}
	g := profile.Line{Function: b.Function(profile.Function{Name: "main.g", StartLine: 20}), Line: 23}
	stack := []uint32{b.Location(profile.NoMapping, 1, g), b.Location(profile.NoMapping, 2, f)}
	if err := b.Sample(stack, []int64{samples, samples * period}); err != nil {
		panic(err)
	}
	b.Meta().PeriodType, b.Meta().Period = cpuTime, period
	b.Meta().Duration = 1500 * time.Millisecond
	return b.Profile()
}

var counted = profile.ValueType{Type: "samples", Unit: "count"}

func TestPackWeights(t *testing.T) {
	for _, test := range []struct {
		name   string
		inputs []*profile.Profile
		kind   profile.ValueType
		want   int64
	}{
		{"two of one rate", []*profile.Profile{sampledAt(1e7, 30), sampledAt(1e7, 7)}, counted, 37},
		{"two of different rates", []*profile.Profile{sampledAt(1e7, 30), sampledAt(1e6, 7)}, cpuTime, 30e7 + 7e6},
		{"an empty one counts nothing", []*profile.Profile{sampledAt(1e7, 30), {}}, counted, 30},
	} {
		var inputs []Input
		for _, p := range test.inputs {
			inputs = append(inputs, Input{Name: "x", Profile: p})
		}
		pack, err := NewPack(t.Context(), inputs, PackOptions{})
		if err != nil {
			t.Fatalf("%s: %v", test.name, err)
		}
		if got := pack.Profile.Value(0, 0); got != test.want || pack.Profile.Types[0] != test.kind {
			t.Errorf("%s: %d %s, not %d %s", test.name, got, pack.Profile.Types[0], test.want, test.kind)
		}
	}
}

func TestPackRefuses(t *testing.T) {
	heap := profile.NewBuilder(profile.ValueType{Type: "inuse_space", Unit: "bytes"})
	_ = heap.Sample([]uint32{heap.Frame("main.f", profile.NoMapping)}, []int64{1})
	negative, large := sampledAt(1, 5), sampledAt(1e7, 5)
	negative.Values[0], large.Values[0] = -5, math.MaxInt64
	nameless := profile.NewBuilder(counted)
	_ = nameless.Sample([]uint32{
		nameless.Frame("main.f", profile.NoMapping), nameless.Frame("main.g", profile.NoMapping),
	}, []int64{3})
	counts := sampledAt(1e6, 5)
	counts.Types, counts.Values = counts.Types[:1], counts.Values[:1]
	ok := Input{Name: "ok", Profile: sampledAt(1e7, 9)}
	for _, test := range []struct {
		name   string
		inputs []Input
		o      PackOptions
		want   string
	}{
		{"nothing", nil, PackOptions{}, "no profiles"},
		{"a heap profile", []Input{ok, {Name: "heap", Profile: heap.Profile()}}, PackOptions{}, "pack heap: "},
		{"no start lines", []Input{{Name: "old", Profile: nameless.Profile()}}, PackOptions{}, "pack old: "},
		{"a difference", []Input{{Name: "diff", Profile: negative}}, PackOptions{}, "are negative"},
		{"too large", []Input{{Name: "large", Profile: large}, ok}, PackOptions{}, "more than a build can count"},
		{
			"only empty ones",
			[]Input{{Name: "e", Profile: &profile.Profile{}}},
			PackOptions{},
			"these profiles have no calls",
		},
		{
			"one that cannot be read",
			[]Input{ok, {Name: "bad", Err: errors.New("it is cut")}},
			PackOptions{},
			"pack bad: it is cut",
		},
		{
			"counts at different rates",
			[]Input{ok, {Name: "counts", Profile: counts}},
			PackOptions{},
			"cannot be added up",
		},
		{
			"a function that is not there",
			[]Input{ok},
			PackOptions{Block: []string{"main.h"}},
			"block main.h: no such function",
		},
	} {
		if _, err := NewPack(t.Context(), test.inputs, test.o); err == nil ||
			!strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}

func TestBlockSuggestsNames(t *testing.T) {
	_, err := Blocked(sampledAt(1, 1), "example.com/x/main.g")
	hint, ok := errors.AsType[*hints.Error](err)
	if !ok || hint.Hint() != "similar names: main.g" {
		t.Errorf("%v", err)
	}
	p, err := Blocked(sampledAt(1, 1), "main.g", "main.g")
	if err != nil || p.Functions[0].Name != "main.f" || p.Functions[1].Name != "DO NOT INLINE: main.g" {
		t.Errorf("%v %+v", err, p.Functions)
	}
}

func TestManifest(t *testing.T) {
	in := []Input{
		{
			Name: "a", Node: "querynode-2", Profile: sampledAt(1e7, 130), GoVersion: "go1.26.8", BuildID: "b2",
			SHA256: "aa",
		},
		{Name: "b", Node: "querynode-1", Profile: sampledAt(1e7, 20), GoVersion: "go1.26.8", BuildID: "b1"},
	}
	j := &Judgement{Verdict: LittleToGain, Reason: "native", Events: 150, Cautions: []Refusal{{ID: "few"}}}
	pack, err := NewPack(t.Context(), in, PackOptions{Judgement: j, Kitescope: "v1", Block: []string{"main.g"}})
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if _, err := pack.Manifest.WriteTo(&text); err != nil {
		t.Fatal(err)
	}
	got, err := ReadManifest(&text)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(pack.Manifest, got, cmpopts.EquateEmpty()); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"querynode-1", "querynode-2"}, got.Nodes); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"b1", "b2"}, got.BuildIDs); d != "" {
		t.Error(d)
	}
	if *got.Sources[1].Samples != 20 || *got.Sources[1].CPUSeconds != 0.2 || got.Sources[1].Seconds != 1.5 ||
		got.Sources[0].Weight != 130 {
		t.Errorf("%+v", got.Sources)
	}
	if got.Judgement.Verdict != "little to gain" || *got.Judgement.Samples != 150 {
		t.Errorf("%+v", got.Judgement)
	}
}

func TestHashOfName(t *testing.T) {
	for name, want := range map[string]string{
		"": "", "default.pgo": "", "/x/default-0123456789abcdef.pgo": "0123456789abcdef",
		`C:\x\default-0123456789abcdef.pgo`: "0123456789abcdef",
		"default-0123456789abcdef.pb":       "", "default-service.pgo": "", "default-abc.pgo": "",
		"0123456789abcdef.pgo": "", "default-0123456789ABCDEF.pgo": "",
		// Dates and git revisions are not hashes of the profile.
		"default-20261120123456.pgo": "", "default-" + strings.Repeat("ab", 20) + ".pgo": "",
		"service-0123456789abcdef.pgo": "",
	} {
		if got := HashOfName(name); got != want {
			t.Errorf("%s: %q, not %q", name, got, want)
		}
	}
}

func FuzzReadManifest(f *testing.F) {
	f.Add([]byte(`{"format":"kitescope-pgo","version":1,"sources":[{"name":"a","samples":3}]}`))
	f.Add([]byte(`{"format":"kitescope-pgo","version":2}`))
	f.Add([]byte(`{"format":"other"}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := ReadManifest(bytes.NewReader(text))
		if err != nil {
			return
		}
		if m.Format != ManifestFormat || m.Version > ManifestVersion {
			t.Errorf("it was taken: %+v", m)
		}
		Verify("x", &Build{}, &GivenProfile{Profile: &profile.Profile{}, Manifest: m})
	})
}

package pgo

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"testing"

	"kitescope/profile"
)

// told is a profile of a program in which main.f calls main.g, inlined or not, so many times.
func told(inlined bool, samples int64) *profile.Profile {
	b := profile.NewBuilder(profile.ValueType{Type: "samples", Unit: "count"})
	f := profile.Line{Function: b.Function(profile.Function{Name: "main.f", StartLine: 10}), Line: 12}
	g := profile.Line{Function: b.Function(profile.Function{Name: "main.g", StartLine: 20}), Line: 23}
	stack := []uint32{b.Location(profile.NoMapping, 1, g), b.Location(profile.NoMapping, 2, f)}
	if inlined {
		stack = []uint32{b.Location(profile.NoMapping, 3, g, f)}
	}
	if err := b.Sample(stack, []int64{samples}); err != nil {
		panic(err)
	}
	return b.Profile()
}

// row is a profile of a program in which main.f makes so many calls, of a function each.
func row(calls int) *profile.Profile {
	b := profile.NewBuilder(profile.ValueType{Type: "samples", Unit: "count"})
	f := b.Function(profile.Function{Name: "main.f", StartLine: 10})
	for i := range int64(calls) {
		g := b.Function(profile.Function{Name: "main.g" + strconv.FormatInt(i, 10), StartLine: 100 + 10*i})
		stack := []uint32{
			b.Location(profile.NoMapping, uint64(2*i+1), profile.Line{Function: g, Line: 101 + 10*i}),
			b.Location(profile.NoMapping, uint64(2*i+2), profile.Line{Function: f, Line: 12 + i}),
		}
		if err := b.Sample(stack, []int64{100}); err != nil {
			panic(err)
		}
	}
	return b.Profile()
}

const hashOfGiven = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

func TestVerify(t *testing.T) {
	given := func(p *profile.Profile) *GivenProfile {
		return &GivenProfile{Name: "dir/default.pgo", SHA256: hashOfGiven, Profile: p}
	}
	built := func(pgo, hash string) *Build {
		return &Build{Main: "main", GoVersion: "go1.26.8", PGO: pgo, Hash: hash, Recorded: true}
	}
	both, err := profile.Merge([]*profile.Profile{told(false, 60), told(true, 40)}, profile.MergeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	call := Edge{Caller: "main.f", Callee: "main.g", Offset: 2}
	for _, test := range []struct {
		name    string
		subject Subject
		effect  Effect
		match   Match
		reason  string
	}{
		{"a build without a profile", Subject{Build: built("", ""), Given: given(told(false, 100))}, NoSign, MatchUnknown, "built without a profile"},
		{"a build of another build system", Subject{Build: &Build{}, Given: given(told(false, 100)), Inlined: map[Edge]bool{call: true}}, TookEffect, MatchUnknown, "1 of 1 call"},
		{"a hash in the name", Subject{Build: built("/x/default-0123456789abcdef.pgo", "0123456789abcdef"), Given: given(told(false, 100)), Inlined: map[Edge]bool{call: true}}, TookEffect, MatchHash, "1 of 1 call"},
		{"another hash", Subject{Build: built("/x/default-fedcba9876543210.pgo", "fedcba9876543210"), Given: given(told(false, 100)), Inlined: map[Edge]bool{call: true}}, NoSign, MatchNone, "built with another profile"},
		{"the same name and no sign", Subject{Build: built("/x/default.pgo", ""), Given: given(row(4)), Inlined: map[Edge]bool{}}, NoSign, MatchName, "0 of 4 calls"},
		{"too few to tell", Subject{Build: built("/x/default.pgo", ""), Given: given(row(3)), Inlined: map[Edge]bool{}}, CannotTell, MatchName, "too few to mean much"},
		{"another program", Subject{Build: built("/x/default.pgo", ""), Given: given(row(4)), Inlined: map[Edge]bool{}, Starts: map[string]int{"main.main": 3}}, CannotTell, MatchName, "4 of 4 calls that were hot and made before are of functions that the program does not have"},
		{"other sources, in which a function is smaller", Subject{
			Build: &Build{}, Given: given(told(false, 100)), Inlined: map[Edge]bool{call: true}, Starts: map[string]int{"main.f": 10, "main.g": 21},
		}, CannotTell, MatchUnknown, "other sources or another Go: 1 of 2 functions begin on other lines"},
		{"a function that is inlined in cold calls as well", Subject{
			Build: &Build{}, Given: given(told(false, 100)), Inlined: map[Edge]bool{call: true, {Caller: "main.h", Callee: "main.g"}: true},
		}, CannotTell, MatchUnknown, "only PGO would inline"},
		{"another name", Subject{Build: built("/x/cpu.pgo", ""), Given: given(told(false, 100)), Inlined: map[Edge]bool{call: true}}, TookEffect, MatchUnknown, "1 of 1 call"},
		{"an empty profile", Subject{Build: built("/x/default.pgo", ""), Given: given(&profile.Profile{}), Inlined: map[Edge]bool{call: true}}, NoSign, MatchName, "recorded, but it is empty: no effect"},
		{"no profile", Subject{Build: built("/x/default.pgo", ""), Inlined: map[Edge]bool{call: true}}, CannotTell, MatchUnknown, "without the profile"},
		{"a profile that cannot be read", Subject{Build: built("/x/default.pgo", ""), Given: &GivenProfile{Name: "default.pgo", Err: errors.New("it is cut")}}, CannotTell, MatchName, "cannot be read: it is cut"},
		{"a binary that does not tell", Subject{Build: built("/x/default.pgo", ""), Given: given(told(false, 100)), InlinedErr: errors.New("no table")}, CannotTell, MatchName, "no table"},
		{"nothing hot was made", Subject{Build: built("/x/default.pgo", ""), Given: given(told(true, 100)), Inlined: map[Edge]bool{call: true}}, CannotTell, MatchName, "no hot call that only PGO would inline"},
		{"a call that was made here and inlined there", Subject{Build: built("/x/default.pgo", ""), Given: given(both), Inlined: map[Edge]bool{call: true}}, CannotTell, MatchName, "no hot call"},
		{"nothing hot was made, but a control makes it", Subject{
			Build: built("/x/default.pgo", ""), Given: given(told(true, 100)), Inlined: map[Edge]bool{call: true},
			Controls: []*Sight{SightOfProfile(told(false, 10))},
		}, TookEffect, MatchName, "1 of 1 call"},
		{"the control inlines it, too", Subject{
			Build: built("/x/default.pgo", ""), Given: given(told(false, 100)), Inlined: map[Edge]bool{call: true},
			Controls: []*Sight{SightOfBinary(map[Edge]bool{call: true}, nil)},
		}, CannotTell, MatchName, "no hot call"},
		{"a running service", Subject{Running: told(true, 50), Given: given(told(false, 100))}, TookEffect, MatchUnknown, "1 of 1 call"},
		{"a running service without", Subject{Running: row(4), Given: given(row(4))}, NoSign, MatchUnknown, "0 of 4 calls"},
		{"a running service that does something else", Subject{Running: &profile.Profile{}, Given: given(told(false, 100))}, CannotTell, MatchUnknown, "is in the new profile"},
		{"a running service alone", Subject{Running: told(true, 50)}, CannotTell, MatchUnknown, "without the profile it was built with"},
	} {
		t.Run(test.name, func(t *testing.T) {
			v := Verify(&test.subject)
			if v.Effect != test.effect || v.Match != test.match || !strings.Contains(v.Reason, test.reason) {
				t.Errorf("%s (%s): %s", v.Effect, v.Match, v.Reason)
			}
		})
	}
}

func TestVerifySaysWhatManifestDescribes(t *testing.T) {
	g := &GivenProfile{Name: "default.pgo", SHA256: hashOfGiven, Profile: told(false, 9), Manifest: &Manifest{SHA256: hashOfGiven}}
	if v := Verify(&Subject{Given: g}); v.Manifest != "matches" || len(v.Notes) > 0 {
		t.Errorf("%s %q", v.Manifest, v.Notes)
	}
	g.Manifest = &Manifest{SHA256: "00"}
	if v := Verify(&Subject{Given: g}); v.Manifest != "is of another file" || len(v.Notes) != 1 {
		t.Errorf("%s %q", v.Manifest, v.Notes)
	}
}

// TestAtLeast compares with the exact sums for small urns.
func TestAtLeast(t *testing.T) {
	for _, test := range []struct {
		k, n, of, all int
		want          float64
	}{
		{0, 5, 0, 100, 1},
		{1, 1, 0, 99, 0.01},
		{5, 29, 0, 30, 118755.0 / 5006386}, // C(29,5) of C(59,5)
		{2, 4, 1, 4, 0.5},                  // 3 of 8 are inlined: (C(3,2)C(5,2)+C(3,3)C(5,1))/C(8,4)
		{4, 4, 0, 0, 1},
	} {
		if got := atLeast(test.k, test.n, test.of, test.all); math.Abs(got-test.want) > 1e-9 {
			t.Errorf("%d of %d against %d of %d: %g, not %g", test.k, test.n, test.of, test.all, got, test.want)
		}
	}
}

// TestBeyondBudgetNeedsFiveCalls: five lines with calls are above the budget of every function, four are not; closures
// have a larger one, and calls that the compiler makes cost nothing.
func TestBeyondBudgetNeedsFiveCalls(t *testing.T) {
	for _, test := range []struct {
		name, function, callee string
		calls                  int64
		want                   bool
	}{
		{"five calls", "main.large", "main.leaf", 5, true},
		{"four calls", "main.large", "main.leaf", 4, false},
		{"a method", "main.(*T).large", "main.leaf", 5, true},
		{"a closure", "main.large.func1", "main.leaf", 9, false},
		{"the body of a range", "main.large-range1", "main.leaf", 9, false},
		{"calls of the runtime", "main.large", "runtime.growslice", 9, false},
		{"calls of itself", "main.large", "main.large", 9, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := profile.NewBuilder(profile.ValueType{Type: "samples", Unit: "count"})
			outer := profile.Line{Function: b.Function(profile.Function{Name: "main.loop", StartLine: 90}), Line: 92}
			large := b.Function(profile.Function{Name: test.function, StartLine: 10})
			leaf := b.Location(profile.NoMapping, 1, profile.Line{Function: b.Function(profile.Function{Name: test.callee, StartLine: 50}), Line: 51})
			for i := range test.calls {
				if err := b.Sample([]uint32{leaf, b.Location(profile.NoMapping, 2, profile.Line{Function: large, Line: 11 + i}, outer)}, []int64{1}); err != nil {
					t.Fatal(err)
				}
			}
			if got := BeyondBudgetOf(b.Profile()); (len(got) == 1) != test.want {
				t.Errorf("%+v", got)
			}
		})
	}
}

// TestNothingIsBeyondBudgetWithoutPGO: Milvus 2.3 was built without.
func TestNothingIsBeyondBudgetWithoutPGO(t *testing.T) {
	for name, files := range packCombos(t) {
		for _, in := range inputsOf(t, files) {
			if got := BeyondBudgetOf(in.Profile); len(got) > 0 {
				t.Errorf("%s: %+v", name, got)
			}
		}
	}
}

// TestWitnessOfUnlikeProfiles: calls that PGO leaves alone are inlined as often as hot ones.
func TestWitnessOfUnlikeProfiles(t *testing.T) {
	many := func(inlined func(i int) bool) *profile.Profile {
		b := profile.NewBuilder(profile.ValueType{Type: "samples", Unit: "count"})
		for i := range 60 {
			f := profile.Line{Function: b.Function(profile.Function{Name: "main.f" + string(rune('A'+i)), StartLine: 10}), Line: 12}
			g := profile.Line{Function: b.Function(profile.Function{Name: "main.g" + string(rune('A'+i)), StartLine: 20}), Line: 23}
			stack := []uint32{b.Location(profile.NoMapping, 1, g), b.Location(profile.NoMapping, 2, f)}
			if inlined(i) {
				stack = []uint32{b.Location(profile.NoMapping, 3, g, f)}
			}
			weight := int64(1)
			if i < 30 {
				weight = 1000
			}
			if err := b.Sample(stack, []int64{weight}); err != nil {
				t.Fatal(err)
			}
		}
		return b.Profile()
	}
	old := many(func(int) bool { return false })
	for _, test := range []struct {
		name    string
		inlined func(i int) bool
		want    Effect
	}{
		{"hot ones only", func(i int) bool { return i < 30 && i%5 == 0 }, TookEffect},
		{"all alike", func(i int) bool { return i%5 == 0 }, CannotTell},
		{"cold ones only", func(i int) bool { return i >= 30 && i%5 == 0 }, NoSign},
		{"all of them", func(int) bool { return true }, CannotTell},
		{"none", func(int) bool { return false }, NoSign},
	} {
		w, err := NewWitness(old, many(test.inlined))
		if err != nil {
			t.Fatal(err)
		}
		if w.Effect != test.want || len(w.Calls) != 30 || w.Control.Of < 20 {
			t.Errorf("%s: %s: %s %d %+v", test.name, w.Effect, w.Reason, len(w.Calls), w.Control)
		}
	}
}

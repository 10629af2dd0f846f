package flame_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kitescope/profile"
	"kitescope/profile/flame"
)

func TestSandwich(t *testing.T) {
	p := stacks(t, "main;f;x;leaf 1", "main;g;x;x;y 2", "main;h 4", "x 8")
	callers, callees, err := flame.Sandwich(p, regexp.MustCompile("^x$"), flame.Options{})
	if err != nil {
		t.Fatal(err)
	}
	wellFormed(t, callers)
	wellFormed(t, callees)
	want := `root 11 0
 x 11 8
  f 1 0
   main 1 1
  g 2 0
   main 2 2
`
	if diff := cmp.Diff(want, show(callers)); diff != "" {
		t.Errorf("callers (-want +got):\n%s", diff)
	}
	want = `root 11 0
 x 11 8
  leaf 1 1
  x 2 0
   y 2 2
`
	if diff := cmp.Diff(want, show(callees)); diff != "" {
		t.Errorf("callees (-want +got):\n%s", diff)
	}
	if callees.Whole != 15 {
		t.Errorf("the whole is %d, not 15", callees.Whole)
	}
}

// TestInlinedFrames checks that a location with several lines yields several frames, innermost first.
func TestInlinedFrames(t *testing.T) {
	b := profile.NewBuilder(profile.ValueType{Type: "samples", Unit: "count"})
	line := func(name string) profile.Line {
		return profile.Line{Function: b.Function(profile.Function{Name: name, SystemName: name})}
	}
	inner := b.Location(profile.NoMapping, 1, line("in2"), line("in1"), line("out"))
	outer := b.Location(profile.NoMapping, 2, line("main"))
	if err := b.Sample([]uint32{inner, outer}, []int64{7}); err != nil {
		t.Fatal(err)
	}
	p := b.Profile()
	for _, test := range []struct {
		o    flame.Options
		want string
	}{
		{flame.Options{}, "main;out;in1;in2"},
		{flame.Options{Inverted: true}, "in2;in1;out;main"},
	} {
		tree, err := flame.New(p, test.o)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(tree.Path(int32(len(tree.Frames)-1)), ";"); got != test.want {
			t.Errorf("%+v: %s, not %s", test.o, got, test.want)
		}
	}
	callers, callees, err := flame.Sandwich(p, regexp.MustCompile("in1"), flame.Options{})
	if err != nil {
		t.Fatal(err)
	}
	up, down := strings.Join(callers.Path(int32(len(callers.Frames)-1)), ";"),
		strings.Join(callees.Path(int32(len(callees.Frames)-1)), ";")
	if up != "in1;out;main" || down != "in1;in2" {
		t.Errorf("callers %s, callees %s", up, down)
	}
}

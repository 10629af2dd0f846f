package flame_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kitescope/profile/flame"
)

func TestStacks(t *testing.T) {
	base, p := stacks(t, "a;b 1", "a 2", "z 3"), stacks(t, "a;b 10", "a;b;c 20", "b 30")
	s, err := flame.NewStacks(base, p, flame.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	err = s.Each(func(frames []uint32, value, base int64) error {
		var names []string
		for _, f := range frames {
			names = append(names, s.Names[f])
		}
		got = append(got, fmt.Sprintf("%s %d %d", strings.Join(names, ";"), base, value))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"a 2 0", "a;b 1 10", "a;b;c 0 20", "b 0 30", "z 3 0"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("stacks (-want +got):\n%s", diff)
	}
}

// TestStacksAddUpToTheTree compares two ways through the same samples.
func TestStacksAddUpToTheTree(t *testing.T) {
	p := random(2000, 300)
	tree, err := flame.New(p, flame.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := flame.NewStacks(nil, p, flame.Options{})
	if err != nil {
		t.Fatal(err)
	}
	at := int32(0)
	err = s.Each(func(frames []uint32, value, _ int64) error {
		at++
		for tree.Frames[at].Self == 0 {
			at++
		}
		var names []string
		for _, f := range frames {
			names = append(names, s.Names[f])
		}
		if f := &tree.Frames[at]; f.Self != value || !slices.Equal(tree.Path(at), names) {
			return fmt.Errorf("frame %d %v is %d, the stack %v %d", at, tree.Path(at), f.Self, names, value)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

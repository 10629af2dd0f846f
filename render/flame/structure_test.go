package flame

import (
	"io"
	"strings"
	"testing"

	"kitescope/profile"
	"kitescope/profile/flame"
	"kitescope/render/rendertest"
)

func TestInjection(t *testing.T) {
	rendertest.CheckInjection(t, map[string]func(w io.Writer, name string) error{
		"flame.svg": func(w io.Writer, name string) error {
			return SVG(w, namedTree(t, name), Options{Title: name, Subtitle: name, Width: 600})
		},
		"flame.html": func(w io.Writer, name string) error {
			return HTML(w, namedTree(t, name), Options{Title: name, Subtitle: name})
		},
	})
}

// namedTree returns a tree with 30 frames whose names contain name.
func namedTree(t *testing.T, name string) *flame.Tree {
	t.Helper()
	b := profile.NewBuilder(profile.ValueType{Type: "samples", Unit: "count"})
	for i := range 30 {
		stack := []uint32{b.Frame(strings.Repeat("f", i+1)+name, profile.NoMapping), b.Frame(name, profile.NoMapping)}
		if err := b.Sample(stack, []int64{int64(i + 1)}); err != nil {
			t.Fatal(err)
		}
	}
	tree, err := flame.New(b.Profile(), flame.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

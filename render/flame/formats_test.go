package flame

import (
	"bytes"
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kitescope/profile/flame"
	"kitescope/profile/profiletest"
	profileread "kitescope/profile/read"
)

// TestFlameRoundTrip checks that kitescope reads the same frames and values from folded stacks.
func TestFlameRoundTrip(t *testing.T) {
	p := profiletest.Read(t, "../../testdata/profiles/milvus-cpu-hnsw.pb.gz")
	want, err := flame.New(p, flame.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var folded bytes.Buffer
	if err := Folded(&folded, want); err != nil {
		t.Fatal(err)
	}
	back, err := profileread.From(context.Background(), "hnsw.folded", &folded, profileread.Options{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := flame.New(back, flame.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(outline(want), outline(got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func outline(t *flame.Tree) []string {
	lines := make([]string, len(t.Frames))
	for i := range t.Frames {
		f := &t.Frames[i]
		lines[i] = fmt.Sprintf("%d %s %d %d", f.Depth, t.NameOf(f), f.Total, f.Self)
	}
	return lines
}

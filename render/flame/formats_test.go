package flame

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kitescope/profile/flame"
	"kitescope/profile/profiletest"
	profileread "kitescope/profile/read"
)

// TestFlameFormatsComeBack reads what was written with our own readers: the same frames, the same values.
func TestFlameFormatsComeBack(t *testing.T) {
	p := profiletest.Read(t, "../../testdata/profiles/milvus-cpu-hnsw.pb.gz")
	want, err := flame.New(p, flame.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var folded, speedscope bytes.Buffer
	if err := Folded(&folded, nil, p, flame.Options{}); err != nil {
		t.Fatal(err)
	}
	if err := Speedscope(&speedscope, nil, p, flame.Options{}, Options{Title: "hnsw"}); err != nil {
		t.Fatal(err)
	}
	checkSpeedscope(t, speedscope.Bytes())
	for name, b := range map[string]*bytes.Buffer{"hnsw.folded": &folded, "hnsw.speedscope.json": &speedscope} {
		back, err := profileread.From(context.Background(), name, b, profileread.Options{})
		if err != nil {
			t.Fatal(err)
		}
		got, err := flame.New(back, flame.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(outline(want), outline(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
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

// checkSpeedscope checks the shape that speedscope's file-format-spec.ts asks for.
func checkSpeedscope(t *testing.T, b []byte) {
	t.Helper()
	var file struct {
		Schema string `json:"$schema"`
		Shared struct {
			Frames []struct {
				Name *string `json:"name"`
			} `json:"frames"`
		} `json:"shared"`
		Profiles []struct {
			Type, Name, Unit     string
			StartValue, EndValue float64
			Samples              [][]int
			Weights              []float64
		} `json:"profiles"`
		Active *int `json:"activeProfileIndex"`
	}
	if err := json.Unmarshal(b, &file); err != nil {
		t.Fatal(err)
	}
	if file.Schema != "https://www.speedscope.app/file-format-schema.json" || len(file.Profiles) == 0 || file.Active == nil {
		t.Errorf("head: %q, %d profiles", file.Schema, len(file.Profiles))
	}
	for _, p := range file.Profiles {
		if p.Type != "sampled" || p.Name == "" || !slices.Contains([]string{"none", "nanoseconds", "microseconds", "milliseconds", "seconds", "bytes"}, p.Unit) {
			t.Errorf("profile %q of %q in %q", p.Name, p.Type, p.Unit)
		}
		var sum float64
		for _, w := range p.Weights {
			sum += w
		}
		if len(p.Samples) != len(p.Weights) || p.EndValue-p.StartValue != sum {
			t.Errorf("%d samples, %d weights of %v in all, from %v to %v", len(p.Samples), len(p.Weights), sum, p.StartValue, p.EndValue)
		}
		for _, stack := range p.Samples {
			for _, frame := range stack {
				if frame < 0 || frame >= len(file.Shared.Frames) || file.Shared.Frames[frame].Name == nil {
					t.Fatalf("there is no frame %d", frame)
				}
			}
		}
	}
}

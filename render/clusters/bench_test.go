package clusters

import (
	"io"
	"testing"

	"kitescope/inspect/model/modeltest"
	"kitescope/inspect/view"
	"kitescope/render"
)

// BenchmarkSegments writes 200,000 segments. The bar for json is 350 ms of CPU.
func BenchmarkSegments(b *testing.B) {
	env := view.NewEnv(modeltest.Large(200_000), modeltest.Now)
	r, err := view.Find("segments")
	if err != nil {
		b.Fatal(err)
	}
	for _, word := range []string{"json", "jsonl", "yaml", "csv", "table", "wide", "name"} {
		b.Run(word, func(b *testing.B) {
			f, err := render.ListFormats().Parse(word)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				g, err := view.Select(r.Table(env), view.Query{Show: f.Show()})
				if err != nil {
					b.Fatal(err)
				}
				if err := Grid(io.Discard, g, render.Options{Format: f}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

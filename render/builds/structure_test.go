package builds

import (
	"io"
	"testing"

	"kitescope/profile/bench"
	"kitescope/render/rendertest"
)

func TestInjection(t *testing.T) {
	rendertest.CheckInjection(t, map[string]func(w io.Writer, name string) error{
		"compare.svg": func(w io.Writer, name string) error {
			c := goComparison()
			c.A.Name, c.B.Name = name, name
			for i := range c.Lines {
				c.Lines[i].Metric = bench.Metric{Name: name, Benchmark: name, Unit: "1/s"}
			}
			return distributions(c).Write(w, "svg")
		},
	})
}

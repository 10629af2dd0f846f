package read

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"kitescope/internal/hints"
	"kitescope/profile/bench"
)

// show formats Sets with one value per line.
func show(sets []*bench.Set) string {
	var b strings.Builder
	for i, s := range sets {
		fmt.Fprintf(&b, "[%d %s]\n", i, s.Format)
		for _, r := range s.Runs {
			fmt.Fprintf(&b, "run %s", r.Name)
			if r.Pair != "" {
				fmt.Fprintf(&b, " pair %s", r.Pair)
			}
			if r.Failed != "" {
				fmt.Fprintf(&b, " failed: %s", r.Failed)
			}
			b.WriteByte('\n')
			for _, v := range r.Values {
				fmt.Fprintf(&b, "  %s = %g", v.String(), v.X)
				if v.Unit != "" {
					fmt.Fprintf(&b, " %s", v.Unit)
				}
				if v.Concurrency > 0 {
					fmt.Fprintf(&b, " @%d", v.Concurrency)
				}
				fmt.Fprintf(&b, " %c\n", "?-+."[v.Better])
			}
		}
		for _, n := range s.Notes {
			fmt.Fprintf(&b, "note %s\n", n)
		}
	}
	return b.String()
}

func readText(t *testing.T, text string, o Options) []*bench.Set {
	t.Helper()
	sets, err := From(context.Background(), "x", strings.NewReader(text), o)
	if err != nil {
		if h, ok := errors.AsType[*hints.Error](err); ok {
			t.Fatalf("%v\nhint: %s", err, h.Hint())
		}
		t.Fatal(err)
	}
	return sets
}

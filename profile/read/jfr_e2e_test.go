//go:build e2e

package read

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestJFR reads a recording through the real command of a JDK.
func TestJFR(t *testing.T) {
	p := mustOpen(t, "jfr/words.jfr", Options{})
	printed := mustOpen(t, "jfr/words.json", Options{})
	if p.Total(0) < printed.Total(0) || p.Origin.Format != "JFR" {
		t.Errorf("%d samples of the recording, %d of what was printed of it; %+v", p.Total(0), printed.Total(0), p.Origin)
	}
	own := stacks(p, 0)
	for stack, n := range stacks(printed, 0) {
		if own[stack] < n {
			t.Errorf("%s: %d, but %d were printed", stack, own[stack], n)
		}
	}
	allocations := mustOpen(t, "jfr/words-alloc.jfr", Options{})
	if kind, err := allocations.KindOf("alloc_space"); err != nil || allocations.Total(kind) < 100<<20 {
		t.Errorf("%v of %v, %v", allocations.Types, allocations.Origin, err)
	}
	packed, err := os.ReadFile(fixture("jfr/words.jfr"))
	if err != nil {
		t.Fatal(err)
	}
	q := mustRead(t, string(packers["gzip"](t, packed)), Options{})
	if diff := cmp.Diff(own, stacks(q, 0)); diff != "" {
		t.Errorf("through gzip:\n%s", diff)
	}
	if _, err := From(context.Background(), "it", strings.NewReader(string(packed[:len(packed)/2])), Options{}); err == nil || !strings.Contains(err.Error(), "jfr cannot print it: ") {
		t.Errorf("cut in half: %v", err)
	}
}

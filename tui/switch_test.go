package tui

import (
	"slices"
	"testing"
	"testing/synctest"

	"kitescope/tui/tuitest"
)

// TestSwitch checks that ":ctx" passes on the other cluster and the page to open, and rejects names that are
// not configured.
func TestSwitch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var switched []string
		cfg := testConfig()
		cfg.Contexts = []string{"lab", "prod"}
		cfg.Switch = func(name, page string) { switched = append(switched, name, page) }
		d := driven(t, cfg, 100, 30)
		d.Cluster(tuitest.Fixture())
		d.Keys(":").Typed("ctx nosuch").Keys("enter")
		d.Shows("no context nosuch; available: lab, prod")
		d.Keys(":").Typed("segments").Keys("enter")
		d.Keys(":").Typed("ctx").Keys("enter")
		d.Shows("1  lab", "2  prod")
		d.Keys("2")
		d.Keys("d") // the page of a single object is not kept
		d.Keys(":").Typed("ctx lab").Keys("enter")
		if want := []string{"prod", "segments", "lab", ""}; !slices.Equal(switched, want) {
			t.Errorf("switched to %q, want %q", switched, want)
		}
	})
}

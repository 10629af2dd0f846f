package load_test

import (
	"context"
	"runtime"
	"testing"

	"kitescope/replay/load"
)

// idle is a target that does nothing: what a run of it costs is the driver's own.
type idle struct{ answer load.Answer }

func (*idle) Name() string                                    { return "idle" }
func (i *idle) Session(context.Context) (load.Session, error) { return i, nil }
func (*idle) Close() error                                    { return nil }
func (i *idle) Ask(context.Context, *load.Request) (*load.Answer, error) {
	return &i.answer, nil
}

// TestNoAllocationPerRequest: without a deadline, which takes a context for each.
func TestNoAllocationPerRequest(t *testing.T) {
	all := requests(100, 0)
	allocated := func(n int) uint64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := load.Run(t.Context(), &idle{}, all, load.Plan{Sessions: 2, Requests: n})
		if err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		return after.Mallocs - before.Mallocs
	}
	// Histograms take some blocks more if a few requests take longer; that is not by request.
	if few, many := allocated(1000), allocated(100_000); many > few+1000 {
		t.Errorf("%d allocations of 1000 requests, %d of 100,000", few, many)
	}
}

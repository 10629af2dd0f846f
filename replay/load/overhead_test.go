package load_test

import (
	"context"
	"runtime"
	"testing"

	"kitescope/replay/load"
)

// idle is a target that does nothing, so that a run measures only the driver.
type idle struct{ answer load.Answer }

func (*idle) Name() string                                    { return "idle" }
func (i *idle) Session(context.Context) (load.Session, error) { return i, nil }
func (*idle) Close() error                                    { return nil }
func (i *idle) Ask(context.Context, *load.Request) (*load.Answer, error) {
	return &i.answer, nil
}

// TestNoAllocationPerRequest checks that a request allocates nothing without a deadline, which needs a context for
// each request.
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
	// Histograms allocate more blocks if some requests take longer, but not for each request.
	if few, many := allocated(1000), allocated(100_000); many > few+1000 {
		t.Errorf("%d allocations of 1000 requests, %d of 100,000", few, many)
	}
}

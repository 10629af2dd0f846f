package profiles

import (
	"testing"
	"testing/synctest"

	"kitescope/tui/tuitest"
)

// TestPressEveryKey checks that no key breaks any page.
func TestPressEveryKey(t *testing.T) {
	heap := func() View { return oneView("milvus-heap.pb.gz") }
	of := func(view func() View) func(t *testing.T) *ui {
		return func(t *testing.T) *ui { t.Helper(); return driveProfiles(t, view(), 80, 24) }
	}
	judged := judgementFixture(t)
	for _, x := range []struct {
		way  string
		open func(t *testing.T) *ui
	}{
		{"9", of(heap)},
		{"", of(comparedView)},
		{"down*3 c", of(comparedView)},
		{"v", of(comparedView)},
		{"", func(t *testing.T) *ui { t.Helper(); return driveComparison(t, pairedFixture(), 80, 24) }},
		{"", func(t *testing.T) *ui { t.Helper(); return driveJudgement(t, judged, 80, 24) }},
	} {
		synctest.Test(t, func(t *testing.T) {
			x.open(t).PressEach(x.way, tuitest.Keyboard())
		})
	}
}

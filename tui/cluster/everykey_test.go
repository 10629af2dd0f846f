package cluster

import (
	"testing"
	"testing/synctest"

	"kitescope/inspect/model"
	"kitescope/tui/tuitest"
)

// TestPressEveryKey checks that no key breaks any kind of page.
func TestPressEveryKey(t *testing.T) {
	asked, old := tuitest.CaptureQueried(t, capturedPath("cluster-2.3.5-t7")), captured(t, "standalone-2.1.0")
	for _, x := range []struct {
		page, way string
		cluster   *model.Cluster
	}{
		{"balance", "", asked},
		{"balance", "down*5 enter", asked},
		{"preflight 3.0.2", "", old},
		{"preflight 3.0.2", "enter", old},
	} {
		synctest.Test(t, func(t *testing.T) {
			cfg := testConfig()
			cfg.StartPage = x.page
			d := driven(t, cfg, 80, 24)
			d.Cluster(x.cluster)
			d.PressEach(x.way, tuitest.Keyboard())
		})
	}
}

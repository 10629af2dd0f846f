package cluster

import (
	"testing"

	"go.uber.org/goleak"

	"kitescope/tui"
	"kitescope/tui/pagetest"
	"kitescope/tui/tuitest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// ui is a driver and the model that it drives.
type ui struct {
	*tuitest.Driver
	m *tui.Model
}

func testConfig() tui.Config {
	cfg := pagetest.Config()
	cfg.Pages = Pages()
	return cfg
}

// driven starts a driver on the UI.
func driven(t *testing.T, cfg tui.Config, w, h int) *ui {
	t.Helper()
	d, m := pagetest.Drive(t, cfg, w, h)
	return &ui{d, m}
}

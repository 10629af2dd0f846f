package cluster

import (
	"testing"

	tea "charm.land/bubbletea/v2"
	"go.uber.org/goleak"

	"kitescope/inspect/view"
	"kitescope/tui"
	"kitescope/tui/tuitest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// ui is a model that is driven.
type ui struct {
	*tuitest.Driver
	m *tui.Model
}

func testConfig() tui.Config {
	return tui.Config{
		Resources: view.Resources, Title: "127.0.0.1:2379", Command: "kitescope --from etcd://127.0.0.1:2379/by-dev",
		Theme: "dark", Now: tuitest.Epoch, Checks: tuitest.FixtureChecks(), Pages: Pages(),
	}
}

// driven starts a driver on the UI.
func driven(t *testing.T, cfg tui.Config, w, h int) *ui {
	t.Helper()
	u := &ui{}
	u.Driver = tuitest.Drive(t, w, h, func(save tuitest.SaveFunc) tea.Model {
		cfg.SaveFile = save
		u.m = tui.New(cfg)
		return u.m
	})
	return u
}

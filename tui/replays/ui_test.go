package replays

import (
	"context"
	"io"
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
		Theme: "dark", Now: tuitest.Epoch, Checks: tuitest.FixtureChecks(),
	}
}

// driven starts a driver on the UI.
func driven(t *testing.T, cfg tui.Config, w, h int) *ui {
	t.Helper()
	var m *tui.Model
	d := tuitest.Drive(t, w, h, func(save tuitest.SaveFunc) tea.Model {
		if cfg.SaveFile == nil {
			cfg.SaveFile = save
		}
		m = tui.New(cfg)
		return m
	})
	return &ui{d, m}
}

// started runs the UI in a terminal of w x h cells.
func started(cfg tui.Config, w, h int) *tuitest.Program {
	return tuitest.Start(func(ctx context.Context, in io.Reader, out io.Writer) error {
		cfg.Input, cfg.Output, cfg.Width, cfg.Height = in, out, w, h
		cfg.Environ = []string{"TERM=xterm-256color", "COLORTERM=truecolor"}
		return tui.Run(ctx, cfg)
	})
}

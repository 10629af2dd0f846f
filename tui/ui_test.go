package tui

import (
	"context"
	"io"
	"testing"

	tea "charm.land/bubbletea/v2"

	"kitescope/inspect/view"
	"kitescope/tui/tuitest"
)

// ui is a model under test.
type ui struct {
	*tuitest.Driver
	m *Model
}

func testConfig() Config {
	return Config{
		Resources: view.Resources, Title: "127.0.0.1:2379", Command: "kitescope --from etcd://127.0.0.1:2379/by-dev",
		Theme: "dark", Now: tuitest.Epoch, Checks: tuitest.FixtureChecks(),
	}
}

// driven starts a driver on the UI.
func driven(t *testing.T, cfg Config, w, h int) *ui {
	t.Helper()
	var m *Model
	d := tuitest.Drive(t, w, h, func(save tuitest.SaveFunc) tea.Model {
		if cfg.SaveFile == nil {
			cfg.SaveFile = save
		}
		m = New(cfg)
		return m
	})
	return &ui{d, m}
}

// started runs the UI in a terminal of w x h cells.
func started(cfg Config, w, h int) *tuitest.Program {
	return tuitest.Start(func(ctx context.Context, in io.Reader, out io.Writer) error {
		cfg.Input, cfg.Output, cfg.Width, cfg.Height = in, out, w, h
		cfg.Environ = []string{"TERM=xterm-256color", "COLORTERM=truecolor"}
		return Run(ctx, cfg)
	})
}

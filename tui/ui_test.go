package tui

import (
	"context"
	"io"
	"testing"

	tea "charm.land/bubbletea/v2"

	"kitescope/inspect/view"
)

// ui is a model that is driven.
type ui struct {
	*driver
	m *Model
}

func testConfig() Config {
	return Config{
		Resources: view.Resources, Title: "127.0.0.1:2379", Command: "kitescope --from etcd://127.0.0.1:2379/by-dev",
		Theme: "dark", Now: epoch, Checks: fixtureChecks(),
	}
}

// driven starts a driver on the UI.
func driven(t *testing.T, cfg Config, w, h int) *ui {
	t.Helper()
	var m *Model
	d := drive(t, w, h, func(save saveFunc) tea.Model {
		if cfg.SaveFile == nil {
			cfg.SaveFile = save
		}
		m = New(cfg)
		return m
	})
	return &ui{d, m}
}

// started runs the UI in a terminal of w x h cells.
func started(cfg Config, w, h int) *program {
	return start(func(ctx context.Context, in io.Reader, out io.Writer) error {
		cfg.Input, cfg.Output, cfg.Width, cfg.Height = in, out, w, h
		cfg.Environ = []string{"TERM=xterm-256color", "COLORTERM=truecolor"}
		return Run(ctx, cfg)
	})
}

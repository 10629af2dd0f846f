// Package pagetest runs the UI for the tests of its pages, either in a driver or as a program in a terminal.
package pagetest

import (
	"context"
	"io"
	"testing"

	tea "charm.land/bubbletea/v2"

	"kitescope/inspect/view"
	"kitescope/tui"
	"kitescope/tui/tuitest"
)

// Config returns the configuration of a UI on an etcd source, with a fixed clock.
func Config() tui.Config {
	return tui.Config{
		Resources: view.Resources, Title: "127.0.0.1:2379", Command: "kitescope --from etcd://127.0.0.1:2379/by-dev",
		Theme: "dark", Now: tuitest.Epoch, Checks: tuitest.FixtureChecks(),
	}
}

// Drive starts a driver on the UI and returns it with the model.
func Drive(t *testing.T, cfg tui.Config, w, h int) (*tuitest.Driver, *tui.Model) {
	t.Helper()
	var m *tui.Model
	d := tuitest.Drive(t, w, h, func(save tuitest.SaveFunc) tea.Model {
		if cfg.SaveFile == nil {
			cfg.SaveFile = save
		}
		m = tui.New(cfg)
		return m
	})
	return d, m
}

// Start runs the UI in a terminal of w x h cells.
func Start(cfg tui.Config, w, h int) *tuitest.Program {
	return tuitest.Start(func(ctx context.Context, in io.Reader, out io.Writer) error {
		cfg.Input, cfg.Output, cfg.Width, cfg.Height = in, out, w, h
		cfg.Environ = []string{"TERM=xterm-256color", "COLORTERM=truecolor"}
		return tui.Run(ctx, cfg)
	})
}

package tui

import (
	"context"
	"fmt"
	"sync"

	tea "charm.land/bubbletea/v2"

	"kitescope/inspect/history"
)

// Run shows the UI until the person quits, and then returns nil, or until ctx ends, and
// then returns its error. Other errors mean that the terminal could not be used. The
// terminal is restored in any case. Signals are the caller's, by way of ctx.
func Run(ctx context.Context, cfg Config) error {
	caller := ctx
	ctx, cancel := context.WithCancel(ctx)
	m := New(cfg)
	m.done = ctx.Done()
	program := tea.NewProgram(m, options(ctx, cfg)...)
	m.ticks = &ticks{program: program}

	var feeds sync.WaitGroup
	if cfg.Feed != nil {
		feeds.Go(func() {
			cfg.Feed.Follow(ctx, func(u history.Update) { program.Send(u) })
		})
	}
	if cfg.Beside != nil {
		feeds.Go(func() { cfg.Beside(ctx, program.Send) })
	}
	_, err := program.Run()
	cancel()
	feeds.Wait()
	switch {
	case err != nil && caller.Err() != nil:
		return caller.Err()
	case err != nil:
		return fmt.Errorf("terminal: %w", err)
	}
	return nil
}

func options(ctx context.Context, cfg Config) []tea.ProgramOption {
	// Bubble Tea's own handling of signals never returns when ctx ends on the same signal.
	opts := []tea.ProgramOption{tea.WithContext(ctx), tea.WithFPS(120), tea.WithoutSignalHandler()}
	if cfg.Input != nil {
		opts = append(opts, tea.WithInput(cfg.Input))
	}
	if cfg.Output != nil {
		opts = append(opts, tea.WithOutput(cfg.Output))
	}
	if cfg.Environ != nil {
		opts = append(opts, tea.WithEnvironment(cfg.Environ))
	}
	if cfg.Width > 0 && cfg.Height > 0 {
		opts = append(opts, tea.WithWindowSize(cfg.Width, cfg.Height))
	}
	return opts
}

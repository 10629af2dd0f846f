package tui

import (
	"context"
	"errors"
	"fmt"
	"sync"

	tea "charm.land/bubbletea/v2"
)

// Run shows the UI until the person quits or ctx ends, and then returns nil. SIGINT
// gives context.Canceled; other errors mean that the terminal could not be used. The
// terminal is restored in any case.
func Run(ctx context.Context, cfg Config) error {
	ctx, cancel := context.WithCancel(ctx)
	m := New(cfg)
	m.done = ctx.Done()
	program := tea.NewProgram(m, options(ctx, cfg)...)

	var feed sync.WaitGroup
	if cfg.Feed != nil {
		feed.Go(func() {
			cfg.Feed.Follow(ctx, func(u Update) { program.Send(updateMsg(u)) })
		})
	}
	_, err := program.Run()
	cancel()
	feed.Wait()
	switch {
	case errors.Is(err, tea.ErrInterrupted):
		return context.Canceled
	case errors.Is(err, context.Canceled):
		return nil
	case err != nil:
		return fmt.Errorf("terminal: %w", err)
	}
	return nil
}

func options(ctx context.Context, cfg Config) []tea.ProgramOption {
	// Output waits for the renderer's tick: 120 a second halve the time from key to screen.
	opts := []tea.ProgramOption{tea.WithContext(ctx), tea.WithFPS(120)}
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

package tui

import (
	"context"
	"fmt"
	"sync"

	tea "charm.land/bubbletea/v2"

	"kitescope/inspect/history"
)

// Run shows the UI. It returns nil after the user quits, and the error of ctx after ctx ends. Other errors mean
// that the terminal is unusable. Run always restores the terminal. The caller handles signals by canceling ctx.
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
	if cfg.Background != nil {
		feeds.Go(func() { cfg.Background(ctx, program.Send) })
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
	// Bubble Tea's own signal handler never returns if ctx ends on the same signal.
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

package enginecmd

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"kitescope/cmd/kitescope/cli"
	"kitescope/internal/words"
	"kitescope/replay"
	"kitescope/tui/profiles"
	"kitescope/tui/replays"
)

// progress reports the progress of a replay: the current stage and its state as text.
type progress func(stage, text string)

func (p progress) load(l replay.LoadProgress) {
	p("read segments", fmt.Sprintf("%d of %d, %s", l.Done, l.Total, words.Bytes(l.Bytes)))
}

func (p progress) run(r replay.RunProgress) {
	if r.Stage != "load" {
		p("find "+r.Stage, "")
		return
	}
	p(pointText(r), loadText(&r.Load))
}

func (p progress) step(text string) { p(text, "") }

// statusLine returns a function that reports progress on the progress line. The caller calls clearLine before
// any other output.
func statusLine(a *cli.App) (report progress, clearLine func()) {
	return func(stage, text string) {
		if text != "" {
			stage += ": " + text
		}
		a.Status("%s", stage)
	}, a.Transient.Clear
}

// replayScreen are the flags of commands that can open the replay page.
type replayScreen struct {
	open bool
	ui   cli.UIFlags
}

func (s *replayScreen) register(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.BoolVar(&s.open, "ui", false, "open it in the terminal UI while measuring")
	fl.StringVar(&s.ui.Theme, "theme", "auto", "auto, terminal, dark, light, mono")
}

// replayUI measures while the UI shows the progress, followed by the result.
func (s *replayScreen) replayUI(
	a *cli.App, cmd *cobra.Command, args []string,
	measure func(ctx context.Context, report progress) (replays.Data, error),
) error {
	cfg, err := a.FileUI(&s.ui, args)
	if err != nil {
		return err
	}
	cfg.Args, cfg.Pages = append([]string{cmd.Name()}, cli.RepeatArgs(cmd, args)...), profiles.Pages(nil)
	defer a.Hold()()
	return replays.Measure(cmd.Context(), cfg,
		func(ctx context.Context, step func(stage, text string)) (replays.Data, error) {
			return measure(ctx, step)
		})
}

// showReplay opens the UI on a saved file.
func (s *replayScreen) showReplay(a *cli.App, cmd *cobra.Command, file *savedFile, args []string) error {
	cfg, err := a.FileUI(&s.ui, args)
	if err != nil {
		return err
	}
	cfg.Pages = profiles.Pages(nil)
	return replays.Show(cmd.Context(), cfg, &replays.Data{
		Result: file.result, Report: file.report, Name: filepath.Base(args[0]),
		Words: append([]string{cmd.Name()}, cli.RepeatArgs(cmd, args)...),
	})
}

// runReplayUI is like run with the UI: it saves the result for -O and shows it.
func (f *runFlags) runReplayUI(a *cli.App, cmd *cobra.Command, o replay.RunOptions, args []string) error {
	var found *replay.Result
	err := f.screen.replayUI(a, cmd, args, func(ctx context.Context, report progress) (replays.Data, error) {
		r, data, err := f.measure(ctx, a, cmd, o, args, report, func() {})
		if err != nil {
			return replays.Data{}, err
		}
		data.Release()
		found = r
		return replays.Data{Result: r}, f.load.saveResult(a, r)
	})
	if err != nil || found == nil {
		return err
	}
	return replayOutcome(cmd.Context(), a, found, nil)
}

// check returns an error if other flags cannot be combined with the UI.
func (s *replayScreen) check(a *cli.App, cmd *cobra.Command) error {
	switch {
	case !s.open:
		return nil
	case !a.OutTTY:
		return cli.ErrNoTerminal()
	case cmd.Flags().Changed("output"):
		return cli.Usagef("--output and --ui cannot be combined")
	}
	return nil
}

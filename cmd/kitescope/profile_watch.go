package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"kitescope/cmd/kitescope/cli"
	"kitescope/profile/usage"
	"kitescope/render"
	"kitescope/render/picture"
	"kitescope/render/profiles"
)

// watchFlags say which processes are watched, and what becomes of the measurements.
type watchFlags struct {
	pids       []int
	tree       bool
	interval   time.Duration
	length     time.Duration
	report     cli.ReportFlags
	plot       string
	force      bool
	headerFile string
	nodes      *cli.NodeFlags
}

const helpWatch = `Measure CPU and memory of processes over time: a table with min, mean and max per process,
and a plot with --plot.

What to watch:

  --from etcd://...      all processes of a cluster, by their /metrics
  host:9091, URL         a process by its metrics; without a path /metrics; NAME=URL names it
  --pid 4711             a process of this machine, by /proc (Linux); --tree with its descendants

They combine. The watch ends with --for, with the last process, or with ^C.

Unknown values are "?". A process that does not answer leaves a gap in its curve. A restarted
process begins at 0: its last use before the restart is missing from its total, which is marked.

Formats (-o): csv and jsonl write each sample as it comes, unless --where, --sort or --columns ask
for a list of processes, known only at the end.
`

func profileWatch(a *cli.App) *cobra.Command {
	var f watchFlags
	cmd := &cobra.Command{
		Use:  "watch [URL...]",
		Long: helpWatch + strings.TrimSuffix(render.ReportFormats().Doc(), "\n"),
		Example: `  kitescope profile watch --from etcd://10.0.0.5:2379 --for 1m --plot usage.svg
  kitescope profile watch querynode=10.0.0.7:9091 http://service:8080/internal/metrics -o csv
  kitescope profile watch --pid 4711 --interval 100ms --for 10s`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.ArgsLenAtDash() >= 0 {
				return cli.Usage(errors.New("profile watch no longer runs commands"), "run it in another terminal, and watch it with --pid PID --tree")
			}
			return f.run(a, cmd, args)
		},
	}
	fl := cmd.Flags()
	fl.IntSliceVar(&f.pids, "pid", nil, "a process of this machine; repeatable")
	fl.BoolVar(&f.tree, "tree", false, "with --pid: add up all descendants")
	fl.DurationVar(&f.interval, "interval", time.Second, "how often to read each process")
	fl.DurationVar(&f.length, "for", 0, "how long to watch; 0 until the last process ends, or ^C")
	f.report.Register(cmd, render.ReportFormats(), 0, "")
	f.report.List(cmd, profiles.UsageSchema, "'cpu_cores>1'", "-cpu_cores,process", "process,cpu_cores; +gaps")
	fl.StringVar(&f.plot, "plot", "", "plot to this file, with extension ."+strings.Join(picture.Formats().Names(), ", ."))
	fl.BoolVar(&f.force, "force", false, "replace the plot if it exists")
	fl.StringVar(&f.headerFile, "header-file", "", "file with headers to send, one NAME: VALUE per line")
	f.nodes = cli.AddNodeFlags(cmd, true)
	cli.LeaveOut(cmd, "window") // no rates are asked for
	return cmd
}

// Bounds of the interval: a process that is asked more often measures the asking.
const leastInterval = 10 * time.Millisecond

// check finds mistakes in the flags before anything is asked.
func (f *watchFlags) check() error {
	switch {
	case f.interval < leastInterval:
		return cli.Usagef("--interval must be at least %s, not %s", leastInterval, f.interval)
	case f.length < 0:
		return cli.Usagef("--for must be above 0, not %s", f.length)
	case f.tree && len(f.pids) == 0:
		return cli.Usagef("--tree needs --pid")
	case f.plot != "" && !slices.Contains(picture.Formats().Names(), cli.Ending(f.plot)):
		return cli.Usage(fmt.Errorf("--plot %s: expected extension .%s", f.plot, strings.Join(picture.Formats().Names(), ", .")), "for example: --plot usage.svg")
	}
	for _, pid := range f.pids {
		if pid <= 0 {
			return cli.Usagef("--pid must be a process id, not %d", pid)
		}
	}
	if _, err := os.Stat(f.plot); err == nil && !f.force {
		return cli.Usage(fmt.Errorf("%s exists", f.plot), "choose another, or use --force")
	}
	return nil
}

// watching is a watch whose flags were parsed.
type watching struct {
	*cli.App
	flags   *watchFlags
	format  render.Format
	options render.ReportOptions
	targets []usage.Target
}

func (f *watchFlags) run(a *cli.App, cmd *cobra.Command, urls []string) error {
	if err := f.check(); err != nil {
		return err
	}
	ctx := cmd.Context()
	a.RunClock()
	w := &watching{App: a, flags: f}
	var err error
	if w.format, w.options, err = f.report.Settle(a, cmd); err != nil {
		return err
	}
	if err := w.find(ctx, urls); err != nil {
		return err
	}
	if err := f.plotWritable(); err != nil {
		return err
	}
	u, err := w.watch(ctx)
	if err != nil {
		return err
	}
	return w.finish(ctx, u)
}

// find resolves the processes to watch.
func (w *watching) find(ctx context.Context, urls []string) error {
	slices.Sort(w.flags.pids)
	for _, pid := range slices.Compact(w.flags.pids) {
		p, err := usage.OpenProcess(pid, w.flags.tree, w.Now)
		if err != nil {
			return err
		}
		w.targets = append(w.targets, p)
	}
	named := w.App.Flags.From != "" || w.App.Flags.Context != ""
	metrics, err := w.metrics(ctx, urls, named || len(urls)+len(w.targets) == 0)
	if err != nil {
		return err
	}
	w.targets = append(w.targets, metrics...)
	distinct(w.targets)
	return nil
}

// watch measures until the end of the time or of all processes. Samples are written as they come where the format allows it.
func (w *watching) watch(ctx context.Context) (*usage.Usage, error) {
	watchCtx, stop := context.WithCancel(ctx)
	defer stop()
	if w.flags.length > 0 {
		var cancel context.CancelFunc
		watchCtx, cancel = context.WithTimeout(watchCtx, w.flags.length)
		defer cancel()
	}
	var each func(usage.Sample)
	var failed error
	if w.streams() {
		stream := profiles.NewUsageStream(w.Out, w.format.Name() == "csv")
		each = func(s usage.Sample) {
			if failed == nil {
				if failed = stream.Write(s); failed != nil {
					stop()
				}
			}
		}
	}
	o := usage.Options{Interval: w.flags.interval, Timeout: w.flags.nodes.Timeout, Now: w.Now}
	u := usage.Watch(watchCtx, w.targets, o, each)
	return u, failed
}

// streams reports whether samples are written as they come: a list that somebody asks for is known at the end.
func (w *watching) streams() bool {
	name := w.format.Name()
	return (name == "jsonl" || name == "csv") && !w.options.Asks()
}

// finish writes the report and the plot, and returns what went wrong.
func (w *watching) finish(ctx context.Context, u *usage.Usage) error {
	if !w.streams() {
		if err := w.Write(func(out *bufio.Writer) error { return profiles.WriteUsage(out, u, w.format, w.options) }); err != nil {
			return err
		}
	}
	if err := w.draw(u); err != nil {
		return err
	}
	lacking, heard := 0, 0
	for _, s := range u.Series {
		switch {
		case s.Readings > 0:
			heard++
		case s.Gaps > 0:
			lacking++
			if w.format.Structured() {
				w.Warn("%s never answered: %s", s.Name, s.LastGap)
			}
		}
	}
	switch {
	case ctx.Err() != nil:
		return &cli.CodeError{Code: cli.ExitInterrupted} // the report says the rest
	case heard == 0 && lacking > 0:
		return &cli.CodeError{Code: cli.ExitFailed, Err: fmt.Errorf("nothing was measured: %s: %s", u.Series[0].Name, u.Series[0].LastGap)}
	case lacking > 0 && w.App.Flags.Strict:
		return &cli.CodeError{Code: cli.ExitIncomplete}
	}
	return nil
}

// plotWritable finds out before anything is measured whether the plot can be written.
func (f *watchFlags) plotWritable() error {
	if f.plot == "" {
		return nil
	}
	file, err := os.CreateTemp(filepath.Dir(f.plot), ".plot-*")
	if err != nil {
		return plotError(f.plot, err)
	}
	return errors.Join(file.Close(), os.Remove(file.Name()))
}

// plotError is an error without the name of the temporary file, which says nothing to anybody.
func plotError(path string, err error) error {
	if own, ok := errors.AsType[*os.PathError](err); ok {
		err = own.Err
	}
	return fmt.Errorf("write the plot %s: %w", path, err)
}

// draw writes the plot, whole or not at all.
func (w *watching) draw(u *usage.Usage) (err error) {
	path := w.flags.plot
	if path == "" {
		return nil
	}
	file, err := os.CreateTemp(filepath.Dir(path), ".plot-*")
	if err != nil {
		return plotError(path, err)
	}
	defer os.Remove(file.Name()) // gone after the rename
	out := bufio.NewWriter(file)
	err = errors.Join(profiles.PlotUsage(out, u, cli.Ending(path)), out.Flush(), file.Chmod(0o644), file.Close())
	if err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("write the plot %s: %w", path, err)
	}
	w.Warn("wrote the plot to %s", path)
	return nil
}

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

// watchFlags say what is watched, how, and what becomes of it.
type watchFlags struct {
	pids       []int
	tree       bool
	interval   time.Duration
	length     time.Duration
	counter    string
	queries    float64
	report     cli.ReportFlags
	plot       string
	folder     string
	force      bool
	headerFile string
	nodes      *cli.NodeFlags
}

const helpWatch = `Measure what processes use while something runs: CPU, memory, goroutines, GC pauses, context
switches. A terminal shows live curves; at the end comes a table with min, mean and max per
process.

What to watch:

  --from etcd://...      all processes of a cluster, by their /metrics
  host:9091, URL         a process by its metrics; without a path /metrics; NAME=URL names it
  --pid 4711             a process of this machine, by /proc (Linux); --tree with its descendants
  -- COMMAND ARGS...     a command to run and watch with its descendants, until it ends

They combine: with a cluster and a command, the cluster is measured while the command runs.
Without a command the watch ends with --for, with the last process, or with ^C.

The command's own output goes to standard error. The report has its result; if it failed,
kitescope exits 1, whatever the command's exit code. ^C ends the command as well; the report
is still printed, and the exit code is 130.

--counter names a counter in the processes' metrics, with labels as in PromQL, that counts
queries: CPU and context switches per query are computed over all processes except the
command. --queries gives their number instead.

Unknown values are "?": /metrics has no context switches, /proc no goroutines. A process that
does not answer leaves a gap in its curve. A restarted process begins at 0: its last use before
the restart is missing from its total, which is marked.

Formats (-o): csv and jsonl write each sample as it comes, unless --where, --sort or --columns ask
for a list of processes, known only at the end.
`

func profileWatch(a *cli.App) *cobra.Command {
	var f watchFlags
	cmd := &cobra.Command{
		Use:  "watch [URL...] [-- COMMAND [ARG...]]",
		Long: helpWatch + strings.TrimSuffix(render.ReportFormats().Doc(), "\n"),
		Example: `  kitescope profile watch --from etcd://10.0.0.5:2379 --for 1m --plot usage.svg
  kitescope profile watch --from etcd://10.0.0.5:2379 \
    --counter 'milvus_proxy_sq_latency_count{query_type="search"}' -- python3 search-load.py
  kitescope profile watch querynode=10.0.0.7:9091 http://service:8080/internal/metrics -o csv
  kitescope profile watch --pid 4711 --interval 100ms --for 10s
  kitescope profile watch --plot build.png -- make -j8`,
		RunE: func(cmd *cobra.Command, args []string) error {
			urls, command := args, []string(nil)
			if at := cmd.ArgsLenAtDash(); at >= 0 {
				urls, command = args[:at], args[at:]
			}
			return f.run(a, cmd, urls, command)
		},
	}
	fl := cmd.Flags()
	fl.IntSliceVar(&f.pids, "pid", nil, "a process of this machine; repeatable")
	fl.BoolVar(&f.tree, "tree", false, "with --pid: add up all descendants")
	fl.DurationVar(&f.interval, "interval", time.Second, "how often to read each process")
	fl.DurationVar(&f.length, "for", 0, "how long to watch; 0 until the last process ends, or ^C")
	fl.StringVar(&f.counter, "counter", "", `counter of queries in the metrics: milvus_proxy_sq_latency_count{query_type="search"}`)
	fl.Float64Var(&f.queries, "queries", 0, "number of queries, if no counter has it")
	f.report.Register(cmd, render.ReportFormats(), 0, "")
	f.report.List(cmd, profiles.UsageSchema, "'cpu_cores>1'", "-cpu_cores,process", "process,cpu_cores; +gaps")
	fl.StringVar(&f.plot, "plot", "", "plot to this file, with extension ."+strings.Join(picture.Formats().Names(), ", ."))
	fl.StringVarP(&f.folder, "out", "O", "", "folder for samples, next to profiles: "+usageFile)
	fl.BoolVar(&f.force, "force", false, "replace files that exist")
	fl.StringVar(&f.headerFile, "header-file", "", "file with headers to send, one NAME: VALUE per line")
	f.nodes = cli.AddNodeFlags(cmd, true)
	cli.LeaveOut(cmd, "window") // no rates are asked for
	return cmd
}

// usageFile is where samples are kept, in the folder that -O names.
const usageFile = "usage.jsonl"

// Bounds of the interval: a process that is asked more often measures the asking.
const leastInterval = 10 * time.Millisecond

// check finds what is wrong with flags before anything is asked or started.
func (f *watchFlags) check(command []string) error {
	switch {
	case f.interval < leastInterval:
		return cli.Usagef("--interval must be at least %s, not %s", leastInterval, f.interval)
	case f.length < 0:
		return cli.Usagef("--for must be above 0, not %s", f.length)
	case f.length > 0 && command != nil:
		return cli.Usage(errors.New("--for and a command both set the end"), "omit --for: the watch ends with the command")
	case command != nil && len(command) == 0:
		return cli.Usage(errors.New("no command after --"), "for example: kitescope profile watch -- make -j8")
	case f.queries < 0:
		return cli.Usagef("--queries must be above 0, not %g", f.queries)
	case f.queries > 0 && f.counter != "":
		return cli.Usage(errors.New("--queries and --counter both give the number of queries"), "use only one of them")
	case f.tree && len(f.pids) == 0:
		return cli.Usage(errors.New("--tree needs --pid"), "a command is always watched with its descendants")
	case f.plot != "" && !slices.Contains(picture.Formats().Names(), cli.Ending(f.plot)):
		return cli.Usage(fmt.Errorf("--plot %s: expected extension .%s", f.plot, strings.Join(picture.Formats().Names(), ", .")), "for example: --plot usage.svg")
	}
	for _, pid := range f.pids {
		if pid <= 0 {
			return cli.Usagef("--pid must be a process id, not %d", pid)
		}
	}
	for _, path := range f.files() {
		if _, err := os.Stat(path); err == nil && !f.force {
			return cli.Usage(fmt.Errorf("%s exists", path), "choose another, or use --force")
		}
	}
	return nil
}

// files are those that will be written.
func (f *watchFlags) files() (list []string) {
	if f.plot != "" {
		list = append(list, f.plot)
	}
	if f.folder != "" {
		list = append(list, filepath.Join(f.folder, usageFile))
	}
	return list
}

// watching is a watch whose flags were understood.
type watching struct {
	*cli.App
	flags   *watchFlags
	format  render.Format
	options render.ReportOptions
	targets []usage.Target
	counter *usage.Selector
	// command runs meanwhile, nil if there is none; own is the index of its target, -1 if it is not watched itself.
	command *watchedCommand
	own     int
	sinks   []func(*usage.Usage, usage.Sample) error
	err     error // of a sink
}

func (f *watchFlags) run(a *cli.App, cmd *cobra.Command, urls, command []string) error {
	if err := f.check(command); err != nil {
		return err
	}
	ctx := cmd.Context()
	a.RunClock()
	w := &watching{App: a, flags: f, own: -1}
	if err := w.settle(cmd); err != nil {
		return err
	}
	if err := w.find(ctx, urls, command != nil); err != nil {
		return err
	}
	keep, err := w.keep()
	if err == nil {
		err = f.plotWritable()
	}
	if err != nil {
		return err
	}
	defer func() { _ = keep.close() }() // its error counts where nothing else went wrong
	u, err := w.run(ctx, command)
	if err != nil {
		return err
	}
	if err := errors.Join(w.err, keep.close()); err != nil {
		return err
	}
	return w.finish(ctx, u)
}

// settle reads formats and the counter.
func (w *watching) settle(cmd *cobra.Command) error {
	var err error
	if w.format, w.options, err = w.flags.report.Settle(w.App, cmd); err != nil {
		return err
	}
	if w.flags.counter != "" {
		if w.counter, err = usage.ParseSelector(w.flags.counter); err != nil {
			return cli.Usage(fmt.Errorf("--counter: %w", err), `for example: --counter 'milvus_proxy_sq_latency_count{query_type="search"}'`)
		}
	}
	return nil
}

// find settles whom to watch, besides the command.
func (w *watching) find(ctx context.Context, urls []string, hasCommand bool) error {
	slices.Sort(w.flags.pids)
	for _, pid := range slices.Compact(w.flags.pids) {
		p, err := usage.OpenProcess(pid, w.flags.tree, w.Now)
		if err != nil {
			return err
		}
		w.targets = append(w.targets, p)
	}
	local := len(w.targets)
	named := w.App.Flags.From != "" || w.App.Flags.Context != ""
	metrics, err := w.metrics(ctx, urls, named || len(urls)+local == 0 && !hasCommand)
	if err != nil {
		return err
	}
	w.targets = append(w.targets, metrics...)
	distinct(w.targets)
	if w.counter != nil && len(metrics) == 0 {
		return cli.Usage(errors.New("--counter needs metrics of processes, but none are watched"), "give their URLs or --from, or use --queries")
	}
	return nil
}

// streams reports whether samples are written as they come: a list that somebody asks for is known at the end.
func (w *watching) streams() bool {
	name := w.format.Name()
	return (name == "jsonl" || name == "csv") && !w.options.Asks()
}

// finish writes the report, and says what went wrong.
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
	case u.Command != nil && u.Command.ExitCode != 0:
		return &cli.CodeError{Code: cli.ExitFailed, Err: fmt.Errorf("%s failed: %s", u.Command.Name, u.Command.State)}
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

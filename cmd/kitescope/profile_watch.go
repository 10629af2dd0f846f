package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"kitescope/cmd/kitescope/cli"
	"kitescope/inspect/live"
	"kitescope/inspect/session"
	"kitescope/profile/usage"
	"kitescope/render"
	"kitescope/render/picture"
	"kitescope/render/profiles"
)

// watchFlags holds the flags of the profile watch command.
type watchFlags struct {
	pids     []int
	tree     bool
	interval time.Duration
	length   time.Duration
	report   cli.ReportFlags
	plot     string
	force    bool
	nodes    *cli.NodeFlags
}

const helpWatch = `Measure CPU and memory of processes over time: a table with min, mean and max per
process, and a plot with --plot. The watch ends with --for, with the last process,
or with ^C. What to watch, one or both:

  --from etcd://...   all processes of a cluster, by their /metrics
  --pid 4711          a process of this machine, by /proc (Linux)

Unknown values are "?". A process that does not respond leaves a gap in its curve. A
restarted process begins at 0: its last use before the restart is missing from its
total, which is marked.`

func profileWatch(a *cli.App) *cobra.Command {
	var f watchFlags
	cmd := &cobra.Command{
		Use:  "watch",
		Long: helpWatch,
		Example: `  kitescope profile watch --from etcd://10.0.0.5:2379 --for 1m --plot usage.svg
  kitescope profile watch --pid 4711 --interval 100ms --for 10s -o csv`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return cli.Usage(errors.New("profile watch measures processes of a cluster (--from) or of this "+
					"machine (--pid)"),
					"for another service: curl http://HOST:PORT/metrics; a command: run it in another terminal, and "+
						"watch it with --pid PID --tree")
			}
			return f.run(a, cmd)
		},
	}
	fl := cmd.Flags()
	fl.IntSliceVar(&f.pids, "pid", nil, "a process of this machine; repeatable")
	fl.BoolVar(&f.tree, "tree", false, "with --pid: add up all descendants")
	fl.DurationVar(&f.interval, "interval", time.Second, "how often to read each process")
	fl.DurationVar(&f.length, "for", 0, "how long to watch; 0 until the last process ends, or ^C")
	f.report.Register(cmd, render.ReportFormats(), 0, "")
	f.report.List(cmd, profiles.UsageSchema, "'cpu_cores>1'", "-cpu_cores,process", "process,cpu_cores; +gaps")
	fl.StringVar(&f.plot, "plot", "",
		"plot to this file, with extension ."+strings.Join(picture.Formats().Names(), ", ."))
	fl.BoolVar(&f.force, "force", false, "replace the plot if it exists")
	f.nodes = cli.AddNodeFlags(cmd, true)
	cli.RemoveFlags(cmd, "window") // no rates are needed
	return cmd
}

// minInterval is the minimum interval. With a shorter one, the readings themselves use the CPU.
const minInterval = 10 * time.Millisecond

// check validates the flags before any process is read.
func (f *watchFlags) check() error {
	switch {
	case f.interval < minInterval:
		return cli.Usagef("--interval must be at least %s, not %s", minInterval, f.interval)
	case f.length < 0:
		return cli.Usagef("--for must be above 0, not %s", f.length)
	case f.tree && len(f.pids) == 0:
		return cli.Usagef("--tree needs --pid")
	case f.plot != "" && !slices.Contains(picture.Formats().Names(), cli.Extension(f.plot)):
		return cli.Usage(fmt.Errorf("--plot %s: expected extension .%s", f.plot,
			strings.Join(picture.Formats().Names(), ", .")), "for example: --plot usage.svg")
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

func (f *watchFlags) run(a *cli.App, cmd *cobra.Command) error {
	if err := f.check(); err != nil {
		return err
	}
	ctx := cmd.Context()
	format, options, err := f.report.Parse(a, cmd)
	if err != nil {
		return err
	}
	targets, err := f.targets(ctx, a)
	if err != nil {
		return err
	}
	a.RunClock() // it is stopped for the demo
	plot, err := f.plotFile()
	if err != nil {
		return err
	}
	defer plot.remove()
	watchCtx, stop := context.WithCancel(ctx)
	if f.length > 0 {
		watchCtx, stop = context.WithTimeout(ctx, f.length)
	}
	defer stop()
	a.ExtendGracePeriod()
	u := usage.Watch(watchCtx, targets, usage.Options{Interval: f.interval, Timeout: f.nodes.Timeout, Now: a.Now})
	if err := a.Write(func(out *bufio.Writer) error { return profiles.WriteUsage(out, u, format, options) }); err !=
		nil {
		return err
	}
	if err := plot.write(a, u); err != nil {
		return err
	}
	return f.outcome(ctx, a, u, format)
}

// targets returns the processes to watch: those given by --pid, and those of the cluster if one is given.
func (f *watchFlags) targets(ctx context.Context, a *cli.App) (list []usage.Target, err error) {
	slices.Sort(f.pids)
	for _, pid := range slices.Compact(f.pids) {
		p, err := usage.OpenProcess(pid, f.tree, a.Now)
		if err != nil {
			return nil, err
		}
		list = append(list, p)
	}
	if a.Flags.From == "" && a.Flags.Context == "" && len(list) > 0 {
		return list, nil
	}
	if !f.nodes.Live {
		return nil,
			cli.Usage(errors.New("usage comes from the processes, --live=false does not contact them"),
				"omit it, or watch --pid without --from")
	}
	conn, err := a.Connection()
	if err != nil {
		return nil, err
	}
	spec, err := a.LiveSpec(conn, f.nodes)
	if err != nil {
		return nil, err
	}
	c, err := session.Processes(ctx, a.Loader(), spec)
	if err != nil {
		return nil, profilesError(err)
	}
	asker, err := live.Open(spec.Nodes)
	if err != nil {
		return nil, err
	}
	client := &http.Client{
		Transport: &http.Transport{
			DialContext: asker.Dial, MaxIdleConnsPerHost: 1, MaxResponseHeaderBytes: 64 << 10,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	for _, t := range session.ProfileTargets(c) {
		get := func(context.Context) (io.ReadCloser, error) { return nil, errors.New(t.Unknown) }
		if t.URL != nil {
			page := url.URL{Scheme: "http", Host: t.URL.Host, Path: "/metrics"}
			get = func(ctx context.Context) (io.ReadCloser, error) { return getMetrics(ctx, client, page.String()) }
		}
		list = append(list, &usage.Metrics{Title: t.Node, Now: a.Now, Get: get})
	}
	return list, nil
}

// getMetrics requests the metrics of a process and returns the body of the response. It returns an error without
// the URL if the request fails or the status is not 200.
func getMetrics(ctx context.Context, client *http.Client, page string) (io.ReadCloser, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, page, http.NoBody)
	if err != nil {
		return nil, errors.New("invalid address")
	}
	request.Header.Set("Accept", "text/plain;version=0.0.4")
	request.Header.Set("User-Agent", "kitescope")
	response, err := client.Do(request)
	if errors.Is(err, context.DeadlineExceeded) {
		return nil, errors.New("timed out")
	}
	if own, ok := errors.AsType[*url.Error](err); ok {
		return nil, own.Err
	}
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		_ = response.Body.Close()
		return nil, errors.New("HTTP status " + response.Status)
	}
	return response.Body, nil
}

// outcome returns the error that sets the exit code of a watch: interrupted, failed if nothing was measured, or
// incomplete under --strict if a process never responded.
func (f *watchFlags) outcome(ctx context.Context, a *cli.App, u *usage.Usage, format render.Format) error {
	silent, measured := 0, 0
	for _, s := range u.Series {
		switch {
		case s.Readings > 0:
			measured++
		case s.Gaps > 0:
			silent++
			if format.Structured() {
				a.Warn("%s never responded: %s", s.Name, s.LastGap)
			}
		}
	}
	switch {
	case ctx.Err() != nil:
		return &cli.CodeError{Code: cli.ExitInterrupted} // the report was written
	case measured == 0 && silent > 0:
		return &cli.CodeError{
			Code: cli.ExitFailed,
			Err:  fmt.Errorf("nothing was measured: %s: %s", u.Series[0].Name, u.Series[0].LastGap),
		}
	case silent > 0 && a.Flags.Strict:
		return &cli.CodeError{Code: cli.ExitIncomplete}
	}
	return nil
}

// plotFile is a temporary file that becomes the plot; nil without --plot.
type plotFile struct {
	file *os.File
	path string
}

// plotFile creates the file before the watch starts, because a folder that cannot be written must be reported
// early.
func (f *watchFlags) plotFile() (*plotFile, error) {
	if f.plot == "" {
		return nil, nil //nolint:nilnil // no plot
	}
	file, err := os.CreateTemp(filepath.Dir(f.plot), ".plot-*")
	if own, ok := errors.AsType[*os.PathError](err); ok {
		err = own.Err // without the temporary name
	}
	if err != nil {
		return nil, fmt.Errorf("write the plot %s: %w", f.plot, err)
	}
	return &plotFile{file, f.plot}, nil
}

func (p *plotFile) remove() {
	if p != nil {
		_ = os.Remove(p.file.Name()) // gone after the rename
	}
}

// write writes the whole plot or nothing.
func (p *plotFile) write(a *cli.App, u *usage.Usage) error {
	if p == nil {
		return nil
	}
	out := bufio.NewWriter(p.file)
	err := errors.Join(profiles.PlotUsage(out, u, cli.Extension(p.path)), out.Flush(), p.file.Chmod(0o644),
		p.file.Close())
	if err == nil {
		err = os.Rename(p.file.Name(), p.path)
	}
	if err != nil {
		return fmt.Errorf("write the plot %s: %w", p.path, err)
	}
	a.Warn("wrote the plot to %s", p.path)
	return nil
}

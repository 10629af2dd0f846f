package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"kitescope/cmd/kitescope/cli"
	"kitescope/inspect/check/rules"
	"kitescope/inspect/live"
	"kitescope/inspect/session"
	"kitescope/inspect/session/record"
	"kitescope/inspect/source"
	"kitescope/internal/table"
	"kitescope/profile/pull"
)

// recordFlags holds the flags of the record command.
type recordFlags struct {
	dir             string
	every           time.Duration
	maxAge, maxSize string
	profileOn       string
	nodes           *cli.NodeFlags
}

const helpRecord = `Record a live cluster into a folder until interrupted: each change in etcd and, every --every,
the processes' answers, their metrics, and the state of etcd and the message queue. Secrets are
redacted before anything is written.

The folder is a source like a file: --from DIR, --from DIR --at 09:14, kitescope history
--from DIR. It can be read during recording, and copied with cp. If the recorder is
killed, at most the last --every is lost. Gaps are reported, here and by readers.

The oldest chunks are removed beyond --max-age or --max-size. Several clusters, given as
arguments, are recorded into one folder each below DIR.

--profile-on warning profiles the processes of a new finding (CPU, heap, goroutines) into
DIR/profiles, for kitescope profile top.`

func recordCommand(a *cli.App) *cobra.Command {
	var f recordFlags
	cmd := &cobra.Command{
		Use:  "record -O DIR [SOURCE...]",
		Long: helpRecord,
		Example: `  kitescope record -O /var/lib/kitescope/prod --from etcd://10.0.0.5:2379
  kitescope record -O rec --every 5s --max-age 2d --profile-on warning
  kitescope record -O rec etcd://10.0.0.5:2379 etcd://10.1.0.5:2379
  kitescope diagnose --from rec --at 09:14`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd.Context(), a, args) },
	}
	fl := cmd.Flags()
	fl.StringVarP(&f.dir, "out", "O", "", "folder to write to; resumes a recording in it")
	fl.DurationVar(&f.every, "every", 15*time.Second,
		"time between two rounds of RPCs to processes; also the maximum loss")
	fl.StringVar(&f.maxAge, "max-age", "7d", "how long to keep data; 0: forever")
	fl.StringVar(&f.maxSize, "max-size", "2GB", "how much to keep, per cluster; 0: all")
	fl.StringVar(&f.profileOn, "profile-on", "never",
		"take profiles when a finding of this severity or worse appears: info, warning, error, never")
	f.nodes = cli.AddNodeFlags(cmd, true)
	cli.RemoveFlags(cmd, "prometheus", "runtime") // the processes are queried in every round
	return cmd
}

func (f *recordFlags) run(ctx context.Context, a *cli.App, sources []string) error {
	o, err := f.options(a)
	if err != nil {
		return err
	}
	if len(sources) == 0 {
		sources = []string{a.Flags.From}
	} else if a.Flags.From != "" {
		sources = append([]string{a.Flags.From}, sources...)
	}
	defer limitHeap()()
	recorders := make([]*recorder, len(sources))
	for i, from := range sources {
		own := o
		if len(sources) > 1 {
			own.Dir = filepath.Join(f.dir, folderOf(from))
		}
		if recorders[i], err = f.recorder(ctx, a, from, own); err != nil {
			for _, r := range recorders[:i] {
				_ = r.Close()
			}
			return err
		}
	}
	a.ExtendGracePeriod()
	return runAll(ctx, a, recorders)
}

// limitHeap reduces the memory use of a recorder, because a recorder runs next to other processes and has time.
// It sets GOGC to 25. After two minutes it restores the previous value if the heap is smaller than 100 MiB,
// because frequent collections would then be most of the work. On a busy CPU, garbage is collected late and
// freed memory is returned even later. Therefore limitHeap also limits memory to about 1.5 times the live heap,
// unless GOMEMLIMIT is set. The returned function ends both measures.
func limitHeap() (stop func()) {
	const percent, settled, small = 25, 2 * time.Minute, 100 << 20
	before := debug.SetGCPercent(percent)
	later := time.AfterFunc(settled, func() {
		var m runtime.MemStats
		if runtime.ReadMemStats(&m); m.HeapAlloc < small {
			debug.SetGCPercent(before)
		}
	})
	if debug.SetMemoryLimit(-1) != math.MaxInt64 {
		return func() { later.Stop() }
	}
	done := make(chan struct{})
	go adjustMemoryLimit(done)
	return func() {
		later.Stop()
		close(done)
	}
}

// adjustMemoryLimit limits the memory of the process to 1.5 times the live heap plus 64 MiB, but at least 256 MiB. It
// updates the limit every two seconds, and removes it when done is closed.
func adjustMemoryLimit(done <-chan struct{}) {
	const every, beside, least = 2 * time.Second, 64 << 20, 256 << 20
	tick := time.NewTicker(every)
	defer tick.Stop()
	use := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	for {
		metrics.Read(use)
		if use[0].Value.Kind() == metrics.KindUint64 {
			live := int64(use[0].Value.Uint64())
			debug.SetMemoryLimit(max(least, live+live/2+beside))
		}
		select {
		case <-tick.C:
		case <-done:
			debug.SetMemoryLimit(math.MaxInt64)
			return
		}
	}
}

// options validates the flags and returns the options of a recording.
func (f *recordFlags) options(a *cli.App) (o record.Options, err error) {
	switch {
	case f.dir == "":
		return o, cli.Usage(errors.New("no folder to record to"), "give one: -O DIR")
	case f.every < time.Second:
		return o, cli.Usagef("--every must be at least 1s, not %s", f.every)
	case !a.Flags.At.IsZero():
		return o, cli.Usage(errors.New("record starts now, --at is a past moment"), "omit --at")
	}
	o = record.Options{Dir: f.dir, Every: f.every, Kitescope: cli.Version, Now: a.Now}
	if f.maxAge != "0" {
		if o.MaxAge, err = table.ParseDuration(f.maxAge); err != nil || o.MaxAge < time.Minute {
			return o, cli.Usagef("--max-age must be a minute or more, such as 7d, not %q", f.maxAge)
		}
	}
	if o.MaxSize, err = parseSize(f.maxSize); err != nil {
		return o, err
	}
	_, never, err := parseSeverity("profile-on", f.profileOn)
	switch {
	case err != nil:
		return o, err
	case !never && !f.nodes.Live:
		return o,
			cli.Usage(errors.New("--profile-on needs the processes, --live=false does not contact them"),
				"use only one of them")
	}
	return o, nil
}

var sizeWord = regexp.MustCompile(`^(\d+)\s*([KMGT]?)(i?)B?$`)

// parseSize parses a size such as "2GB" or "500MiB" and returns it in bytes. It returns an error unless the size
// is 0 or from 1 MB to 1 PiB.
func parseSize(word string) (int64, error) {
	m := sizeWord.FindStringSubmatch(word)
	if m == nil {
		return 0, cli.Usagef("--max-size must be a size such as 2GB or 500MB, not %q", word)
	}
	n, err := strconv.ParseInt(m[1], 10, 64)
	unit := int64(1000)
	if m[3] != "" {
		unit = 1024
	}
	for range strings.Index("KMGT", m[2]) + len(m[2]) {
		n *= unit
	}
	if err != nil || n < 0 || n > 1<<50 || n > 0 && n < 1_000_000 {
		return 0, cli.Usagef("--max-size must be at least 1MB, or 0, not %q", word)
	}
	return n, nil
}

// recorder records one cluster.
type recorder struct {
	*record.Recorder
	from   string
	open   func(context.Context) (source.Source, error)
	client *live.Client
}

func (f *recordFlags) recorder(ctx context.Context, a *cli.App, from string, o record.Options) (*recorder, error) {
	conn, err := a.ConnectionTo(from)
	if err != nil {
		return nil, err
	}
	spec, err := a.FeedSpec(conn, f.nodes)
	if err != nil {
		return nil, err
	}
	if !spec.IsLive() {
		return nil,
			cli.Usage(fmt.Errorf("record: %s does not change", conn.From),
				"it needs a live source: --from etcd://host:port")
	}
	if ask := spec.Password; ask != nil { // prompt only once, although the source is reopened after a failure
		spec.Password = func(ctx context.Context) (string, error) {
			password, err := ask(ctx)
			if err == nil {
				spec.Password = func(context.Context) (string, error) { return password, nil }
			}
			return password, err
		}
	}
	open := func(ctx context.Context) (source.Source, error) { return a.Loader().Open(ctx, spec) }
	src, err := open(ctx) // does not connect yet, so an error here is permanent
	if err != nil {
		return nil, err
	}
	o.Log = func(line string) { a.Warn("%s: %s", o.Dir, line) }
	r := &recorder{from: src.Origin().Location, open: open}
	_ = src.Close()
	options := spec.Nodes
	options.Tasks, options.Targets, options.Window = true, true, min(options.Window, f.every/2)
	if bar, never, _ := parseSeverity("profile-on", f.profileOn); !never {
		dialer, err := live.Open(options)
		if err != nil {
			return nil, err
		}
		o.Profiles = &record.Profiles{MinSeverity: bar, Checks: rules.All(), Pull: pull.Options{
			Kinds: []pull.Kind{pull.CPU, pull.Heap, pull.Goroutine}, Seconds: 5, Timeout: options.Timeout,
			Total: 3 * options.Timeout,
			Dial:  dialer.Dial, Now: a.Now, Tool: cli.Version, Command: "kitescope record --profile-on " + f.profileOn,
		}}
	}
	if r.Recorder, err = record.Open(ctx, o); err != nil {
		return nil, err
	}
	if spec.Live {
		options.Keep, options.RecordOnly = r.Keep, o.Profiles == nil
		if r.client, err = live.Open(options); err != nil {
			_ = r.Close()
			return nil, err
		}
	}
	return r, nil
}

// run records until ctx is canceled, which is not an error.
func (r *recorder) run(ctx context.Context, a *cli.App) error {
	var ask session.Asker
	if r.client != nil {
		defer r.client.Close()
		ask = r.client
	}
	a.Note("recording %s", r.from)
	err := r.Run(ctx, r.open, ask)
	if closing := r.Close(); err == nil {
		err = closing
	}
	return err
}

// runAll records all clusters until ctx is canceled. If a cluster cannot be recorded, the others continue.
func runAll(ctx context.Context, a *cli.App, recorders []*recorder) error {
	errs := make([]error, len(recorders))
	var running sync.WaitGroup
	for i, r := range recorders {
		running.Go(func() {
			if errs[i] = r.run(ctx, a); errs[i] != nil && len(recorders) > 1 {
				a.Warn("%s is no longer recorded: %v", r.from, errs[i])
			}
		})
	}
	running.Wait()
	return errors.Join(errs...)
}

// folderOf returns the folder name for a source, without user and password.
func folderOf(from string) string {
	scheme, rest, _ := strings.Cut(from, "://")
	rest = rest[strings.LastIndexByte(rest, '@')+1:] // drops user and password
	name := strings.Trim(regexp.MustCompile(`[^A-Za-z0-9._-]+`).ReplaceAllString(rest, "-"), "-.")
	return cmp.Or(name, scheme)
}

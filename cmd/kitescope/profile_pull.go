package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"kitescope/cmd/kitescope/cli"
	"kitescope/inspect/session"
	"kitescope/internal/hints"
	"kitescope/profile/pull"
)

// pullFlags holds the flags that control which profiles are pulled and where they are saved.
type pullFlags struct {
	seconds    int
	kinds      string
	out        string
	output     string
	every      time.Duration
	keep       int
	headerFile string
	busyWait   time.Duration
	force      bool
	nodes      *cli.NodeFlags
	// command is the command line for the manifest, without secrets. It is set by profile pull and snapshot save,
	// and "" otherwise.
	command string
}

// defaultBusyWait is a little more than net/http/pprof's default window of 30 s.
const defaultBusyWait = 35 * time.Second

const helpPull = `Take profiles of all processes at once, over the same window, and keep them with a
manifest: which node and role, where, Milvus version, build id, window, checksum.

Without a URL, the processes are those of the cluster (--from). A URL is any service
with net/http/pprof; with both, both are pulled:

  host:6060                              profiles below /debug/pprof
  http://host:6060/debug/pprof/heap      only this profile
  indexer=https://host/debug/pprof       with its own name

A password comes from the URL or KITESCOPE_PROFILE_PASSWORD, a bearer token from
KITESCOPE_PROFILE_TOKEN. They never go into a file or message.

-O names a new folder, or FILE.kite: a bundle of the cluster with the profiles in it.
With --every it gets a folder for each round.`

func profilePull(a *cli.App) *cobra.Command {
	var f pullFlags
	cmd := &cobra.Command{
		Use:  "pull [URL...]",
		Long: helpPull,
		Example: `  kitescope profile pull --from etcd://10.0.0.5:2379
  kitescope profile pull --kind cpu,heap,goroutine --seconds 30 -O before
  kitescope profile pull http://service:6060 --every 10m --keep 50 -O record`,
		RunE: func(cmd *cobra.Command, args []string) error {
			f.command = commandLine(cmd, args)
			return f.run(cmd.Context(), a, args)
		},
	}
	fl := cmd.Flags()
	fl.IntVar(&f.seconds, "seconds", int(profileWindow/time.Second),
		"window of CPU profiles, traces and deltas, in seconds")
	fl.StringVar(&f.kinds, "kind", string(pull.CPU),
		"cpu, heap, allocs, goroutine, mutex, block, threadcreate, trace; or what was added: allocs-delta")
	fl.StringVarP(&f.out, "out", "O", "", "folder to create, or FILE.kite; default: profiles-ROOT-TIME")
	fl.StringVarP(&f.output, "output", "o", "table", "table or json")
	fl.DurationVar(&f.every, "every", 0, "repeat at this interval until interrupted")
	fl.IntVar(&f.keep, "keep", 0, "with --every: rounds to keep; 0 for all")
	fl.StringVar(&f.headerFile, "header-file", "", "file of headers to send, lines of NAME: VALUE")
	fl.DurationVar(&f.busyWait, "busy-wait", defaultBusyWait, "how long to wait for another CPU profile")
	fl.BoolVar(&f.force, "force", false, "replace FILE.kite if it exists")
	f.nodes = cli.AddNodeFlags(cmd, true)
	cli.RemoveFlags(cmd, "window") // no rates are computed
	_ = cmd.RegisterFlagCompletionFunc("output", cli.FixedCompletions("table", "json"))
	_ = cmd.RegisterFlagCompletionFunc("kind", cli.FixedCompletions(kindWords()...))
	cmd.ValidArgsFunction = cobra.NoFileCompletions
	return cmd
}

func kindWords() []string {
	var words []string
	for _, k := range pull.Kinds() {
		words = append(words, string(k))
	}
	return words
}

// bundleEnding is the file name extension of bundles.
const bundleEnding = ".kite"

func (f *pullFlags) toBundle() bool { return strings.HasSuffix(f.out, bundleEnding) }

// check validates the flags before any process is contacted.
func (f *pullFlags) check(words []string) error {
	switch {
	case f.seconds < 1 || f.seconds > 3600:
		return cli.Usage(fmt.Errorf("--seconds must be 1 to 3600, not %d", f.seconds),
			"for longer: --every 10m, a record of many profiles")
	case f.every < 0 || f.keep < 0 || f.busyWait < 0:
		return cli.Usagef("--every, --keep and --busy-wait cannot be negative")
	case f.keep > 0 && f.every == 0:
		return cli.Usage(errors.New("--keep needs --every"), "for example: --every 10m --keep 50")
	case f.every > 0 && f.every < time.Duration(f.seconds)*time.Second:
		return cli.Usage(fmt.Errorf("--every %s is shorter than the window of %d s", f.every, f.seconds),
			"shorten the window or lengthen the interval")
	case f.every > 0 && f.output == "json":
		return cli.Usage(errors.New("--every never ends: no single result to print as JSON"),
			"each round has its manifest.json")
	case f.output != "table" && f.output != "json":
		return cli.Usagef("profile pull -o must be table or json, not %q", f.output)
	case f.out == "-":
		return cli.Usage(errors.New("profiles and their manifest need a folder, not standard output"),
			"give a folder; for a single profile: kitescope profile merge URL -O -")
	case f.force && !f.toBundle():
		return cli.Usage(errors.New("--force replaces only a bundle, never a folder"),
			"choose another folder, or FILE.kite")
	case f.toBundle() && f.every > 0:
		return cli.Usage(errors.New("a bundle holds one moment, --every makes a record"), "give a folder")
	case f.toBundle() && len(words) > 0:
		return cli.Usage(errors.New("a bundle needs a cluster, a URL has none"), "give a folder: -O profiles")
	}
	_, err := pull.ParseKinds(f.kinds)
	if err != nil {
		return cli.Usage(err, "for example: --kind cpu,heap,goroutine")
	}
	return nil
}

func (f *pullFlags) run(ctx context.Context, a *cli.App, words []string) error {
	if err := f.check(words); err != nil {
		return err
	}
	begun := a.Now()
	a.RunClock()
	if f.toBundle() {
		bundle := snapshotFlags{force: f.force, nodes: f.nodes, profiles: f, onPulled: func(m *pull.Manifest) error {
			if err := writePull(a, m, f.out, f.output); err != nil || m.Failed() < len(m.Profiles) {
				return err
			}
			return noProfile(m)
		}}
		return bundle.run(ctx, a, f.out)
	}
	j, err := f.newJob(a, f.nodes, words)
	if err != nil {
		return err
	}
	if f.every > 0 {
		return f.pullRecord(ctx, a, j)
	}
	if f.out != "" { // before the cluster is contacted
		if err := pull.CheckFolder(f.out); err != nil {
			return existsHint(err)
		}
	}
	path := f.out
	m, err := pullWithProgress(ctx, a, j,
		func(ctx context.Context, targets []pull.Target, o pull.Options) (*pull.Manifest, error) {
			if path == "" {
				path = pullFolder(o.Root, begun)
			}
			return pull.ToFolder(ctx, targets, o, path)
		})
	if m == nil {
		return existsHint(err)
	}
	if m.Failed() == len(m.Profiles) {
		path = ""
	}
	if writeErr := writePull(a, m, path, f.output); writeErr != nil {
		return writeErr
	}
	if err != nil {
		if path != "" {
			a.Warn("completed profiles are in %s", path)
		}
		return existsHint(err)
	}
	return pullOutcome(a, m, path)
}

// pullFolder returns the default output folder: profiles-ROOT-TIME, or profiles-TIME without a root.
func pullFolder(root string, begun time.Time) string {
	name := "profiles"
	if root != "" {
		name += "-" + strings.Map(pathSafe, filepath.Base(root))
	}
	return name + "-" + begun.UTC().Format("20060102T150405Z")
}

func pathSafe(r rune) rune {
	if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
		return r
	}
	return '_'
}

func existsHint(err error) error {
	if errors.Is(err, pull.ErrExists) {
		return cli.Usage(err, "choose another folder with -O; existing files are not touched")
	}
	return err
}

// pullOutcome prints how many profiles were saved and which failed. It returns an error if all failed, and exit
// code 4 under --strict if some failed.
func pullOutcome(a *cli.App, m *pull.Manifest, path string) error {
	failures := m.Failed()
	switch {
	case failures == len(m.Profiles):
		return noProfile(m)
	case failures == 0:
		a.Warn("saved %s in %s", profileCount(len(m.Profiles)), path)
		return nil
	}
	a.Warn("saved %s in %s", profileCount(len(m.Profiles)-failures), path)
	warnFailed(a, m)
	if a.Flags.Strict {
		return &cli.CodeError{Code: cli.ExitIncomplete}
	}
	return nil
}

func profileCount(profiles int) string {
	if profiles == 1 {
		return "1 profile"
	}
	return fmt.Sprintf("%d profiles", profiles)
}

// noProfile returns the error of a pull in which every profile failed, with the reason of the first.
func noProfile(m *pull.Manifest) error {
	first := &m.Profiles[0]
	return &hints.Error{
		Err:    fmt.Errorf("no profile could be taken: %s: %s: %s", first.Node, first.Outcome, first.Error),
		Advice: first.Hint,
	}
}

// maxFailures is the maximum number of failures that are printed one by one.
const maxFailures = 5

func warnFailed(a *cli.App, m *pull.Manifest) { warnFailures(a, m.Failures()) }

func warnFailures(a *cli.App, failures []*pull.Failure) {
	for i, f := range failures {
		if i == maxFailures {
			a.Warn("incomplete: and %d more reasons", len(failures)-i)
			return
		}
		a.Warn("incomplete: %s", f)
	}
}

// pullRecord pulls profiles in rounds, one per --every, until ctx is canceled.
func (f *pullFlags) pullRecord(ctx context.Context, a *cli.App, j *session.Job) error {
	dir := f.out
	if dir == "" {
		dir = "profiles-record"
	}
	record := &pull.Rolling{Dir: dir, Every: f.every, Keep: f.keep, Now: a.Now}
	a.Warn("a round every %s into %s, until interrupted", f.every, dir)
	round := func(ctx context.Context, dir string) (*pull.Manifest, error) {
		return pullWithProgress(ctx, a, j,
			func(ctx context.Context, targets []pull.Target, o pull.Options) (*pull.Manifest, error) {
				return pull.Run(ctx, targets, o, dir)
			})
	}
	err := record.Run(ctx, round, func(path string, m *pull.Manifest, err error) {
		if m == nil {
			a.Warn("no round: %v", err)
			return
		}
		a.Warn("round %d: %s in %s", m.Sequence, profileCount(len(m.Profiles)-m.Failed()), path)
		warnFailed(a, m)
	})
	return cmp.Or(err, context.Cause(ctx))
}

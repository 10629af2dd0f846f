package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/spf13/cobra"

	"kitescope/cmd/kitescope/cli"
	"kitescope/inspect/session"
	"kitescope/inspect/session/kept"
	"kitescope/inspect/source"
	"kitescope/profile"
	"kitescope/profile/pull"
	"kitescope/profile/read"
	"kitescope/profile/symbol"
	"kitescope/words/hints"
)

// profileInput are the flags that say how profiles are found and read.
type profileInput struct {
	weightBy string
	demangle string
	column   int
	threads  bool
	symbols  []string
	nodes    []string
	pull     pullFlags
}

// weights are the words of --weight-by.
var weights = []string{"period", "count"}

func (in *profileInput) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&in.pull.kinds, "kind", string(pull.CPU), "which profiles of a folder, bundle or cluster: cpu, heap, allocs, goroutine, mutex, block, ...")
	f.IntVar(&in.pull.seconds, "seconds", int(profileWindow/time.Second), "window in seconds, where profiles are pulled first")
	f.StringVar(&in.pull.headerFile, "header-file", "", "file with headers to send along when pulling, one NAME: VALUE a line")
	f.StringVar(&in.weightBy, "weight-by", weights[0], "weigh samples of perf by period, or count them: period or count")
	f.StringVar(&in.demangle, "demangle", symbol.Simple.String(), "how much of C++ and Rust names: simple, templates, full or none")
	f.StringArrayVar(&in.nodes, "node", nil, "only this node: querynode-3; repeatable")
	f.IntVar(&in.column, "column", 0, "of a difference, as folded stacks with two counts a line or in speedscope: 1 reads before, 2 after")
	f.BoolVar(&in.threads, "threads", false, "keep threads of perf and JFR apart: label thread")
	f.StringArrayVar(&in.symbols, "symbols", nil, "folder with unstripped libraries or debug files for native frames without names, found by build id; repeatable")
	in.pull.busyWait, in.pull.output = defaultBusyWait, "table"
	in.pull.nodes = cli.AddNodeFlags(cmd, true)
	cli.LeaveOut(cmd, "window") // no rates are asked for
	for _, name := range cli.NodeFlagNames {
		_ = f.MarkHidden(name) // "profile pull" lists them
	}
	_ = cmd.RegisterFlagCompletionFunc("kind", cli.Fixed(kindWords()...))
	_ = cmd.RegisterFlagCompletionFunc("node", completeNodes)
	_ = cmd.RegisterFlagCompletionFunc("weight-by", cli.Fixed(weights...))
	_ = cmd.RegisterFlagCompletionFunc("demangle", cli.Fixed("simple", "templates", "full", "none"))
}

// options are how files are read.
func (in *profileInput) options() (read.Options, error) {
	o := read.Options{Column: in.column, Threads: in.threads}
	var err error
	if o.Demangle, err = symbol.ModeOf(in.demangle); err != nil {
		return o, cli.Usage(err, "")
	}
	switch in.weightBy {
	case weights[0]:
	case weights[1]:
		o.WeightBy = read.ByCount
	default:
		return o, cli.Usagef("--weight-by is period or count, not %q", in.weightBy)
	}
	if in.column < 0 || in.column > 2 {
		return o, cli.Usagef("--column is 1 or 2, not %d", in.column)
	}
	return o, nil
}

// chosenProfile is one of the profiles that a command line names. It is read when it is needed.
type chosenProfile struct {
	// name is how a person finds it again; node, role and kind are "" if nothing tells.
	name, node, role string
	// words name it on a command line, with the flags that choose it where words[0] holds several; nil
	// where none can: what was pulled just now, a profile of one of several rounds in a bundle.
	words    []string
	kind     pull.Kind
	from, to time.Time
	// round counts those of a rolling record, from 0.
	round int
	load  func(ctx context.Context) (*profile.Profile, error)
	// open gives the bytes; nil where they can be read but once. buildID is what a manifest says, "" if nothing does.
	open    func() (io.ReadCloser, error)
	buildID string
}

// profileChoice are the profiles that words name, and what must be removed afterwards.
type profileChoice struct {
	words string
	list  []chosenProfile
	temp  []string
}

func (c *profileChoice) close() {
	for _, dir := range c.temp {
		_ = os.RemoveAll(dir)
	}
}

// chooser finds profiles.
type chooser struct {
	*cli.App
	in   *profileInput
	read read.Options
	kind pull.Kind // "": all
	// missing hears of what records were made to have, and may have not; nil: nobody does.
	missing func(r *pull.Record, path string)
	profileChoice
}

// chooseProfiles finds the profiles that words name, or those of the cluster of --from where there
// are none. kind "" takes all kinds of folders and bundles.
func (in *profileInput) chooseProfiles(ctx context.Context, a *cli.App, words []string) (*profileChoice, error) {
	o, err := in.options()
	if err != nil {
		return nil, err
	}
	kinds, err := pull.ParseKinds(in.pull.kinds)
	if err != nil {
		return nil, cli.Usage(err, "")
	}
	if len(kinds) != 1 {
		return nil, cli.Usagef("--kind names one kind here, not %s", in.pull.kinds)
	}
	c := &chooser{App: a, in: in, read: o, kind: kinds[0]}
	c.missing = c.warnMissing
	if err = c.all(ctx, words); err == nil {
		err = c.only(in.nodes)
	}
	if err != nil {
		c.close()
		return nil, err
	}
	c.words = strings.Join(cli.RedactWords(words), ", ")
	return &c.profileChoice, nil
}

// only leaves the profiles of some nodes. Which nodes a single file has, its labels say when it is read.
func (c *profileChoice) only(nodes []string) error {
	if len(nodes) == 0 {
		return nil
	}
	var known []string
	kept := slices.DeleteFunc(slices.Clone(c.list), func(p chosenProfile) bool {
		if p.node != "" && !slices.Contains(known, p.node) {
			known = append(known, p.node)
		}
		return p.node != "" && !slices.Contains(nodes, p.node)
	})
	for _, node := range nodes {
		if len(known) > 0 && !slices.Contains(known, node) {
			return cli.Usage(fmt.Errorf("no profile of node %q", node), "there are: "+strings.Join(known, ", "))
		}
	}
	c.list = kept
	return nil
}

func (c *chooser) all(ctx context.Context, words []string) error {
	var urls []string
	for _, word := range words {
		if strings.Contains(word, "://") {
			urls = append(urls, word) // pulled together, over one window
			continue
		}
		if err := c.file(ctx, word); err != nil {
			return err
		}
	}
	if len(urls) > 0 {
		return c.pulled(ctx, urls)
	}
	if len(words) > 0 {
		return nil
	}
	conn, err := c.Connection()
	if err != nil {
		return cli.Usage(
			errors.New("no profile named"),
			"name a file, a folder or bundle of profile pull, or a URL; --from etcd://host:2379 takes the processes of a cluster",
		)
	}
	if cli.IsLiveSource(conn.From) {
		return c.pulled(ctx, nil)
	}
	return c.file(ctx, conn.From)
}

// file finds what one path holds.
func (c *chooser) file(ctx context.Context, path string) error {
	if path == "-" {
		if c.InTTY {
			return cli.Usage(errors.New("- reads standard input, and that is a terminal"), "pipe a profile into it")
		}
		c.list = append(c.list, chosenProfile{name: "standard input", load: c.loader(func(ctx context.Context) (*profile.Profile, error) {
			return read.From(ctx, "standard input", session.Interruptible(ctx, c.App.In), c.read)
		})})
		return nil
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return noSuchFile(path)
	case err != nil:
		return fmt.Errorf("read %s: %w", path, err)
	case info.IsDir():
		record, err := pull.Read(path)
		if err != nil {
			return err
		}
		return c.record(record, path)
	case info.Mode().IsRegular() && isBundle(path): // what a pipe has said it does not say again
		return c.bundle(ctx, path)
	}
	var open func() (io.ReadCloser, error)
	if info.Mode().IsRegular() {
		open = func() (io.ReadCloser, error) { return os.Open(path) }
	}
	c.list = append(c.list, chosenProfile{name: path, words: []string{path}, open: open, load: c.loader(func(ctx context.Context) (*profile.Profile, error) {
		return read.Open(ctx, path, c.read)
	})})
	return nil
}

// isBundle reports whether a file begins as a bundle does: with a tar archive in zstd. Profiles may be in zstd, too.
func isBundle(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	z, err := zstd.NewReader(f, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(256<<20))
	if err != nil {
		return false
	}
	defer z.Close()
	var head [512]byte
	const magic = 257 // POSIX.1-1988, ustar: where a header says what it is
	_, err = io.ReadFull(z, head[:])
	return err == nil && bytes.HasPrefix(head[magic:], []byte("ustar"))
}

func (c *chooser) bundle(ctx context.Context, path string) error {
	src, err := c.App.Loader().Open(ctx, c.Spec(cli.Connection{ContextSpec: cli.ContextSpec{From: path}}))
	if err != nil {
		return err
	}
	defer src.Close()
	bundle, ok := src.(*source.Bundle)
	if !ok {
		return &hints.Error{Err: fmt.Errorf("read %s: it is no profile, and no bundle", path), Advice: "unpack it first"}
	}
	record, err := kept.Profiles(ctx, bundle)
	if err != nil {
		return err
	}
	if record == nil {
		return &hints.Error{Err: fmt.Errorf("read %s: no profiles in this bundle", path), Advice: "kitescope profile pull -O FILE.kite makes a bundle with profiles"}
	}
	return c.record(record, path)
}

// record takes the profiles of the kind that is wanted.
func (c *chooser) record(r *pull.Record, path string) error {
	if c.missing != nil {
		c.missing(r, path)
	}
	var kinds []string
	found := false
	for _, item := range r.Items {
		if item.Kind == pull.Trace || c.kind != "" && item.Kind != c.kind && item.Kind != "" {
			if !slices.Contains(kinds, string(item.Kind)) {
				kinds = append(kinds, string(item.Kind))
			}
			continue
		}
		found = true
		c.list = append(c.list, chosenProfile{
			name: joinPath(path, item.Name), words: recordWords(r, &item, path), node: item.Node, role: item.Role, kind: item.Kind, from: item.From, to: item.To, round: item.Round,
			open: item.Open, buildID: item.BuildID,
			load: c.loader(func(ctx context.Context) (*profile.Profile, error) {
				f, err := item.Open()
				if err != nil && path != "" {
					err = fmt.Errorf("%s: %w", path, err)
				}
				if err != nil {
					return nil, err
				}
				defer f.Close()
				return read.From(ctx, joinPath(path, item.Name), f, c.read)
			}),
		})
	}
	if !found {
		none := &hints.Error{Err: fmt.Errorf("read %s: no %s profile in it", path, c.kind)}
		if len(kinds) > 0 {
			none.Advice = "it has: --kind " + strings.Join(kinds, ", ")
		}
		return none
	}
	return nil
}

// recordWords name a profile of a record on a command line: a folder has it as a file, a bundle shows it by node and kind.
func recordWords(r *pull.Record, item *pull.Item, path string) []string {
	info, err := os.Stat(path)
	switch {
	case err != nil: // pulled just now
		return nil
	case info.IsDir():
		return []string{joinPath(path, item.Name)}
	case len(r.Rounds) > 1 || item.Node == "" || item.Kind == "":
		return nil
	}
	return []string{path, "--kind", string(item.Kind), "--node", item.Node}
}

// joinPath is how a profile of a record is called; one that was taken just now has no path.
func joinPath(path, name string) string {
	if path == "" {
		return name
	}
	return path + "/" + name
}

// pulled takes profiles of services, or of the processes of the cluster, and holds them in a temporary folder.
func (c *chooser) pulled(ctx context.Context, urls []string) error {
	dir, err := os.MkdirTemp("", "kitescope-profiles-")
	if err != nil {
		return fmt.Errorf("pull: %w", err)
	}
	c.temp = append(c.temp, dir)
	f := c.in.pull
	f.kinds = string(c.kind)
	if err := f.check(urls); err != nil {
		return err
	}
	j, err := f.newPullJob(c.App, f.nodes, urls)
	if err != nil {
		return err
	}
	targets, err := j.targets(ctx)
	if err != nil {
		return err
	}
	shown := j.showPull(c.App)
	m, err := pull.RunTo(ctx, targets, j.options, dir)
	shown.stop()
	if err != nil {
		return err
	}
	if m.Failed() == len(m.Profiles) {
		return pullOutcome(c.App, m, "")
	}
	record, err := pull.Read(dir)
	if err != nil {
		return err
	}
	name := strings.Join(cli.RedactWords(urls), " ")
	if len(urls) == 0 {
		name = m.Root
	}
	return c.record(record, name)
}

// loader reads, and names what has no name where symbols were given.
func (c *chooser) loader(body func(context.Context) (*profile.Profile, error)) func(context.Context) (*profile.Profile, error) {
	return func(ctx context.Context) (*profile.Profile, error) {
		p, err := body(ctx)
		if err != nil || len(c.in.symbols) == 0 {
			return p, err
		}
		named, _, err := symbol.Apply(ctx, p, symbol.Options{Dirs: c.in.symbols, Demangle: c.read.Demangle})
		return named, err // its notes say how many were named, and why others were not
	}
}

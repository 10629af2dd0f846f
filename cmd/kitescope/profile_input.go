package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"kitescope/cmd/kitescope/cli"
	"kitescope/inspect/session"
	"kitescope/inspect/source"
	"kitescope/internal/hints"
	"kitescope/profile"
	"kitescope/profile/choose"
	"kitescope/profile/pgo"
	"kitescope/profile/pull"
	"kitescope/profile/read"
)

// profileInput holds the flags that control how profiles are found and read.
type profileInput struct {
	mangled bool
	nodes   []string
	pull    pullFlags
}

// Register adds the flags to cmd.
func (in *profileInput) Register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&in.pull.kinds, "kind", string(pull.CPU),
		"kind of profile: cpu, heap, allocs, goroutine, mutex, block, ...")
	f.IntVar(&in.pull.seconds, "seconds", int(profileWindow/time.Second), "window in seconds, when pulling profiles")
	f.StringArrayVar(&in.nodes, "node", nil, "only this node: querynode-3; repeatable")
	in.pull.busyWait, in.pull.output = defaultBusyWait, "table"
	in.pull.nodes = cli.AddNodeFlags(cmd, true)
	cli.RemoveFlags(cmd, "window") // no rates are computed
	_ = f.MarkHidden("live")
	_ = cmd.RegisterFlagCompletionFunc("kind", cli.FixedCompletions(kindWords()...))
	_ = cmd.RegisterFlagCompletionFunc("node", completeNodes)
}

// KeepMangled disables the demangling of symbol names.
func (in *profileInput) KeepMangled() { in.mangled = true }

// chooser returns a Chooser that finds profiles according to the flags. It prints a warning for each problem and
// failure in a record. It returns a usage error unless --kind names exactly one kind.
func (in *profileInput) chooser(a *cli.App) (*choose.Chooser, error) {
	kinds, err := pull.ParseKinds(in.pull.kinds)
	if err != nil {
		return nil, cli.Usage(err, "")
	}
	if len(kinds) != 1 {
		return nil, cli.Usagef("--kind takes one kind here, not %s", in.pull.kinds)
	}
	return &choose.Chooser{
		Read: read.Options{Mangled: in.mangled}, Kind: kinds[0], Nodes: in.nodes,
		Stdin: func(ctx context.Context) (io.Reader, error) {
			if a.InTTY {
				return nil,
					cli.Usage(errors.New("- reads standard input, but it is a terminal"), "pipe a profile into it")
			}
			return session.Interruptible(ctx, a.In), nil
		},
		Bundle: func(ctx context.Context, path string) (*pull.Record, bool, error) {
			if !source.IsBundle(path) {
				return nil, false, nil
			}
			record, err := bundledProfiles(ctx, a, path)
			return record, true, err
		},
		Pull: func(ctx context.Context, urls []string, dir string) (string, error) {
			return in.pullInto(ctx, a, urls, dir)
		},
		Missing: func(m choose.Missing) {
			a.ProfilesMissing = true
			for _, p := range m.Problems {
				a.Note("incomplete: %s: %s: %s", m.Path, p.Where, p.Reason)
			}
			warnFailures(a, m.Failures)
		},
	}, nil
}

// choose finds the profiles that words name. Without words, it finds the profiles of the --from cluster: it pulls
// them if the cluster is live, and reads them from the file otherwise.
func (in *profileInput) choose(ctx context.Context, a *cli.App, words []string) (*choose.Choice, error) {
	c, err := in.chooser(a)
	if err != nil {
		return nil, err
	}
	if len(words) > 0 {
		choice, err := c.Choose(ctx, words)
		return choice, profilesError(err)
	}
	conn, err := a.Connection()
	if err != nil {
		return nil, cli.Usage(
			errors.New("no profile given"),
			"give a file, a folder or bundle from profile pull, a URL, or a live cluster with --from etcd://host:2379",
		)
	}
	var choice *choose.Choice
	if cli.IsLiveSource(conn.From) {
		choice, err = c.Choose(ctx, nil)
	} else {
		choice, err = c.File(ctx, conn.From)
	}
	return choice, profilesError(err)
}

// profilesError turns err into a usage error if a node has no profiles, or if a live cluster is needed and the
// source is a file.
func profilesError(err error) error {
	var node *choose.UnknownNodeError
	var file *session.NotLiveError
	if errors.As(err, &node) || errors.As(err, &file) {
		return cli.Usage(err, hints.Of(err))
	}
	return err
}

// bundledProfiles reads the profiles of a bundle. It returns an error with a hint if the file is not a bundle or
// has no profiles.
func bundledProfiles(ctx context.Context, a *cli.App, path string) (*pull.Record, error) {
	record, isBundle, err := a.Loader().Profiles(ctx, a.Spec(cli.Connection{ContextSpec: cli.ContextSpec{From: path}}))
	switch {
	case err != nil:
		return nil, err
	case !isBundle:
		return nil, &hints.Error{Err: fmt.Errorf("read %s: not a profile or bundle", path), Advice: "unpack it first"}
	case record == nil:
		return nil,
			&hints.Error{
				Err:    fmt.Errorf("read %s: no profiles in this bundle", path),
				Advice: "kitescope profile pull -O FILE.kite makes a bundle with profiles",
			}
	}
	return record, nil
}

// pullInto pulls profiles of the services at urls, or of the processes of the cluster if urls is empty, into dir.
// It returns their name: the root of the cluster, or the URLs without credentials. It returns an error if every
// profile failed.
func (in *profileInput) pullInto(ctx context.Context, a *cli.App, urls []string, dir string) (string, error) {
	if err := in.pull.check(urls); err != nil {
		return "", err
	}
	j, err := in.pull.newJob(a, in.pull.nodes, urls)
	if err != nil {
		return "", err
	}
	m, err := pullWithProgress(ctx, a, j,
		func(ctx context.Context, targets []pull.Target, o pull.Options) (*pull.Manifest, error) {
			return pull.RunTo(ctx, targets, o, dir)
		})
	switch {
	case err != nil:
		return "", err
	case m.Failed() == len(m.Profiles):
		return "", noProfile(m)
	case len(urls) == 0:
		return m.Root, nil
	}
	return strings.Join(cli.RedactWords(urls), " "), nil
}

// Merged reads the profiles that words name and merges them into one. The samples of each node have a node label,
// unless collapse is set, which adds up the samples of all nodes.
func (in *profileInput) Merged(
	ctx context.Context, a *cli.App, words []string, collapse bool,
) (*profile.Profile, error) {
	choice, err := in.choose(ctx, a, words)
	if err != nil {
		return nil, err
	}
	defer choice.Close()
	if len(choice.List) > 1 {
		defer a.Collector.LimitGrowth()()
	}
	p, err := choice.Merge(ctx, collapse)
	if err == nil {
		warnEmpty(a, p)
	}
	return p, err
}

// warnEmpty prints a note if the profile has no samples, with the likely reason for lock profiles.
func warnEmpty(a *cli.App, p *profile.Profile) {
	if p.Len() > 0 {
		return
	}
	for _, t := range p.Types {
		if t.Type == "contentions" {
			a.Note("%s has no samples: the process samples locks only if it sets a rate "+
				"(runtime.SetMutexProfileFraction, SetBlockProfileRate)", p.Origin.Name)
			return
		}
	}
	a.Note("%s has no samples", p.Origin.Name)
}

// Inputs reads the profiles that words name without merging them. A profile that cannot be read becomes an input
// with the reason. It returns an error if a path does not exist, because that is a mistake in the command line.
func (in *profileInput) Inputs(ctx context.Context, a *cli.App, words []string) ([]pgo.Input, error) {
	choice, err := in.choose(ctx, a, words)
	if err != nil {
		return nil, err
	}
	defer choice.Close()
	if len(choice.List) > 1 {
		defer a.Collector.LimitGrowth()()
	}
	return choice.Inputs(ctx)
}

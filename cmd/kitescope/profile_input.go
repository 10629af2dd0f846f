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

// profileInput are the flags that say how profiles are found and read.
type profileInput struct {
	mangled bool
	nodes   []string
	pull    pullFlags
}

// Register adds them.
func (in *profileInput) Register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&in.pull.kinds, "kind", string(pull.CPU), "kind of profile: cpu, heap, allocs, goroutine, mutex, block, ...")
	f.IntVar(&in.pull.seconds, "seconds", int(profileWindow/time.Second), "window in seconds, when pulling profiles")
	f.StringArrayVar(&in.nodes, "node", nil, "only this node: querynode-3; repeatable")
	in.pull.busyWait, in.pull.output = defaultBusyWait, "table"
	in.pull.nodes = cli.AddNodeFlags(cmd, true)
	cli.LeaveOut(cmd, "window") // no rates are asked for
	_ = f.MarkHidden("live")
	_ = cmd.RegisterFlagCompletionFunc("kind", cli.Fixed(kindWords()...))
	_ = cmd.RegisterFlagCompletionFunc("node", completeNodes)
}

// KeepMangled leaves names as the linker has them.
func (in *profileInput) KeepMangled() { in.mangled = true }

// chooser finds profiles as the flags say, and tells of what records lack.
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
				return nil, cli.Usage(errors.New("- reads standard input, but it is a terminal"), "pipe a profile into it")
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
			a.Lacking = true
			for _, p := range m.Problems {
				a.Note("incomplete: %s: %s: %s", m.Path, p.Where, p.Reason)
			}
			warnFailures(a, m.Failures)
		},
	}, nil
}

// choose finds the profiles that words name, or those of the cluster of --from where there are none.
func (in *profileInput) choose(ctx context.Context, a *cli.App, words []string) (*choose.Choice, error) {
	c, err := in.chooser(a)
	if err != nil {
		return nil, err
	}
	if len(words) > 0 {
		choice, err := c.Choose(ctx, words)
		return choice, wrongProfiles(err)
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
	return choice, wrongProfiles(err)
}

// wrongProfiles makes a usage error of a node that nothing is of, and of a cluster that is a file.
func wrongProfiles(err error) error {
	var node *choose.UnknownNodeError
	var file *session.NotLiveError
	if errors.As(err, &node) || errors.As(err, &file) {
		return cli.Usage(err, hints.Of(err))
	}
	return err
}

// bundledProfiles are the profiles of a bundle, which has to have some.
func bundledProfiles(ctx context.Context, a *cli.App, path string) (*pull.Record, error) {
	record, isBundle, err := a.Loader().Profiles(ctx, a.Spec(cli.Connection{ContextSpec: cli.ContextSpec{From: path}}))
	switch {
	case err != nil:
		return nil, err
	case !isBundle:
		return nil, &hints.Error{Err: fmt.Errorf("read %s: not a profile or bundle", path), Advice: "unpack it first"}
	case record == nil:
		return nil, &hints.Error{Err: fmt.Errorf("read %s: no profiles in this bundle", path), Advice: "kitescope profile pull -O FILE.kite makes a bundle with profiles"}
	}
	return record, nil
}

// pullInto takes profiles of services, or of the processes of the cluster, and says how they are called.
func (in *profileInput) pullInto(ctx context.Context, a *cli.App, urls []string, dir string) (string, error) {
	if err := in.pull.check(urls); err != nil {
		return "", err
	}
	j, err := in.pull.newJob(a, in.pull.nodes, urls)
	if err != nil {
		return "", err
	}
	m, err := shownPull(ctx, a, j, func(ctx context.Context, targets []pull.Target, o pull.Options) (*pull.Manifest, error) {
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

// Merged reads what words name and makes one profile of it, with nodes apart by their label, or added up.
func (in *profileInput) Merged(ctx context.Context, a *cli.App, words []string, collapse bool) (*profile.Profile, error) {
	choice, err := in.choose(ctx, a, words)
	if err != nil {
		return nil, err
	}
	defer choice.Close()
	if len(choice.List) > 1 {
		defer a.Collector.Often()()
	}
	p, err := choice.Merge(ctx, collapse)
	if err == nil {
		warnEmpty(a, p)
	}
	return p, err
}

// warnEmpty says why there may be nothing to see.
func warnEmpty(a *cli.App, p *profile.Profile) {
	if p.Len() > 0 {
		return
	}
	for _, t := range p.Types {
		if t.Type == "contentions" {
			a.Note("%s has no samples: the process samples locks only if it sets a rate (runtime.SetMutexProfileFraction, SetBlockProfileRate)", p.Origin.Name)
			return
		}
	}
	a.Note("%s has no samples", p.Origin.Name)
}

// Inputs reads the profiles that words name, each on its own. What cannot be read is an input with its
// reason; a path that does not exist is a mistake in the command line.
func (in *profileInput) Inputs(ctx context.Context, a *cli.App, words []string) ([]pgo.Input, error) {
	choice, err := in.choose(ctx, a, words)
	if err != nil {
		return nil, err
	}
	defer choice.Close()
	if len(choice.List) > 1 {
		defer a.Collector.Often()()
	}
	return choice.Inputs(ctx)
}

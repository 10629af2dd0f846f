package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"kitescope/cmd/kitescope/cli"
	"kitescope/inspect/session"
	"kitescope/inspect/source"
	"kitescope/internal/words"
	"kitescope/profile/pull"
)

func snapshotSave(a *cli.App) *cobra.Command {
	var f snapshotFlags
	var window time.Duration
	cmd := &cobra.Command{
		Use: "save FILE",
		Long: `Write all metadata, read at one revision, into a bundle. Password hashes, tokens and
keys are redacted. FILE appears only when complete.

--history adds the source's past revisions, redacted too, for kitescope history and --at.
With --at, the bundle has the metadata as of that moment.`,
		Example: `  kitescope snapshot save today.kite --from etcd://10.0.0.5:2379
  kitescope snapshot save before.kite --from etcd://10.0.0.5:2379 --at 09:10
  kitescope snapshot save case.kite --live --profile 10s
  kitescope snapshot save incident.kite --from etcd_snapshot.db --history
  kitescope snapshot save - --from etcd_snapshot.db > case.kite`,
		Args: cli.Args(1, 1, "the file to write", "kitescope snapshot save today.kite"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("profile") {
				profiles, err := snapshotProfiles(window)
				if err != nil {
					return err
				}
				profiles.command = commandLine(cmd, args)
				f.profiles = profiles
			}
			return f.run(cmd.Context(), a, args[0])
		},
	}
	fl := cmd.Flags()
	fl.BoolVar(&f.force, "force", false, "replace FILE if it exists")
	fl.BoolVar(&f.history, "history", false, "include all revisions of the source, for history and --at")
	fl.DurationVar(&window, "profile", 0,
		"include profiles of all processes: CPU over this time, heap, goroutines; implies --live")
	fl.StringVar(&f.profilesFrom, "profiles", "", "include the profiles of a folder from profile pull")
	a.AddAt(cmd)
	f.nodes = cli.AddNodeFlags(cmd, false)
	cli.RemoveFlags(cmd, "prometheus") // a bundle keeps only responses of the processes themselves
	return cmd
}

// snapshotFlags holds the flags of snapshot save.
type snapshotFlags struct {
	force   bool
	history bool
	nodes   *cli.NodeFlags
	// profiles holds the flags of the profiles to pull and include. If nil, no profiles are pulled.
	profiles *pullFlags
	// onPulled, if not nil, is called with the manifest of the pulled profiles. Its error is returned by run.
	onPulled func(*pull.Manifest) error
	// profilesFrom is a folder of profiles to include, or "".
	profilesFrom string
}

// snapshotProfiles returns the flags of the profiles for snapshot save --profile: CPU over window, heap and
// goroutines. It returns a usage error unless window is a whole number of seconds.
func snapshotProfiles(window time.Duration) (*pullFlags, error) {
	f := &pullFlags{
		seconds: int(window.Seconds()), kinds: "cpu,heap,goroutine", output: "table", busyWait: defaultBusyWait,
	}
	if window < time.Second || window != window.Truncate(time.Second) {
		return nil,
			cli.Usage(fmt.Errorf("--profile must be whole seconds, not %s", window), "for example: --profile 10s")
	}
	return f, f.check(nil)
}

// checkSave validates the flags and the path before the source is opened.
func (f *snapshotFlags) checkSave(a *cli.App, path string) error {
	if path == "-" && a.OutTTY {
		return cli.Usage(errors.New("a bundle is binary and stdout is a terminal"), "give a file, or pipe it")
	}
	if _, err := os.Lstat(path); err == nil && !f.force && path != "-" {
		return cli.Usage(fmt.Errorf("save %s: it exists", path), "use --force to replace it")
	}
	switch past := !a.Flags.At.IsZero(); {
	case f.profiles != nil && f.profilesFrom != "":
		return cli.Usagef("--profile and --profiles cannot be combined")
	case past && f.profiles != nil:
		return cli.Usage(errors.New("--profile profiles the present, --at saves a past moment"), "use only one of them")
	case past && f.history:
		return cli.Usage(errors.New("--history saves all history, --at one moment"), "use only one of them")
	case past && f.nodes.Live:
		return cli.Usage(errors.New("--live saves the present, --at a past moment"), "use only one of them")
	}
	return nil
}

func (f *snapshotFlags) run(ctx context.Context, a *cli.App, path string) error {
	if err := f.checkSave(a, path); err != nil {
		return err
	}
	conn, err := a.Connection()
	if err != nil {
		return err
	}
	nodes := *f.nodes
	nodes.Live = nodes.Live || f.profiles != nil
	spec, err := a.FeedSpec(conn, &nodes)
	if err != nil {
		return err
	}
	src, err := a.Loader().Open(ctx, spec)
	if err != nil {
		return err
	}
	defer src.Close()
	var past source.Past
	if f.history {
		if past, err = source.PastOf(src); err != nil {
			return err
		}
	}
	// Pull the profiles first, because the pinned revision could be compacted while they run.
	profiles, err := f.spoolProfiles(ctx, a, src, &nodes)
	if err != nil {
		return err
	}
	defer profiles.Close()
	pinned, err := src.Pin(ctx)
	if err != nil {
		return err
	}
	defer pinned.Close()
	snapshot := a.StartProgress(pinned)
	defer snapshot.Done()
	said, c, err := session.CollectAnswers(ctx, src, snapshot, spec)
	if err != nil {
		return err
	}
	defer said.Close()
	s := &savedSnapshot{silent: session.UnresponsiveSessions(c)}
	s.BundleContents = session.BundleContents{
		Snapshot: snapshot, Answers: said, Profiles: profiles, Past: past, Kitescope: cli.Version,
	}
	a.ExtendGracePeriod()
	if err := writeSnapshot(ctx, a, path, s); err != nil {
		return fmt.Errorf("save %s: %w", path, err)
	}
	if err := printSaved(a, path, s); err != nil || f.onPulled == nil {
		return err
	}
	return f.onPulled(s.Profiles.Manifest())
}

// savedSnapshot holds the content of a bundle and the size of each part.
type savedSnapshot struct {
	session.BundleContents
	silent  []string
	stats   source.BundleStats
	written byteCount
}

func writeSnapshot(ctx context.Context, a *cli.App, path string, s *savedSnapshot) error {
	save := func(w io.Writer) error {
		var err error
		s.stats, err = s.Write(ctx, io.MultiWriter(w, &s.written))
		return err
	}
	if path == "-" {
		return a.WriteBytes(func(w *bufio.Writer) error { return save(w) })
	}
	return cli.WriteFileAtomic(path, 0o600, func(f *os.File) error { return save(f) })
}

// printSaved prints the content and the gaps of the bundle. It returns exit code 4 under --strict if anything
// is missing.
func printSaved(a *cli.App, path string, s *savedSnapshot) error {
	h := s.Snapshot.Header()
	a.Warn("saved %s: %d keys of %s at revision %d and %d node answers; %s of metadata, file %s; secrets redacted",
		path, s.stats.Keys, h.Root, h.Revision, s.Answers.N,
		words.AppendBytes(nil, s.stats.Bytes), words.AppendBytes(nil, int64(s.written)))
	if n := s.stats.Dropped; n > 0 {
		a.Warn("left out because the name contains a secret: %s", words.Plural(n, "key"))
	}
	if s.Past != nil {
		a.Warn("including history: %d changes in %d revisions", s.stats.Past.Changes, s.stats.Past.Revisions)
	}
	gaps := s.Snapshot.Gaps()
	_ = a.WarnGaps(gaps)
	lacking := len(gaps) + len(s.Answers.Gaps) + len(s.silent)
	for _, gap := range s.Answers.Gaps {
		a.Warn("incomplete: could not read %s: %s", gap.Where, gap.Reason)
	}
	for _, line := range s.silent {
		a.Warn("incomplete: %s", line)
	}
	if m := s.Profiles.Manifest(); m != nil {
		a.Warn("including %d of %d requested profiles", len(m.Profiles)-m.Failed(), len(m.Profiles))
		warnFailed(a, m)
		lacking += m.Failed()
	}
	if a.Flags.Strict && lacking > 0 {
		return &cli.CodeError{Code: cli.ExitIncomplete}
	}
	return nil
}

// byteCount is an io.Writer that counts the bytes written to it.
type byteCount int64

func (n *byteCount) Write(p []byte) (int, error) {
	*n += byteCount(len(p))
	return len(p), nil
}

// spoolProfiles returns the profiles to include in the bundle. It copies them from the --profiles folder, pulls
// them (--profile), or copies them from the source if that is a bundle. Otherwise it returns nil.
func (f *snapshotFlags) spoolProfiles(
	ctx context.Context, a *cli.App, src source.Source, n *cli.NodeFlags,
) (*session.ProfileFiles, error) {
	bundle, isBundle := src.(*source.Bundle)
	switch {
	case f.profilesFrom != "":
		return session.FolderProfiles(f.profilesFrom)
	case f.profiles != nil:
		return f.profiles.takeProfiles(ctx, a, n)
	case isBundle:
		return session.CopyProfiles(ctx, bundle)
	}
	return nil, nil
}

func (f *pullFlags) takeProfiles(ctx context.Context, a *cli.App, n *cli.NodeFlags) (*session.ProfileFiles, error) {
	j, err := f.newJob(a, n, nil)
	if err != nil {
		return nil, err
	}
	var files *session.ProfileFiles
	_, err = pullWithProgress(ctx, a, j,
		func(ctx context.Context, targets []pull.Target, o pull.Options) (*pull.Manifest, error) {
			files, err = session.PullProfiles(ctx, targets, o)
			return nil, err
		})
	return files, err
}

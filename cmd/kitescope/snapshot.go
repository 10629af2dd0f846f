package main

import (
	"bufio"
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"kitescope/cmd/kitescope/cli"
	"kitescope/inspect/model"
	"kitescope/inspect/session"
	"kitescope/inspect/source"
	"kitescope/inspect/view"
	"kitescope/render/clusters"
)

func snapshotCommand(*cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "snapshot",
		Long: `Save a cluster's metadata in one file, a bundle: compressed, secrets redacted, small
enough to mail. Every command reads it with --from FILE.`,
		Example: `  kitescope snapshot save today.kite --from etcd://10.0.0.5:2379
  kitescope snapshot info today.kite`,
	}
}

// snapshotCommands returns the subcommands of snapshot.
func snapshotCommands() []cli.Entry {
	return []cli.Entry{
		{Name: "save", Short: "Write a bundle; - is standard output", Build: snapshotSave},
		{Name: "info", Short: "Show what a file or recording is, and whether it is intact", Build: snapshotInfo},
	}
}

func snapshotInfo(a *cli.App) *cobra.Command {
	var f cli.DocumentFlags
	cmd := &cobra.Command{
		Use: "info FILE",
		Long: `Show what a file or recording is: kind, root, revision, number of keys, and whether it is
intact. For a recording also its time range, chunks, rounds of answers, gaps and profiles.`,
		Example: `  kitescope snapshot info today.kite
  kitescope snapshot info /var/lib/kitescope/prod
  kitescope snapshot info etcd_snapshot.db -o json`,
		Args: cli.Args(1, 1, "one file", "kitescope snapshot info today.kite"),
		RunE: func(cmd *cobra.Command, args []string) error { return infoSnapshot(cmd.Context(), a, &f, args[0]) },
	}
	f.Register(cmd)
	return cmd
}

func infoSnapshot(ctx context.Context, a *cli.App, f *cli.DocumentFlags, path string) error {
	o, err := f.Options(a)
	if err != nil {
		return err
	}
	src, err := a.Open(ctx, path)
	if err != nil {
		return err
	}
	defer src.Close()
	info, told, err := session.Describe(ctx, src)
	if err != nil {
		return err
	}
	c := model.Build(model.Parts{Origin: model.Origin{
		Kind: info.Origin.Kind, Location: info.Origin.Location, Detail: info.Origin.Detail,
		Root: info.Root, MetaPath: info.MetaPath, Revision: info.Revision, Taken: info.Taken,
	}})
	d := describeFile(path, info, told)
	if err := a.Write(
		func(w *bufio.Writer) error { return clusters.Description(w, d, view.NewEnv(c, a.Now()), nil, o) },
	); err != nil {
		return err
	}
	err = a.WarnGaps(info.Gaps)
	if info.Checksum == source.ChecksumWrong {
		return fmt.Errorf("check %s: its content does not match its checksum", path)
	}
	return err
}

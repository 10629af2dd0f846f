package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"kitescope/inspect/meta"
	"kitescope/inspect/model"
	"kitescope/inspect/source"
	"kitescope/inspect/view"
	"kitescope/render"
)

func (a *app) snapshotCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "snapshot", Short: "Keep a cluster's metadata in one file: save, info", GroupID: groupFiles,
		Long: `Keep a cluster's metadata in one file, a bundle: compressed, secrets redacted, small
enough to mail. Every command reads it with --from FILE.`,
		Example: `  kitescope snapshot save today.kite --from etcd://10.0.0.5:2379
  kitescope snapshot info today.kite`,
		Args: noCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.snapshotSave(), a.snapshotInfo())
	return cmd
}

func (a *app) snapshotSave() *cobra.Command {
	var force bool
	cmd := &cobra.Command{
		Use: "save FILE", Short: "Write a bundle; - is standard output",
		Long: `Write all metadata, read at one revision, into a bundle. Password hashes, tokens and
keys are redacted on the way. FILE appears when it is complete and not before.`,
		Example: `  kitescope snapshot save today.kite --from etcd://10.0.0.5:2379
  kitescope snapshot save - --from etcd_snapshot.db | ssh laptop 'cat > case.kite'`,
		Args: func(_ *cobra.Command, args []string) error {
			return wantArgs(args, 1, 1, "save to where? one file is wanted", "kitescope snapshot save today.kite")
		},
		RunE: func(cmd *cobra.Command, args []string) error { return a.saveSnapshot(cmd.Context(), args[0], force) },
	}
	cmd.Flags().BoolVar(&force, "force", false, "replace FILE if it exists")
	a.addNodeFlags(cmd, false)
	return cmd
}

func (a *app) saveSnapshot(ctx context.Context, path string, force bool) error {
	if path == "-" && a.outTTY {
		return &usageError{errors.New("a bundle is binary and standard output is a terminal"), "name a file, or pipe it somewhere"}
	}
	if _, err := os.Lstat(path); err == nil && !force && path != "-" {
		return &usageError{fmt.Errorf("save %s: it exists", path), "use --force to replace it"}
	}
	conn, err := a.connection()
	if err != nil {
		return err
	}
	src, err := a.openConnection(ctx, conn)
	if err != nil {
		return err
	}
	defer src.Close()
	pinned, err := src.Pin(ctx)
	if err != nil {
		return err
	}
	defer pinned.Close()
	snapshot := a.startProgress(pinned)
	defer snapshot.stop()
	said, c, err := a.spoolRuntime(ctx, src, snapshot, conn)
	if err != nil {
		return err
	}
	defer said.close()
	var stats source.BundleStats
	var written byteCount
	save := func(w io.Writer) error {
		var err error
		stats, err = saveBundle(ctx, io.MultiWriter(w, &written), snapshot, said.addTo)
		return err
	}
	if path == "-" {
		err = a.write(func(w *bufio.Writer) error { return save(w) })
	} else {
		err = writeFileAtomic(path, 0o600, func(f *os.File) error { return save(f) })
	}
	if err != nil {
		return fmt.Errorf("save %s: %w", path, err)
	}
	h := snapshot.Header()
	a.warn("saved %s: %d keys of %s at revision %d and %d answers of nodes, %s in %s, secrets redacted", path, stats.Keys, h.Root, h.Revision, said.n,
		render.AppendBytes(nil, stats.Bytes), render.AppendBytes(nil, int64(written)))
	for _, gap := range snapshot.Gaps() {
		a.warn("incomplete: could not read %s: %s", gap.Where, gap.Reason)
	}
	for _, gap := range said.gaps {
		a.warn("incomplete: could not read %s: %s", gap.Where, gap.Reason)
	}
	silent := silentSessions(c)
	for _, line := range silent {
		a.warn("incomplete: %s", line)
	}
	if a.flags.strict && len(snapshot.Gaps())+len(said.gaps)+len(silent) > 0 {
		return &codeError{code: exitIncomplete}
	}
	return nil
}

// byteCount is a writer that counts.
type byteCount int64

func (n *byteCount) Write(p []byte) (int, error) {
	*n += byteCount(len(p))
	return len(p), nil
}

// saveBundle writes everything, redacted. A live etcd is read in ranges that are cut at
// the collections it holds, so that no answer is huge.
func saveBundle(ctx context.Context, w io.Writer, snapshot source.Snapshot, members func(*source.BundleWriter) error) (source.BundleStats, error) {
	var ranges []source.Range
	if snapshot.Seekable() {
		catalog, err := meta.Load(ctx, snapshot, meta.Want{Parts: model.PartCatalog})
		if err != nil {
			return source.BundleStats{}, err
		}
		ranges = meta.Ranges(snapshot.Header(), model.PartAll, catalog)
	}
	info := source.BundleInfo{Kitescope: versionText(), Redacted: true, Members: members}
	return source.WriteBundle(ctx, w, snapshot, info, ranges, meta.Redactor(snapshot.Header()))
}

func (a *app) snapshotInfo() *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use: "info FILE", Short: "Say what a file is: kind, root, revision, keys, intact or not",
		Example: `  kitescope snapshot info today.kite
  kitescope snapshot info etcd_snapshot.db -o json`,
		Args: func(_ *cobra.Command, args []string) error {
			return wantArgs(args, 1, 1, "info about what? one file is wanted", "kitescope snapshot info today.kite")
		},
		RunE: func(cmd *cobra.Command, args []string) error { return a.infoSnapshot(cmd.Context(), args[0], output) },
	}
	cmd.Flags().StringVarP(&output, "output", "o", "text", documentFormats)
	_ = cmd.RegisterFlagCompletionFunc("output", fixed("text", "json", "yaml"))
	return cmd
}

func (a *app) infoSnapshot(ctx context.Context, path, output string) error {
	side := *a
	side.flags.from = path
	o, err := a.documentOptions(output)
	if err != nil {
		return err
	}
	src, err := side.open(ctx)
	if err != nil {
		return err
	}
	defer src.Close()
	info, err := source.Describe(ctx, src)
	if err != nil {
		return err
	}
	c := model.Build(model.Parts{Origin: model.Origin{
		Kind: info.Origin.Kind, Location: info.Origin.Location, Detail: info.Origin.Detail,
		Root: info.Root, MetaPath: info.MetaPath, Revision: info.Revision, Taken: info.Taken,
	}})
	d := describeFile(path, info)
	if err := a.write(func(w *bufio.Writer) error { return render.Description(w, d, view.NewEnv(c, a.now()), o) }); err != nil {
		return err
	}
	for _, gap := range info.Gaps {
		a.warn("incomplete: could not read %s: %s", gap.Where, gap.Reason)
	}
	switch {
	case info.Checksum == source.ChecksumWrong:
		return fmt.Errorf("check %s: its content does not match its checksum", path)
	case a.flags.strict && len(info.Gaps) > 0:
		return &codeError{code: exitIncomplete}
	}
	return nil
}

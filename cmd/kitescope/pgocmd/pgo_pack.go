package pgocmd

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/spf13/cobra"

	"kitescope/cmd/kitescope/cli"
	"kitescope/internal/hints"
	"kitescope/profile/pgo"
	"kitescope/render"
	"kitescope/render/builds"
)

// packFlags holds the flags of "pgo pack".
type packFlags struct {
	input    Profiles
	report   cli.ReportFlags
	dir, pkg string
	out      string
	block    []string
	fold     bool
	withHash bool
	check    bool
	force    bool
}

func pgoPack(a *cli.App, input Profiles) *cobra.Command {
	f := packFlags{input: input}
	cmd := &cobra.Command{
		Use: "pack [PROFILE...]",
		Long: `Merge CPU profiles into one for "go build", and write it into a main package. It has
only what the compiler reads: the last two frames of each stack, and one value. The
same profiles give the same bytes, in any order. Profiles count by their samples, so
the busiest process counts most.

default.pgo is written into the module's only main package, or that of --package, and
next to it default.pgo.json: the sources with their hashes, and the judge's figures.
A default.pgo that pack did not write is replaced only with --force.

Go records the path of a profile in a binary, never its hash: --name-with-hash puts
it into the name for "pgo verify".`,
		Example: `  kitescope pgo pack --dir ../milvus --package ./cmd before
  kitescope pgo pack --check monday.pb.gz tuesday.pb.gz
  kitescope pgo pack cpu.pb.gz -O - > default.pgo`,
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(a, cmd, args) },
	}
	f.input.Register(cmd)
	cli.RemoveFlags(cmd, "kind")
	f.input.KeepMangled() // the compiler matches names as the linker has them
	fl := cmd.Flags()
	f.report.Register(cmd, render.ReportFormats(), cli.DefaultEntries, "maximum number of profiles; 0 for all")
	f.report.List(cmd, builds.PackSchema, "node=querynode3", "-samples,name", "name,weight; +go_version")
	fl.StringVar(&f.dir, "dir", "", "folder of the module; default: the current one")
	fl.StringVar(&f.pkg, "package", "", "its main package, if there are several: ./cmd/service")
	fl.StringVarP(&f.out, "out", "O", "", "write this file instead; - is standard output")
	fl.StringArrayVar(&f.block, "block", nil, "keep PGO from inlining this function; repeatable")
	fl.BoolVar(&f.fold, "fold-preempt", false, "count runtime.asyncPreempt as the preempted function")
	fl.BoolVar(&f.withHash, "name-with-hash", false, "write default-<sha256>.pgo")
	fl.BoolVar(&f.check, "check", false, "write nothing; exit 3 unless worth building")
	fl.BoolVar(&f.force, "force", false, "replace a file that pack did not write")
	return cmd
}

func (f *packFlags) run(a *cli.App, cmd *cobra.Command, args []string) error {
	ctx := cmd.Context()
	o, err := f.options()
	if err != nil {
		return err
	}
	format, ro, err := f.report.Parse(a, cmd)
	if err != nil {
		return err
	}
	if f.out == "-" && ro.HasQuery() {
		return cli.Usage(errors.New("-O - writes the profile, not a list: --where, --sort and --columns do not apply"),
			"omit them, or give a file with -O")
	}
	dir, err := f.folder(ctx) // fail before profiles are pulled
	if err != nil {
		return err
	}
	inputs, err := f.input.Inputs(ctx, a, args)
	if err != nil {
		return err
	}
	report := &builds.PackReport{}
	if o.Judgement, err = f.judgeForPack(ctx, inputs); err != nil {
		return err
	}
	if report.Pack, err = pgo.NewPack(ctx, inputs, o); err != nil {
		return err
	}
	report.Notes = report.Pack.Notes
	if f.out == "-" {
		if o.Judgement.Verdict != pgo.WorthBuilding {
			a.Warn("%s", notWorthIt(o.Judgement))
		}
		for _, n := range report.Notes {
			a.Warn("%s", n)
		}
		return a.WriteBytes(func(w *bufio.Writer) error {
			_, err := w.Write(report.Pack.Bytes)
			return err
		})
	}
	path := f.out
	if path == "" {
		path = filepath.Join(dir, report.Pack.FileName(f.withHash))
	}
	if err := writePack(report, path, f); err != nil {
		return err
	}
	return a.Write(func(w *bufio.Writer) error { return builds.WritePack(w, report, format, ro) })
}

func (f *packFlags) options() (pgo.PackOptions, error) {
	o := pgo.PackOptions{Block: f.block, FoldPreempt: f.fold, Kitescope: cli.Version}
	if f.out != "" && (f.dir != "" || f.pkg != "" || f.withHash) {
		return o,
			cli.Usage(errors.New("-O cannot be combined with --dir, --package or --name-with-hash"),
				"use only one of them")
	}
	return o, nil
}

// folder returns the folder of the main package that the pack is for, or "" with -O. It returns an error if the
// module is read-only.
func (f *packFlags) folder(ctx context.Context) (string, error) {
	if f.out != "" {
		return "", nil
	}
	dir := f.dir
	if dir == "" {
		dir = "."
	}
	module, err := pgo.FindModule(ctx, dir)
	if err != nil {
		return "", cli.WithHint(err, "give the module with --dir, or a file with -O")
	}
	main, err := module.Main(f.pkg)
	if err != nil {
		return "", cli.WithHint(err, "give the main package with --package, or a file with -O")
	}
	if module.ReadOnly {
		return "",
			&hints.Error{
				Err:    fmt.Errorf("write %s: the module is read-only", filepath.Join(main.Dir, pgo.DefaultName)),
				Advice: writeElsewhereHint,
			}
	}
	return main.Dir, nil
}

// writeElsewhereHint is the hint for modules that cannot be written to.
const writeElsewhereHint = "write elsewhere with -O FILE, and build with -pgo=FILE"

// judgeForPack judges the profiles. With --check it returns an error unless they are worth building with.
func (f *packFlags) judgeForPack(ctx context.Context, inputs []pgo.Input) (*pgo.Judgement, error) {
	j, err := pgo.Judge(ctx, inputs, pgo.JudgeOptions{})
	if err == nil && f.check && j.Verdict != pgo.WorthBuilding {
		err = &cli.CodeError{Code: cli.ExitFindings, Err: &hints.Error{
			Err: errors.New(notWorthIt(j)), Advice: "see: kitescope pgo judge; nothing was written",
		}}
	}
	return j, err
}

// notWorthIt returns the reason why a build with the profiles is not worthwhile.
func notWorthIt(j *pgo.Judgement) string {
	if j.Verdict == pgo.LittleToGain {
		return "the profiles have little to gain from a build: " + j.Reason
	}
	return "the profiles are unfit to build with: " + j.Reason
}

// writePack writes a pack and its manifest. It replaces a file only if pack wrote that file, unless --force
// is set.
func writePack(r *builds.PackReport, path string, f *packFlags) error {
	r.Path, r.ManifestPath = path, pgo.ManifestName(path)
	r.Pack.Manifest.File = filepath.Base(path)
	if filepath.Base(path) != pgo.DefaultName || f.out != "" {
		r.Flag = "-pgo=" + path
	}
	old, err := readExisting(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		r.Outcome = "written"
	case err != nil:
		return err
	case bytes.Equal(old, r.Pack.Bytes):
		r.Outcome = "unchanged"
	case !f.force && !isOurs(r.ManifestPath, old):
		return cli.Usage(
			fmt.Errorf("write %s: it exists, and pack did not write it", path),
			"use --force to replace it, or write elsewhere with -O FILE",
		)
	default:
		r.Outcome = "replaced"
	}
	if r.Outcome != "unchanged" {
		err := cli.WriteFileAtomic(path, 0o644, func(to *os.File) error {
			_, err := to.Write(r.Pack.Bytes)
			return err
		})
		if err != nil {
			return packError(path, err)
		}
	}
	err = cli.WriteFileAtomic(r.ManifestPath, 0o644, func(to *os.File) error {
		_, err := r.Pack.Manifest.WriteTo(to)
		return err
	})
	if err != nil {
		return packError(r.ManifestPath, err)
	}
	return nil
}

// readExisting reads the file that would be replaced. It returns an error if path is not a regular file.
func readExisting(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() { // reading a device may never end
		return nil,
			&hints.Error{
				Err:    fmt.Errorf("write %s: it exists and is not a file", path),
				Advice: "give a file with -O; -O - is standard output",
			}
	}
	return readPackFile(path)
}

func packError(path string, err error) error {
	hint := ""
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		hint = writeElsewhereHint
	}
	return &hints.Error{Err: fmt.Errorf("write %s: %w", path, err), Advice: hint}
}

// isOurs reports whether a manifest has the hash of file, i.e. whether pack wrote both.
func isOurs(manifest string, file []byte) bool {
	f, err := os.Open(manifest)
	if err != nil {
		return false
	}
	defer f.Close()
	m, err := pgo.ReadManifest(f)
	sum := sha256.Sum256(file)
	return err == nil && m.SHA256 == hex.EncodeToString(sum[:])
}

package trial

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"kitescope/internal/hints"
	"kitescope/profile/pgo"
)

// Module is the module under trial.
type Module struct {
	Dir, Path, GoVersion string
	// Package is the package to build, as an import path. Main is its folder, where default.pgo belongs.
	Package, Main string
	// HasDefaultPGO reports that the folder already has a default.pgo. The program "without PGO" is built without that
	// file.
	HasDefaultPGO bool
}

// Build is the result of a build.
type Build struct {
	// Side is "a" or "b".
	Side, File, GoVersion, BuildID, PGO, SHA256 string
	Size                                        int64
	Took                                        time.Duration
	// Recorded reports that the go command recorded its settings, which it does not do for tests.
	Recorded bool
	// Output is the file with the output of the build, relative to the folder.
	Output string
}

// Names of the folders of binaries. They have the same length, so that paths, arguments and environments of
// both programs have the same length too: their length moves the stack (Mytkowicz and others, "Producing wrong
// data without doing anything obviously wrong!", ASPLOS 2009).
const (
	sidePlain  = "a"
	sidePacked = "b"
	sideCopy   = "c"
)

// find is step 1: it finds the module and its main package.
func (t *trial) find(ctx context.Context) error {
	t.notify("looking at %s", t.plan.Dir)
	m, err := pgo.FindModule(ctx, t.plan.Dir)
	if err != nil {
		return err
	}
	found := Module{Dir: m.Dir, Path: m.Path, GoVersion: m.GoVersion}
	main, err := m.Main(t.plan.Package)
	if err != nil {
		hint := hints.Of(err)
		if len(m.Mains) == 0 {
			hint = "name the folder of a module that has one"
		}
		return &PlanError{err, hint}
	}
	found.Package, found.Main = main.ImportPath, main.Dir
	_, err = os.Stat(filepath.Join(found.Main, pgo.DefaultName))
	found.HasDefaultPGO = err == nil
	t.report.Module = found
	return nil
}

func (t *trial) buildPlain(ctx context.Context) error {
	b, err := t.build(ctx, sidePlain, "-pgo=off")
	if err != nil {
		return err
	}
	if b.PGO != "" {
		return planError("write {pgo} where the go command takes flags, and name no other -pgo",
			"the build without PGO was made with -pgo=%s", b.PGO)
	}
	t.report.Plain = b
	return nil
}

func (t *trial) buildPacked(ctx context.Context) error {
	b, err := t.build(ctx, sidePacked, "-pgo="+t.report.Pack.File)
	if err != nil {
		return err
	}
	if b.PGO == "" && b.Recorded {
		return planError("write {pgo} where the go command takes flags: --build 'go build -o {bin} {pgo} ./cmd/x'",
			"the build with PGO did not use the profile: it ignores %s", pgoPlaceholder)
	}
	t.report.Packed = b
	if t.plan.Control == 0 {
		return nil
	}
	// The control compares the program without PGO with a copy of itself.
	to := t.binary(sideCopy)
	err = os.MkdirAll(filepath.Dir(to), 0o755)
	if err == nil {
		err = copyFile(t.binary(sidePlain), to, 0o755)
	}
	if err != nil {
		return fmt.Errorf("copy the program for the control: %w", err)
	}
	return nil
}

// binary returns the path of a side's program.
func (t *trial) binary(side string) string {
	name := "program"
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	return t.folder.path("bin", side, name)
}

func (t *trial) build(ctx context.Context, side, flag string) (*Build, error) {
	file := t.binary(side)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return nil, err
	}
	// If the go command is interrupted, it leaves its temporary folder behind. This one is removed here.
	temp := t.folder.path("scratch", "build")
	if err := os.MkdirAll(temp, 0o755); err != nil {
		return nil, err
	}
	defer os.RemoveAll(temp)
	c := command{
		words: t.buildWords(), dir: t.plan.Dir, timeout: t.plan.Timeout, temp: temp,
		out:          t.folder.path("build", side+".out"),
		placeholders: placeholders{binPlaceholder: file, pgoPlaceholder: flag, dirPlaceholder: t.plan.Dir},
	}
	t.notify("building %s", sideName(side))
	r, err := c.run(ctx)
	if err != nil {
		return nil, err
	}
	if r.failed != "" {
		said, all := tail(c.out, buildLines)
		return nil, &OutputError{Err: fmt.Errorf("the build failed: %s", r.failed), Output: said, File: all}
	}
	sum, size, err := checksum(file)
	if err != nil {
		hint := "the build must write the program to {bin}"
		said, all := tail(c.out, buildLines)
		return nil, &hints.Error{Err: &OutputError{
			Err:    fmt.Errorf("the build succeeded, but wrote no %s", file),
			Output: said, File: all,
		}, Advice: hint}
	}
	b := &Build{
		Side: side, File: file, Size: size, SHA256: sum, Took: r.wall,
		Output: filepath.ToSlash(filepath.Join("build", side+".err")),
	}
	info, err := pgo.ReadBuild(file)
	if err != nil {
		return nil, err
	}
	b.GoVersion, b.BuildID, b.PGO, b.Recorded = info.GoVersion, info.BuildID, info.PGO, info.Recorded
	return b, nil
}

// buildWords returns the command that builds {bin}. The default command omits VCS information: a folder may
// have no repository, and the mark of a dirty one could be the only change of a build.
func (t *trial) buildWords() []string {
	if t.plan.Build != "" {
		words, _ := splitWords(t.plan.Build) // settle checked it
		return words
	}
	return []string{"go", "build", "-buildvcs=false", "-o", binPlaceholder, pgoPlaceholder, t.report.Module.Package}
}

// renew replaces a program by a copy with the same bytes. The memory layout of a file's pages stays the same
// while the file is cached, and has made one of two equally fast programs 20% slower for a quarter of an hour.
// With a copy for each run the layout is random, and pairs can separate that noise from a difference.
func (t *trial) renew(side string) error {
	path := t.binary(side)
	if err := copyFile(path, path, 0o755); err != nil {
		return fmt.Errorf("copy the program %s for a run: %w", sideName(side), err)
	}
	return nil
}

func copyFile(from, to string, mode os.FileMode) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.CreateTemp(filepath.Dir(to), ".kitescope-*")
	if err != nil {
		return err
	}
	defer os.Remove(out.Name()) // fails after the rename, as intended
	_, err = io.Copy(out, in)
	if err := errors.Join(err, out.Chmod(mode), out.Sync(), out.Close()); err != nil {
		return err
	}
	return os.Rename(out.Name(), to)
}

func checksum(path string) (sum string, size int64, err error) {
	f, err := os.Open(path)
	if err != nil {
		return "", 0, err
	}
	defer f.Close()
	h := sha256.New()
	size, err = io.Copy(h, f)
	return hex.EncodeToString(h.Sum(nil)), size, err
}

// sideName returns the name of a side for users.
func sideName(side string) string {
	switch side {
	case sidePacked:
		return "with PGO"
	case sideCopy:
		return "without PGO, the copy"
	}
	return "without PGO"
}

package gobuild

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"kitescope/profile/pgo"
)

// IsBinary reports whether a file begins as a program does: ELF, Mach-O or PE (debug/elf, debug/macho, debug/pe).
func IsBinary(path string) bool {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	var head [4]byte
	if _, err := io.ReadFull(f, head[:]); err != nil {
		return false
	}
	for _, magic := range []string{"\x7fELF", "MZ", "\xfe\xed\xfa\xce", "\xfe\xed\xfa\xcf", "\xce\xfa\xed\xfe", "\xcf\xfa\xed\xfe", "\xca\xfe\xba\xbe"} {
		if bytes.HasPrefix(head[:], []byte(magic)) {
			return true
		}
	}
	return false
}

// SubjectOf is what a binary tells of itself for pgo.Verify.
func SubjectOf(ctx context.Context, path, name string) (*pgo.Subject, error) {
	b, err := ReadBinary(path)
	if err != nil {
		return nil, err
	}
	// The go command makes up the main package of a test, and records no -pgo for it (cmd/go/internal/load: test.go).
	recorded := b.Settings["-compiler"] != "" && !strings.HasSuffix(b.Main, ".test")
	s := &pgo.Subject{Name: name, Build: &pgo.Build{
		Main: b.Main, GoVersion: b.GoVersion, BuildID: b.BuildID, PGO: b.PGO, Hash: b.PGOHash, Recorded: recorded, Stripped: b.Stripped,
	}}
	s.Inlined, s.Starts, s.InlinedErr = b.Inlined(ctx)
	return s, ctx.Err()
}

// DryRunOf is DryRun of profiles that are not packed yet: they are merged as pack would.
func DryRunOf(ctx context.Context, inputs []pgo.Input, o DryRunOptions) (*pgo.DryRun, error) {
	pack, err := pgo.NewPack(ctx, inputs, pgo.PackOptions{})
	if err != nil {
		return nil, fmt.Errorf("ask the compiler: %w", err)
	}
	dir, err := os.MkdirTemp("", "kitescope-judge-")
	if err != nil {
		return nil, fmt.Errorf("ask the compiler: %w", err)
	}
	defer os.RemoveAll(dir)
	o.Profile = filepath.Join(dir, pgo.DefaultName)
	if err := os.WriteFile(o.Profile, pack.Bytes, 0o600); err != nil {
		return nil, fmt.Errorf("ask the compiler: %w", err)
	}
	if o.Edges, err = pgo.EdgesOf(pack.Profile); err != nil {
		return nil, err
	}
	return DryRun(ctx, o)
}

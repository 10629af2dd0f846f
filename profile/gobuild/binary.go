package gobuild

import (
	"bytes"
	"debug/buildinfo"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strconv"

	"kitescope/internal/hints"
	"kitescope/profile/pgo"
)

// Binary is what a Go program says of itself.
type Binary struct {
	// GoVersion is that of the compiler: "go1.26.8".
	GoVersion string
	// Main is the import path of the main package.
	Main string
	// BuildID is Go's ("go tool buildid"); "" where there is none.
	BuildID string
	// PGO is the path of the profile as the go command recorded it, its base alone under -trimpath; "" if none was used.
	PGO string
	// PGOHash is what the name of the profile says of its contents: see pgo.HashOfName.
	PGOHash string
	// Stripped says that it has no DWARF.
	Stripped bool
	// Settings are all build settings, as in "go version -m".
	Settings map[string]string

	path string
}

// ReadBinary reads what a Go binary says of itself. A file that is no executable, and an executable that
// Go did not build, are errors with a hint.
func ReadBinary(path string) (*Binary, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("read %s: not a regular file", path)
	}
	b, err := readBinary(f, info.Size())
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	b.path = path
	return b, nil
}

func readBinary(r io.ReaderAt, size int64) (*Binary, error) {
	im, err := openImage(r, size)
	if err != nil {
		return nil, &hints.Error{Err: err, Advice: "give the program itself, as the go command built it; packed or wrapped programs have to be unpacked first"}
	}
	info, err := readInfo(im.r)
	if err != nil {
		return nil, hints.Errorf("only programs that the go command built (go1.18 or later) can be looked into", "not a Go program: %w", err)
	}
	b := &Binary{GoVersion: info.GoVersion, Main: info.Path, Stripped: !im.debug, Settings: map[string]string{}}
	for _, s := range info.Settings {
		b.Settings[s.Key] = s.Value
	}
	b.PGO = b.Settings["-pgo"]
	b.PGOHash = pgo.HashOfName(b.PGO)
	b.BuildID = im.buildID()
	return b, nil
}

func readInfo(r io.ReaderAt) (info *debug.BuildInfo, err error) {
	defer protect(&err)
	return buildinfo.Read(r)
}

// buildID finds Go's build id in its note, else where all linkers of Go put it, in front of the code
// (cmd/internal/buildid: readRaw).
func (im *image) buildID() string {
	if im.goNote != nil {
		return string(im.goNote)
	}
	return im.rawBuildID()
}

func (im *image) rawBuildID() string {
	const before, after = "\xff Go build ID: \"", "\"\n \xff"
	b, err := im.read(im.text, min(1<<16, im.size-im.text))
	if err != nil {
		return ""
	}
	_, rest, ok := bytes.Cut(b, []byte(before))
	if !ok {
		return ""
	}
	id, _, ok := bytes.Cut(rest, []byte(after))
	if !ok {
		return ""
	}
	plain, err := strconv.Unquote(`"` + string(id) + `"`)
	if err != nil {
		return ""
	}
	return plain
}

package pgo

import (
	"bytes"
	"debug/buildinfo"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"

	"kitescope/internal/hints"
)

// Build is the build metadata embedded in a Go binary.
type Build struct {
	// Main is the import path of the main package. BuildID is set for ELF files only.
	Main, GoVersion, BuildID string
	// PGO is the path of the profile that the go command recorded, only its base name under -trimpath, "" if none
	// was used. Hash is the hash in the file's name; see HashOfName.
	PGO, Hash string
	// Recorded reports that the go command recorded its settings. Only in this case does an empty PGO mean that no
	// profile was used. Other build systems record nothing.
	Recorded bool
}

// IsBinary reports whether a file starts with the magic number of an executable: ELF, Mach-O or PE (debug/elf,
// debug/macho, debug/pe).
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
	for _, magic := range []string{
		"\x7fELF", "MZ", "\xfe\xed\xfa\xce", "\xfe\xed\xfa\xcf", "\xce\xfa\xed\xfe", "\xcf\xfa\xed\xfe",
		"\xca\xfe\xba\xbe",
	} {
		if bytes.HasPrefix(head[:], []byte(magic)) {
			return true
		}
	}
	return false
}

// ReadBuild returns the build metadata of a Go binary. It returns an error with a hint if the file is not an
// executable, or was not built by Go.
func ReadBuild(path string) (*Build, error) {
	info, err := readBuildInfo(path)
	if err != nil && errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	if err != nil {
		return nil,
			hints.Errorf("give the program itself, as the go command (go1.18 or later) built it; unpack compressed "+
				"or wrapped programs first",
				"read %s: not a Go program: %w", path, err)
	}
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	b := &Build{
		Main: info.Path, GoVersion: info.GoVersion, BuildID: buildID(path), PGO: settings["-pgo"],
		// The go command generates the main package of a test and records no -pgo for it (cmd/go/internal/load:
		// test.go).
		Recorded: settings["-compiler"] != "" && !strings.HasSuffix(info.Path, ".test"),
	}
	if b.PGO == "off" {
		b.PGO = ""
	}
	b.Hash = HashOfName(b.PGO)
	return b, nil
}

// readBuildInfo calls buildinfo.ReadFile and returns an error instead of a panic if the file is damaged.
func readBuildInfo(path string) (info *debug.BuildInfo, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("it is damaged: %v", r)
		}
	}()
	return buildinfo.ReadFile(path)
}

// buildID returns the build ID in the note of an ELF file (cmd/internal/buildid), or "" without such a note.
func buildID(path string) string {
	f, err := elf.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	const header, most = 16, 4096 // header is the three sizes and the name "Go\0\0"
	note := f.Section(".note.go.buildid")
	if note == nil || note.Size > most {
		return ""
	}
	text, err := note.Data()
	if err != nil || len(text) < header {
		return ""
	}
	return string(bytes.TrimRight(text[header:], "\x00"))
}

package symbol

import (
	"bytes"
	"context"
	"debug/elf"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"kitescope/internal/hints"
)

// maxFiles bounds how many files of a folder are looked at.
const maxFiles = 200_000

// folders knows the files with symbols that folders hold, by build id.
type folders struct {
	dirs    []string
	byID    map[string][]string
	byName  map[string][]string // base name, without .debug
	idOf    map[string]string
	skipped int
}

// search looks through folders for ELF files with a build id.
func search(ctx context.Context, dirs []string) (*folders, error) {
	f := &folders{dirs: dirs, byID: map[string][]string{}, byName: map[string][]string{}, idOf: map[string]string{}}
	n := 0
	for _, dir := range dirs {
		if info, err := os.Stat(dir); err != nil {
			return nil, fmt.Errorf("symbols: %w", err)
		} else if !info.IsDir() {
			return nil, hints.Errorf("name the folder it is in", "symbols: %s is a file", dir)
		}
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err != nil {
				f.skipped++
				return nil //nolint:nilerr // a folder below that may not be read
			}
			if d.IsDir() || d.Type()&^fs.ModeSymlink != 0 {
				return nil
			}
			if n++; n > maxFiles {
				return hints.Errorf("name the folder with the libraries alone", "symbols: %s has more than %d files", dir, maxFiles)
			}
			f.add(path)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return f, nil
}

func (f *folders) add(path string) {
	id, err := buildIDOf(path)
	if err != nil || id == "" {
		return
	}
	f.byID[id] = append(f.byID[id], path)
	f.idOf[path] = id
	name := strings.TrimSuffix(filepath.Base(path), ".debug")
	f.byName[name] = append(f.byName[name], path)
}

// of are the files with a build id, or why there is none.
func (f *folders) of(file, buildID string) (paths []string, problem string) {
	id := strings.ToLower(buildID)
	if paths = f.byID[id]; len(paths) > 0 {
		return paths, ""
	}
	// perf pads short build ids with zeros to 20 bytes (tools/perf/util/build-id.h of Linux).
	if short := strings.TrimRight(id, "0"); len(id) == 40 && len(short) <= 32 {
		if paths = f.byID[id[:32]]; len(paths) > 0 {
			return paths, ""
		}
	}
	base := file[strings.LastIndexByte(file, '/')+1:]
	if other := f.byName[base]; len(other) > 0 {
		return nil, fmt.Sprintf("%s is refused: its build id is %s, the profile's %s", other[0], f.idOf[other[0]], id)
	}
	return nil, fmt.Sprintf("no file with the build id %s in %s", id, strings.Join(f.dirs, ", "))
}

// buildIDOf reads the build id of an ELF file from its note, "" if it is no ELF file or has none.
func buildIDOf(path string) (string, error) {
	// What a link leads to may be a pipe, that opening would wait for.
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return "", err
	}
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	var magic [4]byte
	if n, _ := file.ReadAt(magic[:], 0); n < len(magic) || string(magic[:]) != elf.ELFMAG {
		return "", nil
	}
	const headers = 64 << 20
	e, err := newELF(&budget{file, headers})
	if err != nil {
		return "", err
	}
	return noteOf(e), nil
}

// budget is a file of which no more than some bytes are read. Those of a few headers may send a reader anywhere in
// it, as often as they like, and a file with a hole in it may claim any size.
type budget struct {
	r    io.ReaderAt
	left int64
}

var errBudget = errors.New("its headers want more read of it than it can have")

func (b *budget) ReadAt(p []byte, at int64) (int, error) {
	if b.left -= int64(len(p)); b.left < 0 {
		return 0, errBudget
	}
	return b.r.ReadAt(p, at)
}

// newELF reads the headers. debug/elf is not written for hostile files, of which a panic is the worst; and it unpacks
// whatever says that it is compressed, of which only the size of debug information is looked at before.
func newELF(r io.ReaderAt) (e *elf.File, err error) {
	defer func() {
		if x := recover(); x != nil {
			e, err = nil, fmt.Errorf("it is damaged: %v", x)
		}
	}()
	e, err = elf.NewFile(r)
	if err != nil {
		return nil, err
	}
	for _, s := range e.Sections {
		if s.Flags&elf.SHF_COMPRESSED != 0 && !strings.HasPrefix(s.Name, ".debug") {
			return nil, fmt.Errorf("it is damaged: its section %.40q is compressed", s.Name)
		}
	}
	return e, nil
}

// maxNote bounds a section of notes, maxNotes how many are looked through. That of the build id is short.
const (
	maxNote  = 64 << 10
	maxNotes = 256
)

// noteOf is the build id in the notes of a file.
func noteOf(e *elf.File) string {
	left := maxNotes
	for _, s := range e.Sections {
		if s.Type == elf.SHT_NOTE && left > 0 {
			left--
			if id := noteIn(s.Open(), s.Size, e.ByteOrder); id != "" {
				return id
			}
		}
	}
	for _, p := range e.Progs {
		if p.Type == elf.PT_NOTE && left > 0 {
			left--
			if id := noteIn(p.Open(), p.Filesz, e.ByteOrder); id != "" {
				return id
			}
		}
	}
	return ""
}

// noteIn looks for the note NT_GNU_BUILD_ID (elf.h of glibc: type 3 of GNU).
func noteIn(r io.Reader, size uint64, order binary.ByteOrder) string {
	if size > maxNote {
		return ""
	}
	notes := make([]byte, size)
	if _, err := io.ReadFull(r, notes); err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return ""
	}
	for len(notes) >= 12 {
		nameSize, descSize, kind := uint64(order.Uint32(notes)), uint64(order.Uint32(notes[4:])), order.Uint32(notes[8:])
		notes = notes[12:]
		name := align4(nameSize)
		desc := align4(descSize)
		if name > uint64(len(notes)) || descSize > uint64(len(notes))-name {
			return ""
		}
		if kind == 3 && bytes.Equal(notes[:nameSize], []byte("GNU\x00")) {
			return hex.EncodeToString(notes[name : name+descSize])
		}
		notes = notes[min(name+desc, uint64(len(notes))):]
	}
	return ""
}

func align4(n uint64) uint64 { return (n + 3) &^ 3 }

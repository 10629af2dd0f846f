package session

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"kitescope/inspect/source"
	"kitescope/profile/pull"
)

// PullsFolder is the folder of a recording that has the profiles which were taken when findings appeared, each time in a folder of
// its own, as profile pull makes it.
const PullsFolder = "profiles"

// pullTime begins the name of such a folder, so that they are in order.
const pullTime = "20060102T150405Z"

// PullName is the name of a folder of profiles that were taken at a time, for a check.
func PullName(at time.Time, check string) string { return at.UTC().Format(pullTime) + "-" + check }

// Pull are profiles that a recorder had taken.
type Pull struct {
	// Path is their folder, Size what its files take.
	Path string
	Size int64
	// At is when taking them began, Check what had found something then.
	At    time.Time
	Check string
}

// Pulls are those beside a recording, the oldest first; none of any other source. What is still being taken is none yet.
func Pulls(src source.Source) ([]Pull, error) {
	recording, ok := recordingOf(src).(*source.Recording)
	if !ok {
		return nil, nil
	}
	dir := filepath.Join(recording.Origin().Location, PullsFolder)
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the profiles of a recording: %w", err)
	}
	var list []Pull
	for _, e := range entries {
		at, check, named := strings.Cut(e.Name(), "-")
		began, err := time.Parse(pullTime, at)
		if !named || err != nil || !e.IsDir() {
			continue
		}
		p := Pull{Path: filepath.Join(dir, e.Name()), At: began, Check: check}
		if _, err := os.Stat(filepath.Join(p.Path, pull.ManifestName)); err == nil { // it is written when all are there
			p.Size = FilesSize(p.Path)
			list = append(list, p)
		}
	}
	return list, nil
}

// FilesSize is what the files in a folder take.
func FilesSize(dir string) (n int64) {
	files, err := os.ReadDir(dir)
	if err != nil {
		return 0
	}
	for _, f := range files {
		if info, err := f.Info(); err == nil {
			n += info.Size()
		}
	}
	return n
}

// PullBefore is the last of them that began by a time, zero: the last of all; ok is false where there is none.
func PullBefore(list []Pull, at time.Time) (p Pull, ok bool) {
	for _, x := range list {
		if at.IsZero() || !x.At.After(at) {
			p, ok = x, true
		}
	}
	return p, ok
}

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

// PullsFolder is the folder in a recording with the profiles pulled when findings appeared. Each pull has its own
// folder, in the layout of "profile pull".
const PullsFolder = "profiles"

// pullTime is the time format that begins the name of a pull's folder, so that names sort by time.
const pullTime = "20060102T150405Z"

// PullName returns the folder name of a pull at a time for a check.
func PullName(at time.Time, check string) string { return at.UTC().Format(pullTime) + "-" + check }

// Pull is a pull of profiles made by a recorder.
type Pull struct {
	// Path is the folder of the pull. Size is the total size of its files, in bytes.
	Path string
	Size int64
	// At is the time at which the pull began. Check is the check whose finding triggered it.
	At    time.Time
	Check string
}

// Pulls returns the completed pulls of a recording, oldest first. It returns nil for other sources.
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
		if _, err := os.Stat(filepath.Join(p.Path, pull.ManifestName)); err == nil { // the manifest is written last
			p.Size = FilesSize(p.Path)
			list = append(list, p)
		}
	}
	return list, nil
}

// FilesSize returns the total size of the files in a folder, in bytes. It returns 0 if the folder cannot be read.
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

// PullBefore returns the last pull of list that began at or before a time, or the last of all if at is zero. ok is
// false if there is none.
func PullBefore(list []Pull, at time.Time) (p Pull, ok bool) {
	for _, x := range list {
		if at.IsZero() || !x.At.After(at) {
			p, ok = x, true
		}
	}
	return p, ok
}

package source

import (
	"os"
	"path/filepath"
	"slices"
	"time"
)

// Candidate is a file or directory that Open can read, judging by its first bytes.
type Candidate struct {
	Path string
	// What is the kind of the file, without an article, e.g. "etcd snapshot" or "recording".
	What     string
	Modified time.Time
}

// maxExamined is the maximum number of files that List examines in a directory, newest first.
const maxExamined = 200

// List returns the entries of a directory that Open can read, newest first. It skips files that it cannot open.
func List(dir string) []Candidate {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var list []Candidate
	for _, e := range entries {
		if info, err := os.Stat(filepath.Join(dir, e.Name())); err == nil &&
			(info.IsDir() || info.Mode().IsRegular() && info.Size() > 0) {
			list = append(list, Candidate{Path: e.Name(), Modified: info.ModTime()})
		}
	}
	slices.SortStableFunc(list, func(a, b Candidate) int { return b.Modified.Compare(a.Modified) })
	list = list[:min(len(list), maxExamined)]
	for i := range list {
		path := filepath.Join(dir, list[i].Path)
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			list[i].What = folderKind(path)
		} else {
			list[i].What = fileKind(path)
		}
	}
	return slices.DeleteFunc(list, func(f Candidate) bool { return f.What == "" })
}

// folderKind returns the kind of a directory, or "" if Open cannot read it.
func folderKind(dir string) string {
	if _, ok := memberDB(dir); ok {
		return "data of an etcd member"
	}
	if names, err := ChunkNames(dir); err == nil && len(names) > 0 {
		return "recording"
	}
	return ""
}

// fileKind returns the kind of a file by its first bytes, or "" if Open cannot read it.
func fileKind(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return ""
	}
	in := input{ReaderAt: f, location: path, size: info.Size()}
	kind, _, _, err := in.sniff()
	if err != nil {
		return ""
	}
	switch kind {
	case formatBolt:
		return "etcd snapshot"
	case formatBackup:
		return "birdwatcher backup"
	case formatBundle:
		if in.layers == 0 && IsBundle(path) { // profiles may be compressed with zstd too
			return "bundle"
		}
	case formatUnknown, formatGzip:
	}
	return ""
}

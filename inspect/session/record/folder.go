package record

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"kitescope/inspect/source"
	"kitescope/internal/hints"
	"kitescope/internal/words"
)

const lockName = "recorder.lock"

// resume finds where an earlier recorder ended, and removes its unpublished chunks.
func (r *Recorder) resume(ctx context.Context) error {
	parts, err := filepath.Glob(filepath.Join(r.o.Dir, "*.kite"+partSuffix))
	if err != nil {
		return err
	}
	for _, part := range parts {
		_ = os.Remove(part)
	}
	names, err := source.ChunkNames(r.o.Dir)
	if err != nil || len(names) == 0 {
		return err
	}
	r.number, _ = source.ChunkNumber(names[len(names)-1])
	src, err := source.Open(ctx, r.o.Dir, source.Options{Now: r.o.Now})
	if err != nil {
		r.o.Log(fmt.Sprintf("the existing recording cannot be read and is kept: %v", err))
		return nil
	}
	defer src.Close()
	snap, err := src.Pin(ctx)
	if err != nil {
		r.o.Log(fmt.Sprintf("the existing recording cannot be read and is kept: %v", err))
		return nil
	}
	defer snap.Close()
	r.ended = snap.Header()
	r.ended.Origin.Location = strings.TrimPrefix(r.ended.Origin.Detail, "of ")
	return nil
}

// prune removes the oldest chunks and profiles beyond MaxAge and MaxSize. It never removes the chunk that is being
// written.
func (r *Recorder) prune() {
	now := r.o.Now()
	r.pruned = now
	if c := r.chunk; c != nil && !r.tight && r.o.MaxSize > 0 && 3*c.targetSize(r.o.ChunkSize) > r.o.MaxSize {
		r.tight = true
		r.o.Log(fmt.Sprintf("--max-size of %s holds fewer than three chunks: the keys alone take %s in each",
			words.Bytes(r.o.MaxSize), words.Bytes(c.base)))
	}
	names, err := source.ChunkNames(r.o.Dir)
	if err != nil {
		return
	}
	type file struct {
		path string
		size int64
		end  time.Time
	}
	var files []file
	total := int64(0)
	for _, name := range names {
		path := filepath.Join(r.o.Dir, name)
		info, err := os.Stat(path)
		if err != nil {
			continue
		}
		total += info.Size()
		if r.chunk == nil || path != r.chunk.path {
			files = append(files, file{path, info.Size(), info.ModTime()})
		}
	}
	if r.o.Profiles != nil {
		total += r.o.Profiles.prune(now, r.o.MaxAge, r.o.MaxSize/4)
	}
	for _, f := range files {
		tooOld := r.o.MaxAge > 0 && now.Sub(f.end) > r.o.MaxAge
		tooLarge := r.o.MaxSize > 0 && total > r.o.MaxSize
		if !tooOld && !tooLarge {
			return
		}
		if err := os.Remove(f.path); err != nil {
			r.o.Log(fmt.Sprintf("cannot remove an old chunk: %v", err))
			return
		}
		total -= f.size
	}
}

// folderLock excludes a second recorder from a folder. The system releases it when the process ends.
type folderLock struct{ file *os.File }

func lockFolder(dir string) (*folderLock, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("record into %s: %w", dir, err)
	}
	file, err := os.OpenFile(filepath.Join(dir, lockName), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("record into %s: %w", dir, err)
	}
	if err := tryLock(file); err != nil {
		_ = file.Close()
		return nil,
			hints.Errorf("choose another folder, or stop that recorder",
				"record into %s: another recorder writes there", dir)
	}
	return &folderLock{file}, nil
}

func (l *folderLock) release() {
	_ = l.file.Close()
}

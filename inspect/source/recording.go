package source

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"

	"kitescope/internal/hints"
)

// Recording is a directory written by kitescope record. It holds chunks; each chunk is a bundle that continues
// the previous one. Changes to the directory after it was opened are ignored.
type Recording struct {
	dir    string
	opts   Options
	chunks []recordedChunk
	gaps   gapList

	mu     sync.Mutex
	opened []openedChunk // the most recently used chunks
}

var _ Past = (*Recording)(nil)

// recordedChunk holds the path and the manifest of a chunk.
type recordedChunk struct {
	path     string
	manifest Manifest
}

func (c *recordedChunk) first() int64 { return c.manifest.History.Oldest }

type openedChunk struct {
	index  int
	bundle *Bundle
}

const (
	// maxOpened is the maximum number of open chunks.
	maxOpened = 3
	// maxRecorded bounds the number of chunks in a directory.
	maxRecorded = 20_000
)

// ChunkName returns the file name of the n-th chunk of a recording that starts at began. Chunks are sorted by
// number, because a clock may be set back.
func ChunkName(n int, began time.Time) string {
	return fmt.Sprintf("%06d-%s.kite", n, began.UTC().Format("20060102T150405Z"))
}

// ChunkNumber returns the number in the file name of a chunk; ok is false for other files.
func ChunkNumber(name string) (n int, ok bool) {
	number, rest, _ := strings.Cut(name, "-")
	began, ok := strings.CutSuffix(rest, ".kite")
	if !ok || len(number) < 6 || len(number) > 9 || began == "" ||
		strings.Trim(number, "0123456789")+strings.Trim(began, "0123456789TZ") != "" {
		return 0, false
	}
	n, err := strconv.Atoi(number)
	return n, err == nil
}

// ChunkNames returns the file names of the chunks in a directory, sorted by number.
func ChunkNames(dir string) ([]string, error) {
	folder, err := os.Open(dir)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", dir, cause(err))
	}
	defer folder.Close()
	const atOnce = 1000
	var names []string
	for {
		entries, err := folder.ReadDir(atOnce)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", dir, cause(err))
		}
		for _, e := range entries {
			if _, ok := ChunkNumber(e.Name()); ok && !e.IsDir() {
				names = append(names, e.Name())
			}
		}
		if len(names) > maxRecorded {
			return nil, fmt.Errorf("read %s: more than %d chunks: no recording has as many", dir, maxRecorded)
		}
	}
	slices.SortFunc(names, func(a, b string) int {
		x, _ := ChunkNumber(a)
		y, _ := ChunkNumber(b)
		return cmp.Or(cmp.Compare(x, y), cmp.Compare(a, b))
	})
	return names, nil
}

func openRecording(ctx context.Context, dir string, opts Options) (Source, error) {
	names, err := ChunkNames(dir)
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return nil, noRecording(dir)
	}
	r := &Recording{dir: dir, opts: opts}
	if err := r.open(ctx, names); err != nil {
		_ = r.Close()
		return nil, err
	}
	return r, nil
}

// open reads the manifests of all chunks.
func (r *Recording) open(ctx context.Context, names []string) error {
	var last error
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			return err
		}
		path := filepath.Join(r.dir, name)
		m, err := chunkHead(ctx, path, r.opts)
		if root, ok := errors.AsType[*RootError](err); ok {
			return root
		}
		if err != nil {
			last = err
			r.gaps.put(Gap{Where: path, Reason: err.Error()})
			continue
		}
		r.add(recordedChunk{path, m})
	}
	if err := r.dropIncomplete(ctx); err != nil {
		return err
	}
	if len(r.chunks) == 0 {
		return hints.Attach(cmp.Or(last, fmt.Errorf("read %s: no chunk of the recording has begun", r.dir)),
			"was it written by kitescope record?")
	}
	return nil
}

// noRecording returns the error for a directory without a recording. The hint suggests a recording in a
// sub-directory.
func noRecording(dir string) error {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if names, _ := ChunkNames(filepath.Join(dir, e.Name())); e.IsDir() && len(names) > 0 {
			return hints.Errorf("name one of them, such as "+filepath.Join(dir, e.Name()),
				"open %s: a directory of several recordings", dir)
		}
	}
	return hints.Errorf("name a file, etcd's data directory, or a recording of kitescope record",
		"open %s: a directory without member/snap/db and without a recording", dir)
}

// chunkHead reads the manifest of a chunk.
func chunkHead(ctx context.Context, path string, opts Options) (m Manifest, err error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return m, fmt.Errorf("read %s: not a regular file", path)
	}
	src, err := openPath(ctx, path, opts)
	if err != nil {
		return m, err
	}
	defer src.Close()
	b, ok := src.(*Bundle)
	if !ok || !b.isRecording() {
		return m, fmt.Errorf("read %s: not a chunk of a recording", path)
	}
	return b.manifest, nil
}

// add appends the next chunk. If it does not continue the previous one, it is from another etcd, and the
// earlier chunks are skipped with a gap.
func (r *Recording) add(c recordedChunk) {
	if n := len(r.chunks); n > 0 {
		before := &r.chunks[n-1]
		other := c.manifest.Root != before.manifest.Root || c.manifest.MetaPath != before.manifest.MetaPath
		if other || c.manifest.History.Restarted || c.first() < before.first() {
			r.gaps.put(Gap{
				Where:      before.path + " and before it",
				Reason:     "from another etcd than the chunks that follow: name the file to read it",
				Unrecorded: true,
			})
			r.chunks = nil
		}
	}
	r.chunks = append(r.chunks, c)
}

// dropIncomplete drops chunks at the end that were truncated within their initial keys.
func (r *Recording) dropIncomplete(ctx context.Context) error {
	for len(r.chunks) > 0 {
		i := len(r.chunks) - 1
		_, last, err := r.chunk(ctx, i)
		if err != nil {
			return err
		}
		if last.complete {
			return nil
		}
		r.gaps.put(Gap{Where: r.chunks[i].path, Reason: "it ends within its first keys"})
		r.chunks = r.chunks[:i]
	}
	return nil
}

// chunk opens chunk i and returns it with the end of its history.
func (r *Recording) chunk(ctx context.Context, i int) (*Bundle, bundleEdge, error) {
	b, err := r.bundle(ctx, i)
	if err != nil {
		return nil, bundleEdge{}, err
	}
	last, err := b.edge(ctx)
	return b, last, err
}

func (r *Recording) bundle(ctx context.Context, i int) (*Bundle, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	at := slices.IndexFunc(r.opened, func(o openedChunk) bool { return o.index == i })
	if at >= 0 {
		o := r.opened[at]
		r.opened = append(append(r.opened[:at:at], r.opened[at+1:]...), o)
		return o.bundle, nil
	}
	src, err := openPath(ctx, r.chunks[i].path, r.opts)
	if err != nil {
		return nil, err
	}
	b, ok := src.(*Bundle)
	if !ok || b.manifest.History == nil {
		_ = src.Close()
		return nil, fmt.Errorf("read %s: it has changed", r.chunks[i].path)
	}
	if len(r.opened) == maxOpened {
		_ = r.opened[0].bundle.Close()
		r.opened = slices.Clone(r.opened[1:])
	}
	r.opened = append(r.opened, openedChunk{i, b})
	return b, nil
}

// Origin returns the location of the directory and of the recorded etcd.
func (r *Recording) Origin() Origin {
	return Origin{
		Kind: KindRecording, Location: r.dir, Detail: "of " + r.chunks[len(r.chunks)-1].manifest.Origin.Location,
	}
}

// Close closes the open chunks.
func (r *Recording) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, o := range r.opened {
		_ = o.bundle.Close()
	}
	r.opened = nil
	return nil
}

// Pin pins the last recorded revision.
func (r *Recording) Pin(ctx context.Context) (Snapshot, error) {
	_, last, err := r.chunk(ctx, len(r.chunks)-1)
	if err != nil {
		return nil, err
	}
	return r.PinAt(ctx, Header{}, last.revision)
}

// Oldest returns the first revision of the first chunk.
func (r *Recording) Oldest(context.Context, Header) (int64, error) { return r.chunks[0].first(), nil }

// firstAfter returns the index of the first chunk that starts after a revision.
func (r *Recording) firstAfter(revision int64) int {
	return sort.Search(len(r.chunks), func(i int) bool { return r.chunks[i].first() > revision })
}

// lastUpTo returns the last chunk that starts at or before a revision, and the end of its history. i is -1 if
// no chunk does. If the chunk ends before end, lastUpTo returns the previous chunk if that one ends later,
// because a chunk may have been started but not continued.
func (r *Recording) lastUpTo(ctx context.Context, revision, end int64) (i int, b *Bundle, last bundleEdge, err error) {
	i = r.firstAfter(revision) - 1
	if i < 0 {
		return i, nil, last, nil
	}
	b, last, err = r.chunk(ctx, i)
	if err == nil && i > 0 && last.revision < end {
		if before, edge, err := r.chunk(ctx, i-1); err == nil && edge.revision > last.revision {
			return i - 1, before, edge, nil
		}
	}
	return i, b, last, err
}

// find returns the chunk that contains a revision, and the end of the history of that chunk. For a revision in a gap
// between chunks, which was not recorded, it returns the last chunk before the gap. It returns a *RevisionError for a
// revision before the first chunk or after the last one.
func (r *Recording) find(ctx context.Context, revision int64) (i int, b *Bundle, last bundleEdge, err error) {
	i, b, last, err = r.lastUpTo(ctx, revision, revision)
	if err == nil && (i < 0 || revision > last.revision && r.firstAfter(revision) == len(r.chunks)) {
		var newest bundleEdge
		if _, newest, err = r.chunk(ctx, len(r.chunks)-1); err == nil {
			err = &RevisionError{Where: r.dir, Wanted: revision, Oldest: r.chunks[0].first(), Newest: newest.revision}
		}
	}
	return i, b, last, err
}

// findRecorded calls find and returns an error if the revision was not recorded.
func (r *Recording) findRecorded(ctx context.Context, revision int64) (i int, b *Bundle, err error) {
	i, b, last, err := r.find(ctx, revision)
	if err == nil && revision > last.revision {
		next := r.chunks[r.firstAfter(revision)].manifest
		err = hints.Errorf(fmt.Sprintf("name a moment before or after it: --at rev:%d, --at rev:%d", last.revision,
			next.Revision),
			"read %s: revision %d was not recorded: nothing was recorded from %s to %s",
			r.dir, revision, recordedText(last.at), recordedText(next.Taken))
	}
	return i, b, err
}

func recordedText(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") }

// PinAt returns the cluster at a revision.
func (r *Recording) PinAt(ctx context.Context, h Header, revision int64) (Snapshot, error) {
	_, b, err := r.findRecorded(ctx, revision)
	if err != nil {
		return nil, err
	}
	snap, err := b.PinAt(ctx, h, revision)
	if err != nil {
		return nil, err
	}
	h = snap.Header()
	h.Origin = r.Origin()
	return &recordedSnapshot{snap, h, r}, nil
}

// recordedSnapshot is a recording at a revision.
type recordedSnapshot struct {
	Snapshot
	header    Header
	recording *Recording
}

// Header implements Snapshot.
func (s *recordedSnapshot) Header() Header { return s.header }

// Gaps returns the gaps of the chunk and of the recording.
func (s *recordedSnapshot) Gaps() []Gap { return append(s.recording.gaps.list(), s.Snapshot.Gaps()...) }

// GetAt returns one key at a revision. If the revision was not recorded, it returns the last known state of the
// key.
func (r *Recording) GetAt(ctx context.Context, h Header, revision int64, key string) (*KV, error) {
	_, b, last, err := r.find(ctx, revision)
	if err != nil {
		return nil, err
	}
	return b.GetAt(ctx, h, min(revision, last.revision), key)
}

// Chunks returns the chunk that has a revision at a time. It also returns the previous chunk if that chunk
// extends to the start of this chunk, because process data from just before may be in either. While nothing
// is written, many chunks have the same revision; a zero time selects the last chunk.
func (r *Recording) Chunks(ctx context.Context, revision int64, at time.Time) ([]*Bundle, error) {
	i, b, err := r.findRecorded(ctx, revision)
	for err == nil && i > 0 && !at.IsZero() && r.chunks[i].first() == revision && r.chunks[i].manifest.Taken.After(at) {
		before, last, failed := r.chunk(ctx, i-1)
		if err = failed; err != nil || last.revision < revision {
			break
		}
		i, b = i-1, before
	}
	if err != nil || i == 0 {
		return []*Bundle{b}, err
	}
	before, last, err := r.chunk(ctx, i-1)
	if err != nil || last.revision < r.chunks[i].first() {
		return []*Bundle{b}, nil //nolint:nilerr // what the chunk before had is not known then
	}
	return []*Bundle{before, b}, nil
}

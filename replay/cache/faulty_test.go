package cache

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"kitescope/engine/object"
)

// files are what the stores of the tests hold.
func files() map[string][]byte {
	all := map[string][]byte{"empty": {}, "insert_log/1/2/3/0/7": []byte("a log of one block")}
	for i, name := range []string{"insert_log/1/2/3/100/8", "insert_log/1/2/3/100/9", "index_files/5/1/2/3/HNSW"} {
		b := make([]byte, 100_000+i*777)
		for j := range b {
			b[j] = byte(j*j>>5 + i)
		}
		all[name] = b
	}
	return all
}

// folderStore and tarStore hold files().
func folderStore(t testing.TB) (s object.Store, dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, content := range files() {
		put(t, filepath.Join(dir, filepath.FromSlash(name)), content)
	}
	s, err := object.OpenFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s, dir
}

func tarStore(t testing.TB) object.Store {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, name := range slices.Sorted(maps.Keys(files())) {
		content := files()[name]
		if err := w.WriteHeader(&tar.Header{Name: name, Size: int64(len(content)), Mode: 0o600}); err != nil {
			t.Fatal(err)
		}
		w.Write(content)
	}
	w.Close()
	path := filepath.Join(t.TempDir(), "storage.tar")
	put(t, path, b.Bytes())
	s, err := object.OpenTar(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func put(t testing.TB, path string, content []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

// faulty is a store in front of a real one that fails as it is told, and counts what it gives.
type faulty struct {
	object.Store
	// fail is asked before each operation (list, open, read), with how many there were of it; an error ends it.
	fail func(op, name string, n int) error
	// short is asked how much of a read of n bytes is given, with what error.
	short func(off int64, n, read int) (int, error)
	// hang lets a read wait for its context.
	hang func(read int) bool
	// version of all files.
	version string

	mu    sync.Mutex
	count map[string]int
	bytes int64
}

func (f *faulty) step(op, name string) (n int, err error) {
	f.mu.Lock()
	if f.count == nil {
		f.count = map[string]int{}
	}
	f.count[op]++
	n = f.count[op]
	f.mu.Unlock()
	if f.fail != nil {
		err = f.fail(op, name, n)
	}
	return n, err
}

// given is how many operations there were, and bytes of reads.
func (f *faulty) given(op string) (n int, size int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.count[op], f.bytes
}

func (f *faulty) List(ctx context.Context, prefix string) ([]object.File, error) {
	if _, err := f.step("list", prefix); err != nil {
		return nil, err
	}
	return f.Store.List(ctx, prefix)
}

func (f *faulty) Open(ctx context.Context, name string) (object.Reader, error) {
	if _, err := f.step("open", name); err != nil {
		return nil, err
	}
	r, err := f.Store.Open(ctx, name)
	if err != nil {
		return nil, err
	}
	return &faultyReader{Reader: r, store: f, ctx: ctx, name: name}, nil
}

type faultyReader struct {
	object.Reader
	store *faulty
	ctx   context.Context
	name  string
}

func (r *faultyReader) Version() string { return r.store.version }

func (r *faultyReader) ReadAt(p []byte, off int64) (int, error) {
	f := r.store
	read, err := f.step("read", r.name)
	if err != nil {
		return 0, err
	}
	if f.hang != nil && f.hang(read) {
		<-r.ctx.Done()
		return 0, r.ctx.Err()
	}
	n, cut := len(p), error(nil)
	if f.short != nil {
		n, cut = f.short(off, len(p), read)
	}
	n, err = r.Reader.ReadAt(p[:n], off)
	f.mu.Lock()
	f.bytes += int64(n)
	f.mu.Unlock()
	if cut != nil {
		err = cut
	}
	return n, err
}

// errSlowDown is what a throttling server says.
var errSlowDown = tooFastError{}

type tooFastError struct{}

func (tooFastError) Error() string   { return "SlowDown: please reduce your request rate" }
func (tooFastError) Timeout() bool   { return true }
func (tooFastError) Temporary() bool { return true }

// waits records waits, and takes no time.
type waits struct {
	mu  sync.Mutex
	all []time.Duration
}

func (w *waits) retries() Retries {
	return Retries{Random: func() float64 { return 0.5 }, Sleep: func(ctx context.Context, d time.Duration) error {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.all = append(w.all, d)
		return ctx.Err()
	}}
}

// readAll reads a file of a store as a whole, in reads of n bytes.
func readAll(ctx context.Context, s object.Store, name string, n int) ([]byte, error) {
	r, err := s.Open(ctx, name)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	b := make([]byte, 0, r.Size())
	for at := int64(0); at < r.Size(); {
		p := make([]byte, min(int64(n), r.Size()-at))
		got, err := r.ReadAt(p, at)
		b = append(b, p[:got]...)
		if at += int64(got); err != nil && !(errors.Is(err, io.EOF) && at == r.Size()) {
			return b, err
		}
	}
	return b, nil
}

// blocks are the paths of blocks in a folder, and leftover those of other files.
func blocks(t testing.TB, folder string) (paths, leftover []string) {
	t.Helper()
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if _, ok := blockName(d.Name()); ok {
			paths = append(paths, path)
		} else {
			leftover = append(leftover, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return paths, leftover
}

package cache

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"kitescope/engine/object"
	"kitescope/internal/hints"
)

// block is the length of blocks of the tests: files have thirteen of them, or one.
const block = 8192

// opened is a cache with its notes.
type opened struct {
	object.Store
	mu    sync.Mutex
	notes []string
}

func open(t testing.TB, s object.Store, o Options) *opened {
	t.Helper()
	c := &opened{}
	o.Retries, o.Block = (&waits{}).retries(), block
	o.Note = func(n string) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.notes = append(c.notes, n)
	}
	var err error
	if c.Store, err = Open(s, o); err != nil {
		t.Fatal(err)
	}
	return c
}

// want reads a file and holds it against what it should be.
func (c *opened) want(t testing.TB, name string, content []byte) {
	t.Helper()
	if b, err := readAll(t.Context(), c, name, 3000); err != nil || !bytes.Equal(b, content) {
		t.Errorf("%s: %d bytes, %v; expected %d", name, len(b), err, len(content))
	}
}

// said expects notes that have these words, in this order.
func (c *opened) said(t testing.TB, words ...string) {
	t.Helper()
	ok := len(c.notes) == len(words)
	for i := 0; ok && i < len(words); i++ {
		ok = strings.Contains(c.notes[i], words[i])
	}
	if !ok {
		t.Errorf("notes %q, expected %q", c.notes, words)
	}
}

func TestReadsEachByteOnce(t *testing.T) {
	for name, s := range stores(t) {
		far := &faulty{Store: s}
		folder := t.TempDir()
		var total int64
		for range 2 { // the second time all comes from the folder
			c := open(t, far, Options{Folder: folder, Place: "here"})
			conform(t, name, c)
			c.said(t)
			total = 0
			for _, content := range files() {
				total += int64(len(content))
			}
			if _, size := far.given("read"); size != total {
				t.Errorf("%s: %d bytes were fetched of %d", name, size, total)
			}
		}
		if _, leftover := blocks(t, folder); len(leftover) > 0 {
			t.Errorf("%s: left over: %q", name, leftover)
		}
		if list, err := open(t, far, Options{Folder: folder}).List(t.Context(), "insert_log/"); err != nil || len(list) != 3 {
			t.Errorf("%s: %d files, %v", name, len(list), err)
		}
	}
}

func TestPlacesAreApart(t *testing.T) {
	folder, dir := folderStore(t)
	kept := t.TempDir()
	open(t, folder, Options{Folder: kept, Place: "a"}).want(t, long, files()[long])
	other := bytes.Repeat([]byte("other bytes"), 3000)
	put(t, filepath.Join(dir, long), other)
	b := open(t, folder, Options{Folder: kept, Place: "b"})
	b.want(t, long, other)
	b.said(t)
}

func TestGoesOnAfterAnInterruption(t *testing.T) {
	folder, _ := folderStore(t)
	far := &faulty{Store: folder}
	kept := t.TempDir()
	gone := errors.New("the process ends here")
	far.fail = func(op, _ string, n int) error {
		if op == "read" && n > 5 {
			return gone
		}
		return nil
	}
	if _, err := readAll(t.Context(), open(t, far, Options{Folder: kept}), long, 3000); !errors.Is(err, gone) {
		t.Errorf("%v", err)
	}
	put(t, filepath.Join(kept, placeName(""), stemOf(long)[:2], temporary+"123"), make([]byte, 5000)) // half of the sixth block
	far.fail = nil
	c := open(t, far, Options{Folder: kept, Now: func() time.Time { return time.Now().Add(2 * abandoned) }})
	c.want(t, long, files()[long])
	c.said(t)
	if _, size := far.given("read"); size != int64(len(files()[long])) {
		t.Errorf("%d bytes were fetched of %d", size, len(files()[long]))
	}
	if _, leftover := blocks(t, kept); len(leftover) > 0 {
		t.Errorf("left over: %q", leftover)
	}
}

func TestFetchesAgainWhatIsDamaged(t *testing.T) {
	for name, harm := range map[string]func(b []byte) []byte{
		"bit of the content":  func(b []byte) []byte { b[headerSize+4000] ^= 1; return b },
		"bit of the header":   func(b []byte) []byte { b[20] ^= 4; return b },
		"cut":                 func(b []byte) []byte { return b[:len(b)/2] },
		"cut in the header":   func(b []byte) []byte { return b[:headerSize/2] },
		"empty":               func([]byte) []byte { return nil },
		"longer":              func(b []byte) []byte { return append(b, 0) },
		"zeros after a crash": func(b []byte) []byte { return make([]byte, len(b)) },
		"block of other bytes": func(b []byte) []byte {
			h := header{size: 9, block: block, length: 9}
			return append(h.bytes(), b[:9]...)
		},
	} {
		folder, _ := folderStore(t)
		far := &faulty{Store: folder}
		kept := t.TempDir()
		open(t, far, Options{Folder: kept}).want(t, long, files()[long])
		path := filepath.Join(kept, placeName(""), stemOf(long)[:2], stemOf(long)+"-3")
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		put(t, path, harm(b))
		c := open(t, far, Options{Folder: kept})
		c.want(t, long, files()[long])
		if len(c.notes) != 1 || !strings.Contains(c.notes[0], "block 3 of "+long) {
			t.Errorf("%s: notes %q", name, c.notes)
		}
		if _, size := far.given("read"); size != int64(len(files()[long])+block) {
			t.Errorf("%s: expected %d bytes were fetched, one block again", name, size)
		}
		c = open(t, far, Options{Folder: kept})
		c.want(t, long, files()[long])
		c.said(t)
	}
}

func TestFetchesAgainWhatChanged(t *testing.T) {
	folder, dir := folderStore(t)
	kept := t.TempDir()
	far := &faulty{Store: folder, version: "etag 1"}
	open(t, far, Options{Folder: kept}).want(t, long, files()[long])
	longer := append(bytes.Repeat([]byte{9}, block), 1)
	put(t, filepath.Join(dir, long), longer)
	c := open(t, far, Options{Folder: kept})
	c.want(t, long, longer)
	c.said(t, "block 0 of "+long+" in the cache was changed: the file had 100000 bytes and has 8193", "block 1 of ")
	longer[0] = 8
	put(t, filepath.Join(dir, long), longer)
	far.version = "etag 2"
	c = open(t, far, Options{Folder: kept})
	c.want(t, long, longer)
	c.said(t, "another version", "another version")
}

func TestUnreachableStore(t *testing.T) {
	folder, _ := folderStore(t)
	kept := t.TempDir()
	far := &faulty{Store: folder, version: "etag"}
	c := open(t, far, Options{Folder: kept})
	c.want(t, long, files()[long])
	if r, err := c.Open(t.Context(), "insert_log/1/2/3/100/9"); err != nil {
		t.Error(err)
	} else {
		r.ReadAt(make([]byte, 9), 0) // a part of it
		r.Close()
	}
	far.fail = func(string, string, int) error { return errSlowDown }
	c.want(t, long, files()[long])
	c.want(t, long, files()[long])
	c.said(t, "storage unreachable")
	if _, err := c.Open(t.Context(), "insert_log/1/2/3/100/9"); !errors.Is(err, errSlowDown) {
		t.Errorf("a file of which a part is there: %v", err)
	}
	if _, err := c.List(t.Context(), ""); !errors.Is(err, errSlowDown) {
		t.Errorf("a listing: %v", err)
	}
	far.fail = func(string, string, int) error { return os.ErrNotExist }
	if _, err := c.Open(t.Context(), long); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file that is gone: %v", err)
	}
}

func TestManyReadersFetchOnce(t *testing.T) {
	folder, _ := folderStore(t)
	far := &faulty{Store: folder}
	c := open(t, far, Options{Folder: t.TempDir()})
	var wait sync.WaitGroup
	for i := range 16 {
		wait.Go(func() {
			if b, err := readAll(t.Context(), c, long, 1000+777*i); err != nil || !bytes.Equal(b, files()[long]) {
				t.Errorf("%d bytes, %v", len(b), err)
			}
		})
	}
	wait.Wait()
	if _, size := far.given("read"); size != int64(len(files()[long])) {
		t.Errorf("%d bytes were fetched of %d", size, len(files()[long]))
	}
}

func TestCancelledFetchIsTakenOver(t *testing.T) {
	folder, _ := folderStore(t)
	far := &faulty{Store: folder, hang: func(read int) bool { return read == 1 }}
	c := open(t, far, Options{Folder: t.TempDir()})
	ctx, cancel := context.WithCancel(t.Context())
	var wait sync.WaitGroup
	wait.Go(func() {
		if _, err := readAll(ctx, c, long, 3000); !errors.Is(err, context.Canceled) {
			t.Errorf("the first: %v", err)
		}
	})
	for n := 0; n == 0; n, _ = far.given("read") {
		time.Sleep(time.Millisecond)
	}
	for range 3 {
		wait.Go(func() { c.want(t, long, files()[long]) })
	}
	time.Sleep(5 * time.Millisecond) // some may wait for the first by now
	cancel()
	wait.Wait()
}

func TestTwoCachesOfOneFolder(t *testing.T) {
	folder, _ := folderStore(t)
	kept := t.TempDir()
	var wait sync.WaitGroup
	for i := range 6 {
		c := open(t, folder, Options{Folder: kept, Limit: 150_000, Place: strconv.Itoa(i % 2)})
		wait.Go(func() {
			for range 4 {
				for name, content := range files() {
					c.want(t, name, content)
				}
			}
			for _, n := range c.notes {
				t.Errorf("a note: %s", n)
			}
		})
	}
	wait.Wait()
	if _, leftover := blocks(t, kept); len(leftover) > 0 {
		t.Errorf("left over: %q", leftover)
	}
}

func TestFullDisk(t *testing.T) {
	folder, _ := folderStore(t)
	kept := t.TempDir()
	c := open(t, folder, Options{Folder: kept})
	under := c.Store.(*cached)
	c.want(t, "insert_log/1/2/3/100/9", files()["insert_log/1/2/3/100/9"])
	for name, c := range map[string]struct {
		err  error
		hint string
	}{
		"full": {syscall.ENOSPC, "free space"}, "read-only": {syscall.EROFS, "writable"}, "denied": {os.ErrPermission, "writable"},
	} {
		under.save = func(path string, _ header, _ []byte) error { return &os.PathError{Op: "write", Path: path, Err: c.err} }
		_, err := readAll(t.Context(), under, long, 3000)
		hint, ok := errors.AsType[*hints.Error](err)
		if !ok || !errors.Is(err, c.err) || !strings.Contains(hint.Hint(), c.hint) || !strings.Contains(err.Error(), long) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// Room was made by what is old, and what fits then is kept.
	tries := 0
	under.save = func(path string, h header, b []byte) error {
		if tries++; tries == 1 {
			return syscall.ENOSPC
		}
		return under.write(path, h, b)
	}
	before, _ := blocks(t, kept)
	c.want(t, long, files()[long])
	if tries != 14 {
		t.Errorf("%d writes, expected 13 and one again", tries)
	}
	under.save = under.write
	c.want(t, "insert_log/1/2/3/100/9", files()["insert_log/1/2/3/100/9"])
	after, leftover := blocks(t, kept)
	if len(after) != 26 || len(leftover) > 0 {
		t.Errorf("%d blocks, then %d; left over %q", len(before), len(after), leftover)
	}
	c.said(t)
}

func TestFolderThatCannotBe(t *testing.T) {
	folder, _ := folderStore(t)
	file := filepath.Join(t.TempDir(), "file")
	put(t, file, nil)
	for _, o := range []Options{{Folder: file}, {Folder: file + "/below"}} {
		_, err := Open(folder, o)
		if hint, ok := errors.AsType[*hints.Error](err); !ok || hint.Hint() == "" || !strings.Contains(err.Error(), file) {
			t.Errorf("%v", err)
		}
	}
	for _, o := range []Options{{}, {Folder: file, Limit: -1}, {Folder: file, Block: maxBlock + 1}} {
		if _, err := Open(folder, o); err == nil {
			t.Errorf("%+v opened", o)
		}
	}
}

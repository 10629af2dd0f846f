package cache

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// size is what is in a folder.
func size(t testing.TB, folder string) (n int64) {
	t.Helper()
	paths, _ := blocks(t, folder)
	for _, p := range paths {
		info, err := os.Stat(p)
		if err != nil {
			t.Fatal(err)
		}
		n += info.Size()
	}
	return n
}

const (
	first  = "insert_log/1/2/3/100/8"
	second = "insert_log/1/2/3/100/9"
	third  = "index_files/5/1/2/3/HNSW"
)

func TestLimitTakesWhatWasNotUsedForLongest(t *testing.T) {
	folder, _ := folderStore(t)
	far := &faulty{Store: folder}
	kept := t.TempDir()
	put(t, filepath.Join(kept, "mine.txt"), []byte("not ours"))
	put(t, filepath.Join(kept, placeName(""), "ab", "mine.txt"), []byte("not ours"))
	clock := time.Now().Add(-24 * time.Hour)
	const limit = 225_000 // two files and some
	c := open(t, far, Options{Folder: kept, Limit: limit, Now: func() time.Time { clock = clock.Add(time.Second); return clock }})
	read := func(name string) (fetched int64) {
		_, before := far.given("read")
		c.want(t, name, files()[name])
		_, after := far.given("read")
		if n := size(t, kept); n > limit {
			t.Errorf("%d bytes in the cache after %s, the limit is %d", n, name, limit)
		}
		return after - before
	}
	read(first)
	read(second)
	if read(first) != 0 {
		t.Error("the first was fetched again")
	}
	read(third) // for which blocks of the second go
	if n := read(first); n != 0 {
		t.Errorf("%d bytes of the first were fetched again, the second was older", n)
	}
	if n := read(second); n == 0 || n > int64(len(files()[second])) {
		t.Errorf("%d bytes of the second were fetched again", n)
	}
	c.said(t)
	if _, leftover := blocks(t, kept); len(leftover) != 2 {
		t.Errorf("files of others: %q", leftover)
	}
}

func TestLimitLeavesWhatIsOpen(t *testing.T) {
	folder, _ := folderStore(t)
	far := &faulty{Store: folder}
	kept := t.TempDir()
	c := open(t, far, Options{Folder: kept, Limit: 120_000})
	c.Store.(*cached).memory.most = 1 // so that all comes from the folder
	r, err := c.Open(t.Context(), first)
	if err != nil {
		t.Fatal(err)
	}
	b := make([]byte, r.Size())
	if _, err := r.ReadAt(b, 0); err != nil {
		t.Fatal(err)
	}
	c.want(t, second, files()[second]) // is read all the same
	c.said(t, "the cache limit of 120000 bytes")
	_, before := far.given("read")
	if _, err := r.ReadAt(b, 0); err != nil || string(b) != string(files()[first]) {
		t.Fatal(err)
	}
	if _, after := far.given("read"); after != before {
		t.Errorf("%d bytes of an open file were fetched again", after-before)
	}
	r.Close()
	if err := r.Close(); err == nil || !strings.Contains(err.Error(), first) {
		t.Errorf("closed twice: %v", err)
	}
	c.want(t, second, files()[second])
	_, before = far.given("read")
	c.want(t, second, files()[second]) // now there was room
	if _, after := far.given("read"); after != before || size(t, kept) > 120_000 {
		t.Errorf("%d bytes fetched again, %d are kept", after-before, size(t, kept))
	}
}

func TestLimitHoldsForAFolderThatIsThere(t *testing.T) {
	folder, _ := folderStore(t)
	kept := t.TempDir()
	c := open(t, folder, Options{Folder: kept, Place: "one"})
	c.want(t, first, files()[first])
	c.want(t, second, files()[second])
	open(t, folder, Options{Folder: kept, Place: "two", Limit: 50_000})
	if n := size(t, kept); n > 50_000 || n == 0 {
		t.Errorf("%d bytes are left, the limit is 50000", n)
	}
	c.want(t, first, files()[first])
	c.said(t)
}

func TestMemoryIsBounded(t *testing.T) {
	m := &memory{most: 100, blocks: map[blockID]*remembered{}}
	h := header{length: 30}
	for i := range int64(10) {
		m.put(blockID{"a", i}, h, make([]byte, 30))
		m.get(blockID{"a", 0}, h)
	}
	if m.bytes != 90 || len(m.blocks) != 3 || m.get(blockID{"a", 0}, h) == nil || m.get(blockID{"a", 9}, h) == nil {
		t.Errorf("%d bytes in %d blocks", m.bytes, len(m.blocks))
	}
	if other := (header{length: 30, size: 7}); m.get(blockID{"a", 9}, other) != nil || m.get(blockID{"a", 9}, h) != nil {
		t.Error("a block of another file was given, or kept")
	}
}

// Package cache keeps files of a far object.Store in a folder: whole or in parts, checked, bounded in size.
//
// In: an object.Store and a folder. Out: another object.Store, which reads each byte of the first one at most once, goes on
// where it was interrupted, tries again what fails in passing, and never gives bytes that changed on the way.
//
// The steps: a read is cut into blocks. Each block is a file of its own in the folder, with a header that says of what file, which
// version and which bytes it is, and with checksums (block.go). One that is there and whole is read; any other is fetched, once
// for all who want it (fetch.go), written under a temporary name, synced and renamed. So an interrupted fetch goes on with the blocks
// that are there, and processes that share a folder need no locks: the worst that they do to each other is to fetch a block twice.
// Beyond the limit the blocks that were not used for longest go (evict.go). All that is asked of the store is asked by Retrying.
//
// The store is always asked whether a file is there and how long it is, and for every listing: nothing is answered from the cache
// in silence that the store could contradict. Only while it cannot be reached are files opened that are there in whole, and that is
// a note. Milvus never writes a file twice; one that has another length or ETag than its blocks is fetched again, which is a note too.
package cache

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"kitescope/engine/object"
)

// Options say where files are kept, and how many.
type Options struct {
	Folder string // is made if it is not there
	// Limit is how many bytes the blocks in the folder may take, of all places together; 0 does not limit. With several
	// processes at once it is kept as each of them sees it, and may be exceeded by a sixteenth of it for each.
	Limit int64
	// Place is what the cache is of, as a user names it; files of another place in the same folder are others, even with
	// the same names. It is kept as a checksum only.
	Place   string
	Retries Retries
	// Now is the clock by which blocks were used; nil: time.Now.
	Now func() time.Time
	// Note is told what a user should know: damaged and changed blocks, an unreachable store, a limit that is too small. It is
	// called by one goroutine at a time; nil: nobody.
	Note func(string)
	// Block is how many bytes are fetched at once; 0 is 4 MiB. Blocks of another size are fetched again.
	Block int
	// Memory is how many bytes of checked blocks are kept for reads of a part of one; 0 is 12 blocks.
	Memory int64
}

// Open returns a store that keeps in a folder what it reads of another one, and closes it when it is closed. Its readers read until
// the context of their Open ends. A *hints.Error is a folder that cannot be made, read or written; it is also the error of a read
// whose block cannot be kept, because the disk is full or the folder has become read-only: what was kept before stays fit for use.
func Open(store object.Store, o Options) (object.Store, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Note == nil {
		o.Note = func(string) {}
	}
	if o.Block <= 0 {
		o.Block = 4 << 20
	}
	if o.Memory <= 0 {
		o.Memory = 12 * int64(o.Block)
	}
	if o.Folder == "" || o.Block > maxBlock || o.Limit < 0 {
		return nil, fmt.Errorf("open cache %q with blocks of %d bytes and a limit of %d: expected a folder, blocks of at most %d bytes and no negative limit",
			o.Folder, o.Block, o.Limit, maxBlock)
	}
	c := &cached{
		store: Retrying(store, o.Retries), options: o, open: map[string]int{}, flights: map[blockID]*flight{},
		memory: &memory{most: o.Memory, blocks: map[blockID]*remembered{}},
	}
	c.dir = filepath.Join(o.Folder, placeName(o.Place))
	c.save = c.write
	if err := c.prepare(); err != nil {
		return nil, folderError("open cache "+o.Folder, err)
	}
	return c, nil
}

// cached is the store.
type cached struct {
	store   object.Store // a Retrying one
	options Options
	dir     string // of the place
	save    func(path string, h header, content []byte) error

	mu      sync.Mutex
	open    map[string]int // readers of a file, by its stem
	flights map[blockID]*flight
	memory  *memory
	used    int64 // bytes in the folder, as far as this process knows
	wrote   int64 // since the folder was looked through
	pending int64 // of used: blocks that are being written
	full    bool  // nothing more can be evicted before a reader is closed
	said    map[string]bool

	noting sync.Mutex
}

func (c *cached) String() string { return fmt.Sprint(c.store) + ", cached in " + c.options.Folder }

// prepare makes the folder, sees that it can be written, and counts what is in it.
func (c *cached) prepare() error {
	if err := os.MkdirAll(c.dir, 0o700); err != nil {
		return err
	}
	probe, err := os.CreateTemp(c.dir, temporary)
	if err != nil {
		return err
	}
	_ = probe.Close()
	if err := os.Remove(probe.Name()); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.sweep(0, 0)
}

// List asks the store: a listing is never kept.
func (c *cached) List(ctx context.Context, prefix string) ([]object.File, error) {
	return c.store.List(ctx, prefix)
}

// Close closes the store behind; readers must be closed before.
func (c *cached) Close() error { return c.store.Close() }

func (c *cached) Open(ctx context.Context, name string) (object.Reader, error) {
	r := &reader{cache: c, ctx: ctx, name: name, stem: stemOf(name), block: int64(c.options.Block)}
	far, err := c.store.Open(ctx, name)
	switch {
	case err == nil:
		r.far, r.size, r.version = far, far.Size(), versionHash(far)
	case ctx.Err() == nil && object.Temporary(err):
		first, whole := c.whole(name)
		if !whole {
			return nil, err
		}
		r.size, r.version = first.size, first.version
		c.noteOnce("unreachable", fmt.Sprintf("storage unreachable (%v): reading cached files as they were", err))
	default:
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open[r.stem]++
	return r, nil
}

func (c *cached) note(text string) {
	c.noting.Lock()
	defer c.noting.Unlock()
	c.options.Note(text)
}

// noteOnce is note for what would be said again for each file.
func (c *cached) noteOnce(about, text string) {
	c.mu.Lock()
	if c.said == nil {
		c.said = map[string]bool{}
	}
	again := c.said[about]
	c.said[about] = true
	c.mu.Unlock()
	if !again {
		c.note(text)
	}
}

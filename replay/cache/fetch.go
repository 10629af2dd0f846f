package cache

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sync"

	"kitescope/engine/object"
)

// reader reads a file through the cache. Several goroutines may.
type reader struct {
	cache   *cached
	ctx     context.Context // of Open, which bounds reads, as it does those of a bucket
	name    string
	stem    string
	size    int64
	version [16]byte // as a header has it
	block   int64

	mu     sync.Mutex
	far    object.Reader // nil while the store cannot be reached
	closed bool
}

func (r *reader) Size() int64 { return r.size }

func (r *reader) Close() error {
	r.mu.Lock()
	far, closed := r.far, r.closed
	r.far, r.closed = nil, true
	r.mu.Unlock()
	if closed {
		return fmt.Errorf("close %s: %w", r.name, fs.ErrClosed)
	}
	c := r.cache
	c.mu.Lock()
	if c.open[r.stem]--; c.open[r.stem] <= 0 {
		delete(c.open, r.stem)
	}
	c.full = false
	c.mu.Unlock()
	if far == nil {
		return nil
	}
	return far.Close()
}

func (r *reader) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 {
		return 0, fmt.Errorf("read %s: offset %d", r.name, off)
	}
	want := int(max(min(int64(len(p)), r.size-off), 0))
	for done := 0; done < want; {
		at := off + int64(done)
		number := at / r.block
		from := at - number*r.block
		n := int(min(int64(want-done), r.block-from))
		if err := r.part(number, from, p[done:done+n]); err != nil {
			return done, err
		}
		done += n
	}
	if want < len(p) {
		return want, io.EOF
	}
	return want, nil
}

// part reads the bytes of a block from an offset on. All of a block goes from the disk to where it is wanted.
func (r *reader) part(number, from int64, dst []byte) error {
	if err := r.ctx.Err(); err != nil {
		return err
	}
	want := r.wanted(number)
	if want.length == int64(len(dst)) && !r.cache.known(blockID{r.stem, number}) {
		_, err := r.cache.load(r.cache.path(r.stem, number), want, dst)
		if err == nil {
			return nil
		}
	}
	b, err := r.get(number, want)
	if err == nil {
		copy(dst, b[from:])
	}
	return err
}

// blockID is one block of a file.
type blockID struct {
	stem   string
	number int64
}

// flight is a block on its way; what it brings is read by all who wait for it.
type flight struct {
	header header // of what is wanted
	done   chan struct{}
	b      []byte
	err    error
	own    bool // the error is of who fetched: cancelled, or closed
}

// known reports whether a block is in memory or on its way.
func (c *cached) known(id blockID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.flights[id] != nil || c.memory.blocks[id] != nil
}

// get returns a block from memory, from the flight that brings it, or by a flight of its own.
func (r *reader) get(number int64, want header) ([]byte, error) {
	c, id := r.cache, blockID{r.stem, number}
	for {
		c.mu.Lock()
		if b := c.memory.get(id, want); b != nil {
			c.mu.Unlock()
			return b, nil
		}
		f := c.flights[id]
		if f == nil {
			f = &flight{header: want, done: make(chan struct{})}
			c.flights[id] = f
			c.mu.Unlock()
			f.b, f.err = r.bring(number, want)
			f.own = f.err != nil && (r.ctx.Err() != nil || errors.Is(f.err, fs.ErrClosed))
			c.mu.Lock()
			if f.err == nil {
				c.memory.put(id, want, f.b)
			}
			delete(c.flights, id)
			c.mu.Unlock()
			close(f.done)
			return f.b, f.err
		}
		c.mu.Unlock()
		select {
		case <-r.ctx.Done():
			return nil, r.ctx.Err()
		case <-f.done:
		}
		if !f.own && f.header == want {
			return f.b, f.err
		}
	}
}

// bring reads a block from the folder, or else from the store.
func (r *reader) bring(number int64, want header) ([]byte, error) {
	c, path := r.cache, r.cache.path(r.stem, number)
	b, err := c.load(path, want, nil)
	switch {
	case err == nil:
		return b, nil
	case errors.Is(err, errDamaged), errors.Is(err, errChanged):
		c.note(fmt.Sprintf("block %d of %s in the cache was %v; fetching it again", number, r.name, err))
	case !errors.Is(err, fs.ErrNotExist):
		return nil, folderError(fmt.Sprintf("read block %d of %s in cache %s", number, r.name, c.options.Folder), err)
	}
	far, err := r.reach()
	if err != nil {
		return nil, err
	}
	b = make([]byte, want.length)
	if n, err := far.ReadAt(b, number*r.block); n < len(b) {
		if err == nil || errors.Is(err, io.EOF) {
			err = fmt.Errorf("read %s at offset %d: expected %d bytes, found %d: %w", r.name, number*r.block, len(b), n, io.ErrUnexpectedEOF)
		}
		return nil, err
	}
	want.sum = checksum(b)
	if err := c.keep(path, want, b); err != nil {
		return nil, folderError(fmt.Sprintf("keep block %d of %s in cache %s", number, r.name, c.options.Folder), err)
	}
	return b, nil
}

// reach is the file in the store; it is opened where that was not possible before.
func (r *reader) reach() (object.Reader, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil, fmt.Errorf("read %s: %w", r.name, fs.ErrClosed)
	}
	if r.far != nil {
		return r.far, nil
	}
	far, err := r.cache.store.Open(r.ctx, r.name)
	if err != nil {
		return nil, err
	}
	if far.Size() != r.size || versionHash(far) != r.version {
		size := far.Size()
		_ = far.Close()
		return nil, fmt.Errorf("read %s: the cache has blocks of a file of %d bytes; the file has changed, it has %d", r.name, r.size, size)
	}
	r.far = far
	return far, nil
}

package cache

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"
	"time"

	"kitescope/engine/object"
)

// Retries say how often what fails in passing is tried again (object.Temporary says what that is). The zero value is fit for use.
type Retries struct {
	Tries int           // of one request, the first included; 0 is 6, 1 never tries again
	First time.Duration // wait before the second try, then twice as long each time; 0 is 200 ms
	Most  time.Duration // the longest wait; 0 is 10 s
	// Timeout ends a try of Open, or of a read of up to 4 MiB, that gets no further; 0 is 1 minute. List has none of its own: a
	// bucket of millions of names takes long.
	Timeout time.Duration
	// Random is in [0, 1): a wait is half to all of what it could be, so that many clients do not come back at once; nil: math/rand/v2.
	Random func() float64
	// Sleep waits, or ends with ctx's error; nil: a timer.
	Sleep func(ctx context.Context, d time.Duration) error
	// Retried is told of each wait, maybe by several goroutines at once; nil: nobody.
	Retried func(err error, try int, wait time.Duration)
}

func (r Retries) filled() Retries {
	if r.Tries <= 0 {
		r.Tries = 6
	}
	if r.First <= 0 {
		r.First = 200 * time.Millisecond
	}
	if r.Most <= 0 {
		r.Most = 10 * time.Second
	}
	if r.Timeout <= 0 {
		r.Timeout = time.Minute
	}
	if r.Random == nil {
		r.Random = rand.Float64
	}
	if r.Sleep == nil {
		r.Sleep = sleep
	}
	if r.Retried == nil {
		r.Retried = func(error, int, time.Duration) {}
	}
	return r
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// again waits before another try after an error, or returns the error that ends the trying. try counts from 1.
func (r *Retries) again(ctx context.Context, err error, try int) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case !object.Temporary(err) && !errors.Is(err, errStalled):
		return err
	case try >= r.Tries:
		if try > 1 {
			err = fmt.Errorf("%w (%d tries)", err, try)
		}
		return err
	}
	wait := r.Most
	if shift := try - 1; shift < 32 && r.First<<shift > 0 {
		wait = min(wait, r.First<<shift)
	}
	wait = wait/2 + time.Duration(r.Random()*float64(wait/2))
	r.Retried(err, try, wait)
	return r.Sleep(ctx, wait)
}

// errStalled is a try that took longer than Retries.Timeout, or one that gave less than it should without saying why.
var errStalled = errors.New("no answer in time")

// Retrying is a store that tries again what fails in passing: a throttled, overloaded or restarting server, a connection that was
// cut. A read goes on behind the bytes that have arrived, and a try that brought many does not count. What is not there, not allowed,
// or changed while it was read fails at once. Closing it closes the store.
func Retrying(store object.Store, r Retries) object.Store { return &retrying{store, r.filled()} }

type retrying struct {
	object.Store
	retries Retries
}

func (p *retrying) String() string { return fmt.Sprint(p.Store) }

func (p *retrying) List(ctx context.Context, prefix string) ([]object.File, error) {
	for try := 1; ; try++ {
		files, err := p.Store.List(ctx, prefix)
		if err == nil {
			return files, nil
		}
		if err := p.retries.again(ctx, err, try); err != nil {
			return nil, err
		}
	}
}

func (p *retrying) Open(ctx context.Context, name string) (object.Reader, error) {
	r := &retryingReader{store: p, ctx: ctx, name: name}
	for try := 1; ; try++ {
		c, err := r.connect()
		if err == nil {
			r.size, r.version, r.now = c.Size(), versionOf(c.Reader), c
			if n, ok := c.Reader.(interface{ Near() bool }); ok {
				r.near = n.Near()
			}
			return r, nil
		}
		if err := p.retries.again(ctx, err, try); err != nil {
			return nil, err
		}
	}
}

// versioned are readers that know which version of a file they read: those of a bucket.
type versioned interface{ Version() string }

func versionOf(r object.Reader) string {
	if v, ok := r.(versioned); ok {
		return v.Version()
	}
	return ""
}

// retryingReader reads a file over one connection after another.
type retryingReader struct {
	store   *retrying
	ctx     context.Context // of Open, which bounds reads too, as it does those of a bucket
	name    string
	size    int64
	version string
	near    bool

	mu  sync.Mutex
	now *connection // nil after it was given up
}

// connection is an open file and what ends all that is asked of it.
type connection struct {
	object.Reader
	ctx    context.Context
	cancel context.CancelCauseFunc
}

func (r *retryingReader) Size() int64     { return r.size }
func (r *retryingReader) Version() string { return r.version }

// Near is that of the file: parquet.Near.
func (r *retryingReader) Near() bool { return r.near }

func (r *retryingReader) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.now
	r.now = nil
	if c == nil {
		return nil
	}
	c.cancel(nil)
	return c.Close()
}

// connect opens the file, within the timeout.
func (r *retryingReader) connect() (*connection, error) {
	ctx, cancel := context.WithCancelCause(r.ctx)
	timer := time.AfterFunc(r.store.retries.Timeout, func() { cancel(fmt.Errorf("open %s: %w", r.name, errStalled)) })
	reader, err := r.store.Store.Open(ctx, r.name)
	if !timer.Stop() && err == nil { // too late, and cancelled already
		_ = reader.Close()
		err = context.Canceled
	}
	if err != nil {
		err = stalled(ctx, err)
		cancel(nil)
		return nil, err
	}
	return &connection{reader, ctx, cancel}, nil
}

// stalled is why a context of ours ended, if it did.
func stalled(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); errors.Is(cause, errStalled) {
		return cause
	}
	return err
}

// connection is the one in use, or a new one, of the same version of the file.
func (r *retryingReader) connection() (*connection, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.now != nil {
		return r.now, nil
	}
	c, err := r.connect()
	if err != nil {
		return nil, err
	}
	if c.Size() != r.size || versionOf(c.Reader) != r.version {
		size := c.Size()
		c.cancel(nil)
		_ = c.Close()
		return nil, fmt.Errorf("read %s: changed while reading: it had %d bytes, now %d", r.name, r.size, size)
	}
	r.now = c
	return c, nil
}

// giveUp drops a connection that stalled; others may have done so already.
func (r *retryingReader) giveUp(c *connection) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.now == c {
		r.now = nil
		c.cancel(nil)
		_ = c.Close()
	}
}

// piece is the most that is read in one try, progress what a try must have brought so as not to count.
const piece, progress = 4 << 20, 64 << 10

func (r *retryingReader) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 {
		return 0, fmt.Errorf("read %s: offset %d", r.name, off)
	}
	want := int(max(min(int64(len(p)), r.size-off), 0))
	for done, try := 0, 1; done < want; {
		n, err := r.try(p[done:min(done+piece, want)], off+int64(done))
		if done += n; n >= progress {
			try = 1
		}
		if err == nil {
			continue
		}
		if err := r.store.retries.again(r.ctx, err, try); err != nil {
			return done, err
		}
		try++
	}
	if want < len(p) {
		return want, io.EOF
	}
	return want, nil
}

// try reads once. Less than what there is comes with an error, of a reader too that said nothing of it.
func (r *retryingReader) try(p []byte, off int64) (int, error) {
	c, err := r.connection()
	if err != nil {
		return 0, err
	}
	timer := time.AfterFunc(r.store.retries.Timeout, func() { c.cancel(fmt.Errorf("read %s at offset %d: %w", r.name, off, errStalled)) })
	n, err := c.ReadAt(p, off)
	timer.Stop()
	switch n = min(max(n, 0), len(p)); {
	case n == len(p):
		return n, nil
	case err == nil || errors.Is(err, io.EOF):
		err = fmt.Errorf("read %s at offset %d: expected %d bytes, found %d: %w", r.name, off, len(p), n, io.ErrUnexpectedEOF)
	case c.ctx.Err() != nil:
		err = stalled(c.ctx, err)
		if r.ctx.Err() == nil && !errors.Is(err, errStalled) { // another read ended the connection
			err = fmt.Errorf("read %s at offset %d: gave up on the connection: %w", r.name, off, errStalled)
		}
	}
	r.giveUp(c)
	return n, err
}

package cache

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kitescope/engine/object"
)

const long = "insert_log/1/2/3/100/8"

func TestRetryingWaitsLongerEachTimeAndGoesOn(t *testing.T) {
	folder, _ := folderStore(t)
	w := &waits{}
	f := &faulty{Store: folder, fail: func(_, _ string, n int) error {
		if n <= 4 {
			return fmt.Errorf("GET: %w", []error{errSlowDown, syscall.ECONNRESET, io.ErrUnexpectedEOF, context.DeadlineExceeded}[n-1])
		}
		return nil
	}}
	r := w.retries()
	r.Most = time.Second
	s := Retrying(f, r)
	if list, err := s.List(t.Context(), ""); err != nil || len(list) != len(files()) {
		t.Errorf("%d files, %v", len(list), err)
	}
	b, err := readAll(t.Context(), s, long, 1<<20)
	if err != nil || !bytes.Equal(b, files()[long]) {
		t.Errorf("%d bytes, %v", len(b), err)
	}
	ms := func(n int) time.Duration { return time.Duration(n) * time.Millisecond }
	each := []time.Duration{ms(150), ms(300), ms(600), ms(750)} // three quarters of 200, 400, 800 and of the most
	if d := cmp.Diff(append(append(append([]time.Duration{}, each...), each...), each...), w.all); d != "" {
		t.Errorf("waits (-want +got):\n%s", d)
	}
}

func TestRetryingHasALimit(t *testing.T) {
	folder, _ := folderStore(t)
	for name, c := range map[string]struct {
		err   error
		tries int
	}{
		"throttled":   {errSlowDown, 3},
		"not there":   {&fs.PathError{Op: "open", Path: "x", Err: fs.ErrNotExist}, 1},
		"not allowed": {fmt.Errorf("AccessDenied: %w", fs.ErrPermission), 1},
		"other":       {errors.New("SignatureDoesNotMatch"), 1},
	} {
		w := &waits{}
		f := &faulty{Store: folder, fail: func(string, string, int) error { return c.err }}
		r := w.retries()
		r.Tries = 3
		s := Retrying(f, r)
		if _, err := s.List(t.Context(), ""); !errors.Is(err, c.err) {
			t.Errorf("%s: List: %v", name, err)
		}
		if _, err := s.Open(t.Context(), long); !errors.Is(err, c.err) {
			t.Errorf("%s: Open: %v", name, err)
		}
		for _, op := range []string{"list", "open"} {
			if n, _ := f.given(op); n != c.tries {
				t.Errorf("%s: %d tries of %s, expected %d", name, n, op, c.tries)
			}
		}
	}
}

func TestRetryingGoesOnBehindWhatHasArrived(t *testing.T) {
	folder, _ := folderStore(t)
	for name, short := range map[string]func(off int64, n, read int) (int, error){
		"cut": func(_ int64, n, read int) (int, error) {
			return n / (1 + read%2), fmt.Errorf("body: %w", syscall.ECONNRESET)
		},
		"silent": func(_ int64, n, _ int) (int, error) { return (n + 1) / 2, nil },
	} {
		f := &faulty{Store: folder, short: short}
		if name == "cut" {
			f.short = func(off int64, n, read int) (int, error) {
				if read%2 == 1 {
					return short(off, n, read)
				}
				return n, nil
			}
		}
		r := (&waits{}).retries()
		r.Tries = 30
		b, err := readAll(t.Context(), Retrying(f, r), long, 1<<20)
		if err != nil || !bytes.Equal(b, files()[long]) {
			t.Errorf("%s: %d bytes, %v", name, len(b), err)
		}
		if _, size := f.given("read"); size != int64(len(b)) {
			t.Errorf("%s: %d bytes were read for %d", name, size, len(b))
		}
	}
	// One that never gives more than a byte is given up.
	f := &faulty{Store: folder, short: func(int64, int, int) (int, error) { return 1, nil }}
	if b, err := readAll(t.Context(), Retrying(f, (&waits{}).retries()), long, 1<<20); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("%d bytes, %v", len(b), err)
	}
}

func TestRetryingGivesUpAStalledRead(t *testing.T) {
	folder, _ := folderStore(t)
	f := &faulty{Store: folder, hang: func(read int) bool { return read == 1 }}
	b, err := readAll(t.Context(), Retrying(f, Retries{Timeout: 20 * time.Millisecond, First: time.Millisecond}), long, 1<<20)
	if err != nil || !bytes.Equal(b, files()[long]) {
		t.Errorf("%d bytes, %v", len(b), err)
	}
	if n, _ := f.given("open"); n < 2 {
		t.Errorf("expected opened %d times, a second connection", n)
	}
	f = &faulty{Store: folder, hang: func(int) bool { return true }}
	_, err = readAll(t.Context(), Retrying(f, Retries{Tries: 2, Timeout: 10 * time.Millisecond, First: time.Millisecond}), long, 1<<20)
	if !errors.Is(err, errStalled) || !strings.Contains(err.Error(), long) || !strings.Contains(err.Error(), "2 tries") {
		t.Errorf("%v", err)
	}
}

func TestRetryingEndsWithItsContext(t *testing.T) {
	folder, _ := folderStore(t)
	f := &faulty{Store: folder, hang: func(int) bool { return true }}
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(20*time.Millisecond, cancel)
	if _, err := readAll(ctx, Retrying(f, Retries{}), long, 1<<20); !errors.Is(err, context.Canceled) {
		t.Errorf("a read: %v", err)
	}
	ctx, cancel = context.WithCancel(t.Context())
	f = &faulty{Store: folder, fail: func(string, string, int) error { return errSlowDown }}
	r := Retries{First: time.Hour, Most: time.Hour, Retried: func(error, int, time.Duration) { cancel() }}
	if _, err := Retrying(f, r).List(ctx, ""); !errors.Is(err, context.Canceled) {
		t.Errorf("a wait: %v", err)
	}
}

func TestRetryingDoesNotMixVersions(t *testing.T) {
	folder, dir := folderStore(t)
	f := &faulty{Store: folder, version: "1"}
	f.fail = func(op, _ string, n int) error {
		if op == "read" && n == 1 {
			f.version = "2"
			return errSlowDown
		}
		return nil
	}
	if _, err := readAll(t.Context(), Retrying(f, (&waits{}).retries()), long, 1<<20); err == nil || !strings.Contains(err.Error(), "changed") {
		t.Errorf("another version: %v", err)
	}
	f = &faulty{Store: folder}
	f.fail = func(op, _ string, n int) error {
		if op == "read" && n == 1 {
			put(t, dir+"/"+long, []byte("shorter"))
			return errSlowDown
		}
		return nil
	}
	if _, err := readAll(t.Context(), Retrying(f, (&waits{}).retries()), long, 1<<20); err == nil || !strings.Contains(err.Error(), "had 100000 bytes, now 7") {
		t.Errorf("another length: %v", err)
	}
}

func TestRetryingReadsAsReaderAtSays(t *testing.T) {
	for name, s := range stores(t) {
		conform(t, name, Retrying(s, Retries{}))
	}
}

func stores(t *testing.T) map[string]object.Store {
	t.Helper()
	folder, _ := folderStore(t)
	return map[string]object.Store{"folder": folder, "tar": tarStore(t)}
}

// conform reads all files, in ranges that end and begin anywhere.
func conform(t *testing.T, name string, s object.Store) {
	t.Helper()
	for file, content := range files() {
		r, err := s.Open(t.Context(), file)
		if err != nil || r.Size() != int64(len(content)) {
			t.Fatalf("%s: open %s: %v", name, file, err)
		}
		for _, at := range []int{0, 1, len(content) / 2, len(content) - 1, len(content), len(content) + 9} {
			for _, n := range []int{0, 1, 5, 4096, 70_000, 1 << 20} {
				if at < 0 {
					continue
				}
				b := make([]byte, n)
				got, err := r.ReadAt(b, int64(at))
				have := content[min(at, len(content)):min(at+n, len(content))]
				if !bytes.Equal(b[:got], have) || (got < n) != errors.Is(err, io.EOF) {
					t.Errorf("%s: %s: ReadAt(%d bytes, %d) = %d, %v; expected %d", name, file, n, at, got, err, len(have))
				}
			}
		}
		if n, err := r.ReadAt(make([]byte, 1), -1); n != 0 || err == nil || errors.Is(err, io.EOF) {
			t.Errorf("%s: a read at -1 gives %d, %v", name, n, err)
		}
		if err := r.Close(); err != nil {
			t.Errorf("%s: close: %v", name, err)
		}
	}
	if _, err := s.Open(t.Context(), "not/there"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s: %v", name, err)
	}
}

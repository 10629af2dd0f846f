package cache

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// FuzzBlock reads a file of the folder that may be anything: it is a block that agrees with itself, or damaged or of something else.
func FuzzBlock(f *testing.F) {
	content := []byte("bytes of a block")
	good := header{size: 40, block: 16, number: 1, length: 16, sum: checksum(content)}
	seed := append(good.bytes(), content...)
	f.Add(seed, []byte{})
	f.Add(seed[:headerSize], content)
	f.Add(seed[:40], []byte{1})
	huge := header{size: 1 << 62, block: maxBlock, number: 1<<32 - 1, length: maxBlock}
	f.Add(huge.bytes(), content)
	dir := f.TempDir()
	c := &cached{options: Options{Now: time.Now}}
	f.Fuzz(func(t *testing.T, b, more []byte) {
		b = append(b, more...)
		h, err := parseHeader(b)
		if err == nil {
			if h.length <= 0 || h.length > h.block || h.number*h.block+h.length > h.size || !bytes.Equal(h.bytes(), b[:headerSize]) {
				t.Fatalf("%+v", h)
			}
		} else if !errors.Is(err, errDamaged) {
			t.Fatal(err)
		}
		path := filepath.Join(dir, "block")
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := c.load(path, good, nil)
		switch {
		case err == nil && (checksum(got) != h.sum || !bytes.Equal(b[headerSize:], got)):
			t.Fatalf("%q of %q", got, b)
		case err != nil && !errors.Is(err, errDamaged) && !errors.Is(err, errChanged):
			t.Fatal(err)
		}
		if _, err := c.load(path+"-none", good, nil); !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
	})
}

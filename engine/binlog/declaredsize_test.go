package binlog

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// TestDeclaredSize checks that each log and index file of real servers is as long as its headers declare, and that
// every truncation is detected unless it is at the end of an event.
func TestDeclaredSize(t *testing.T) {
	files, events := 0, 0
	root := filepath.Join("..", "..", "testdata", "storage")
	if err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		files++
		size := int64(len(data))
		got, err := DeclaredSize(bytes.NewReader(data), size)
		if err != nil || got != size && got != 0 {
			t.Errorf("%s: %d bytes by its headers, has %d: %v", path, got, size, err)
		}
		if got == 0 {
			return nil
		}
		events++
		for _, cut := range []int64{size / 2, size - 1, size / 3, 4 + eventHeaderSize + 3, 10} {
			if got, err := DeclaredSize(bytes.NewReader(data[:cut]), cut); err != nil || got <= cut {
				t.Errorf("%s cut to %d of %d: %d bytes by its headers: %v", path, cut, size, got, err)
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if events < 50 || events*10 < files {
		t.Errorf("%d of %d files are of events", events, files)
	}
	for name, data := range map[string][]byte{
		"empty": nil, "short": {0xbc}, "other": []byte("PAR1 and so on"),
		"no lengths": append([]byte{0xbc, 0xfa, 0xff, 0}, make([]byte, 40)...),
	} {
		if got, err := DeclaredSize(bytes.NewReader(data), int64(len(data))); got != 0 || err != nil {
			t.Errorf("%s: %d, %v", name, got, err)
		}
	}
}

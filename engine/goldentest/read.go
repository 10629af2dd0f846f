// Package goldentest reads what other libraries and servers answered, which tests are held to: files of JSON in testdata, compressed. In: a path.
// Out: what is in the file, in the caller's own type.
package goldentest

import (
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"strings"
	"testing"
)

// ReadJSON reads a .json.gz, or a .json, into what to points to.
func ReadJSON(t testing.TB, path string, to any) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var r io.Reader = f
	if strings.HasSuffix(path, ".gz") {
		r, err = gzip.NewReader(f)
	}
	if err == nil {
		err = json.NewDecoder(r).Decode(to)
	}
	if err != nil {
		t.Fatalf("read %s: %v", path, err)
	}
}

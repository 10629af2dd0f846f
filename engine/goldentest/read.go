// Package goldentest reads golden files, which hold the results of other libraries and servers that tests compare
// with. Golden files are compressed JSON in testdata.
package goldentest

import (
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"strings"
	"testing"
)

// ReadJSON decodes a .json.gz or .json file into the value that to points to.
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

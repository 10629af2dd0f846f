package rendertest

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// HostileName is a name as nobody would choose it for a good reason.
const HostileName = "=cmd|' /C calc'!A0\x1b[31m\u202e"

// LongName is the name of a method of Milvus.
const LongName = "github.com/milvus-io/milvus/internal/querynodev2/delegator.(*shardDelegator).organizeSubTask[...].func1.(*Worker).SearchSegments"

// Update says that goldens are to be written.
var Update = flag.Bool("update", false, "write golden files")

// withoutLooks is a page of HTML without what all pages have, and which render/webpage has tests of: its style and script.
func withoutLooks(page []byte) []byte {
	if !bytes.HasPrefix(page, []byte("<!DOCTYPE html>")) {
		return page
	}
	page = regexp.MustCompile(`(?s)<style>.*?</style>`).ReplaceAll(page, []byte("<style/>"))
	page = regexp.MustCompile(`(?s)<script>.*?</script>`).ReplaceAll(page, []byte("<script/>"))
	return regexp.MustCompile(`sha256-[^" ]*=&#39;`).ReplaceAll(page, []byte("sha256-...&#39;"))
}

// Document compares what a document is as one of its variants with its golden, of the two that have one: a table 80 cells wide, and JSON. What the
// other formats say is the same: Agree holds them to it.
func Document(t *testing.T, name, variant string, got []byte) {
	t.Helper()
	if variant == "80" || variant == "json" {
		Golden(t, name+"."+variant, got)
	}
}

// Golden compares with testdata/<name>. A test that failed already writes nothing.
func Golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	got = withoutLooks(got)
	if *Update {
		if t.Failed() {
			t.Fatalf("%s is not written, as the test failed", path)
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v; the flag -update writes it", err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got; the flag -update rewrites it):\n%s", path, diff)
	}
}

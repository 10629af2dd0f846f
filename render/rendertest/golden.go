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

// HostileName is a name with a formula, an escape sequence and a direction mark.
const HostileName = "=cmd|' /C calc'!A0\x1b[31m\u202e"

// LongName is the name of a method in Milvus.
const LongName = "github.com/milvus-io/milvus/internal/querynodev2/delegator.(*shardDelegator).organizeSubTask[...].func1.(*Worker).SearchSegments"

// Update reports whether to write goldens.
var Update = flag.Bool("update", false, "write golden files")

// withoutStyles removes the style and script from an HTML page, because all pages share them and render/webpage
// tests them.
func withoutStyles(page []byte) []byte {
	if !bytes.HasPrefix(page, []byte("<!DOCTYPE html>")) {
		return page
	}
	page = regexp.MustCompile(`(?s)<style>.*?</style>`).ReplaceAll(page, []byte("<style/>"))
	page = regexp.MustCompile(`(?s)<script>.*?</script>`).ReplaceAll(page, []byte("<script/>"))
	return regexp.MustCompile(`sha256-[^" ]*=&#39;`).ReplaceAll(page, []byte("sha256-...&#39;"))
}

// Document compares a variant of a document with its golden. Only two variants have goldens: a table 80 cells
// wide, and JSON. Agree checks that the other formats have the same contents.
func Document(t *testing.T, name, variant string, got []byte) {
	t.Helper()
	if variant == "80" || variant == "json" {
		Golden(t, name+"."+variant, got)
	}
}

// Golden compares got with testdata/<name>, or writes that file if -update is set and the test has not failed.
func Golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	got = withoutStyles(got)
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

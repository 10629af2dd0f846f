package main

import (
	"archive/tar"
	"encoding/xml"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// bucketOf serves the files below dir as the objects of an S3 bucket named "files", with ListObjectsV2
// listings.
func bucketOf(t *testing.T, dir string) (endpoint string) {
	t.Helper()
	type content struct {
		Key  string
		Size int64
	}
	type listing struct {
		XMLName     xml.Name `xml:"ListBucketResult"`
		Name        string
		IsTruncated bool
		Contents    []content
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		key, file := strings.CutPrefix(r.URL.Path, "/files/")
		switch q := r.URL.Query(); {
		case file && key != "":
			w.Header().Set("Etag", `"1"`)
			http.ServeFile(w, r, filepath.Join(dir, filepath.FromSlash(key)))
		case r.Method != http.MethodGet || strings.Trim(r.URL.Path, "/") != "files":
			http.Error(w, "no such bucket", http.StatusNotFound)
		case q.Has("location"):
			_, _ = w.Write([]byte(
				`<LocationConstraint xmlns="http://s3.amazonaws.com/doc/2006-03-01/"></LocationConstraint>`,
			))
		case !q.Has("list-type"):
			http.NotFound(w, r)
		default:
			list := listing{Name: "files"}
			_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
				if err != nil || d.IsDir() {
					return err
				}
				info, err := d.Info()
				key, _ := filepath.Rel(dir, path)
				if key = filepath.ToSlash(key); err == nil && strings.HasPrefix(key, q.Get("prefix")) {
					list.Contents = append(list.Contents, content{key, info.Size()})
				}
				return err
			})
			_ = xml.NewEncoder(w).Encode(list)
		}
	}))
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

// tarOf writes the files below dir into a tar archive and returns its path.
func tarOf(t *testing.T, dir string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "storage.tar")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	w := tar.NewWriter(file)
	if err := w.AddFS(os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestDiagnoseStoragePlaces checks that a bucket and a tar archive yield the same findings as the folder
// itself, for complete files and for missing or truncated ones.
func TestDiagnoseStoragePlaces(t *testing.T) {
	t.Setenv("KITESCOPE_STORAGE_ACCESS_KEY", "someone")
	t.Setenv("KITESCOPE_STORAGE_SECRET_KEY", "something-secret")
	broken := copyStorage(t)
	if err := os.RemoveAll(filepath.Join(broken, "index_files")); err != nil {
		t.Fatal(err)
	}
	if err := cutBelow(filepath.Join(broken, "insert_log", "470590760626297870"), "100"); err != nil {
		t.Fatal(err)
	}
	for name, dir := range map[string]string{"whole": storageOf("2.3.5"), "broken": broken} {
		want, status := checkStorage(t, "2.3.5", dir)
		if name == "broken" == (len(want) == 0) {
			t.Fatalf("%s folder: %q %v", name, status, want)
		}
		for _, place := range []string{"s3://files?tls=false&endpoint=" + bucketOf(t, dir), tarOf(t, dir)} {
			got, status := checkStorage(t, "2.3.5", place)
			if text := strings.Join(got, "\n"); text != strings.Join(want, "\n") {
				t.Errorf("%s at %s: %s\n%s\nwant\n%s", name, place, status, text, strings.Join(want, "\n"))
			}
		}
	}
}

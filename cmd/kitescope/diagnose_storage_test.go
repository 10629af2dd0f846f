package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kitescope/cmd/kitescope/cli"
)

// checkStorage runs the files-missing check on a captured cluster with the storage at place. It returns the
// findings with their evidence, and the status of the check.
func checkStorage(t *testing.T, version, place string) (found []string, status string) {
	t.Helper()
	var d struct {
		Items []struct {
			Check, Severity, Message string
			Object                   struct{ Resource, ID string }
			Evidence                 []struct{ Name, Value string }
		}
		Checks []struct{ Check, Status, Reason string }
	}
	from := filepath.Join("..", "..", "testdata", "snapshots", "standalone-"+version, "etcd_snapshot.db.gz")
	decodeJSON(t,
		kitescope(t, cli.ExitOK, "diagnose", "-o", "json", "--fail-on", "never", "--only", "files-missing",
			"--live=false", "--from", from, "--storage", place).stdout, &d)
	for _, f := range d.Items {
		found = append(found, f.Severity+" "+f.Message)
		for _, e := range f.Evidence {
			found = append(found, e.Name+": "+e.Value)
		}
	}
	for _, x := range d.Checks {
		status = x.Status + ": " + x.Reason
	}
	return found, status
}

func storageOf(version string) string {
	return filepath.Join("..", "..", "testdata", "storage", version)
}

func copyStorage(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "storage")
	if err := os.CopyFS(dir, os.DirFS(storageOf("2.3.5"))); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestDiagnoseStorage checks that the files of real servers yield no finding, and that removed, truncated or
// empty files yield one error with segment, field and path.
func TestDiagnoseStorage(t *testing.T) {
	for _, version := range []string{"2.1.0", "2.2.16", "2.3.5"} {
		if found, status := checkStorage(t, version, storageOf(version)); len(found) > 0 || status != "ok: " {
			t.Errorf("%s: %v, %q", version, status, found)
		}
	}
	const index, insert = "index_files/470590760626297896", "insert_log/470590760626297870"
	for name, test := range map[string]struct {
		harm func(dir string) error
		want []string
	}{
		"index files removed": {
			func(dir string) error { return os.RemoveAll(filepath.Join(dir, index)) },
			[]string{
				"collection ivf_cold: 1 file of 1 segment (3,000 rows) is missing from storage (index)",
				"index vec of field vec: 0 of 1 files in " + index + "/1/",
			},
		},
		"index files cut": {
			func(dir string) error { return cutBelow(filepath.Join(dir, index), "") },
			[]string{
				"collection ivf_cold: files of 1 segment (3,000 rows) are truncated",
				"index vec of field vec: 1 of 1 files in " + index + "/1/", " KiB of ",
			},
		},
		"logs cut": {
			func(dir string) error { return cutBelow(filepath.Join(dir, insert), "100") },
			[]string{"collection ivf_cold: files of ", "are truncated", "insert log of field ", "in " + insert + "/"},
		},
		"logs emptied": {
			func(dir string) error {
				return filepath.WalkDir(filepath.Join(dir, insert), func(path string, d fs.DirEntry, err error) error {
					if err == nil && !d.IsDir() && filepath.Base(filepath.Dir(path)) == "100" {
						err = os.Truncate(path, 0)
					}
					return err
				})
			},
			[]string{"collection ivf_cold: ", "insert log of field ", "in " + insert + "/"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := copyStorage(t)
			if err := test.harm(dir); err != nil {
				t.Fatal(err)
			}
			found, _ := checkStorage(t, "2.3.5", dir)
			text := strings.Join(found, "\n")
			for _, want := range test.want {
				if !strings.Contains(text, want) {
					t.Errorf("%q is not said:\n%s", want, text)
				}
			}
			if !strings.HasPrefix(text, "error ") || strings.Count(text, "error ") != 1 {
				t.Errorf("want one error:\n%s", text)
			}
		})
	}
}

// cutBelow truncates the files below dir to half their size. If folder is not empty, it truncates only files
// directly in a folder with that name.
func cutBelow(dir, folder string) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || folder != "" && filepath.Base(filepath.Dir(path)) != folder {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		return os.Truncate(path, info.Size()/2)
	})
}

// TestDiagnoseStorageUnknown checks that files of another cluster, an empty folder and an unreadable archive
// leave the result unknown, never ok.
func TestDiagnoseStorageUnknown(t *testing.T) {
	broken := filepath.Join(t.TempDir(), "no.tar")
	if err := os.WriteFile(broken, []byte("this is no archive"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, place := range map[string]string{
		"another cluster's": storageOf("2.2.16"), "empty": t.TempDir(), "no archive": broken,
	} {
		if found, status := checkStorage(t, "2.3.5", place); len(found) > 0 ||
			!strings.HasPrefix(status, "skipped: storage ") {
			t.Errorf("%s: %q, %v", name, status, found)
		}
	}
	for _, flags := range [][]string{{"--storage", "/no/such/folder"}, {"--storage", ".", "--watch"}} {
		kitescope(t, cli.ExitUsage,
			append([]string{
				"diagnose", "--from",
				filepath.Join("..", "..", "testdata", "snapshots", "standalone-2.3.5", "etcd_snapshot.db.gz"),
			}, flags...)...)
	}
}

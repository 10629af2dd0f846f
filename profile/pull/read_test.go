package pull_test

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kitescope/profile"
	"kitescope/profile/pull"
)

// memory is a Store for tests.
type memory map[string]string

func (m memory) Names() ([]string, error) { return slices.Sorted(maps.Keys(m)), nil }

func (m memory) Open(name string) (io.ReadCloser, error) {
	text, ok := m[name]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return io.NopCloser(strings.NewReader(text)), nil
}

// list summarizes the items of a record.
func list(r *pull.Record) []string {
	var out []string
	for _, i := range r.Items {
		out = append(out, strings.Join([]string{i.Node, i.Role, string(i.Kind), i.Name}, " "))
	}
	return out
}

// TestReadWithoutManifest checks that node, role and kind are derived from file names.
func TestReadWithoutManifest(t *testing.T) {
	r, err := pull.ReadFrom(memory{
		"querynode3.cpu.pb.gz": "", "querynode10.cpu.pb.gz": "", "querynode-3.heap.pb.gz": "",
		"milvus-cpu-flat.pb.gz": "", "app.prof": "",
		"x.cpu.pprof": "", "querynode1.goroutine_debug2.txt.gz": "", "README.md": "", ".hidden.cpu.pb.gz": "",
		"svc.allocs-delta.pb": "",
		"my.app.pb.gz":        "", "a.trace.out": "", "nohup.out": "",
	}, "folder")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"a a trace a.trace.out", "app   app.prof", "milvus-cpu-flat   milvus-cpu-flat.pb.gz", "my.app   my.app.pb.gz",
		"querynode-3 querynode heap querynode-3.heap.pb.gz", "querynode3 querynode cpu querynode3.cpu.pb.gz",
		"querynode10 querynode cpu querynode10.cpu.pb.gz", "svc svc allocs-delta svc.allocs-delta.pb",
		"x x cpu x.cpu.pprof",
	}
	if diff := cmp.Diff(want, list(r)); diff != "" {
		t.Error(diff)
	}
	for _, i := range r.Items {
		if i.Samples != -1 || !i.From.IsZero() {
			t.Errorf("%s: unknown is not 0: %+v", i.Name, i)
		}
	}
}

// TestReadCapture reads a folder with profiles of a cluster.
func TestReadCapture(t *testing.T) {
	r, err := pull.Read("../../testdata/profiles/t7")
	if err != nil || len(r.Items) != 10 || r.Items[9].Node != "rootcoord" || r.Items[5].Role != "querynode" {
		t.Fatalf("%v: %v", err, list(r))
	}
	in, err := r.Items[0].Open()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if _, err := profile.Decode(t.Context(), in, profile.Limits{}); err != nil {
		t.Error(err)
	}
}

const head = `{"format":"kitescope-profiles","version":1,"profiles":[`

// TestReadDamaged checks that problems are reported and the rest is read.
func TestReadDamaged(t *testing.T) {
	r, err := pull.ReadFrom(memory{
		"manifest.json": head + `
			{"node":"a","kind":"cpu","file":"a.pb.gz","outcome":"ok","sha256":"00"},
			{"node":"a","kind":"cpu","file":"b.pb.gz","outcome":"ok"},
			{"node":"c","kind":"cpu","file":"gone.pb.gz","outcome":"ok"},
			{"node":"d","kind":"cpu","file":"../../etc/passwd","outcome":"ok"},
			{"node":"e","kind":"cpu","file":"manifest.json","outcome":"ok"},
			{"node":"f","kind":"cpu","outcome":"timed out","error":"no answer"}]}`,
		"a.pb.gz": "x", "b.pb.gz": "y",
	}, "folder")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"a  cpu a.pb.gz", "a#2  cpu b.pb.gz"}, list(r)); diff != "" {
		t.Error(diff)
	}
	if len(r.Problems) != 3 || r.Rounds[0].Manifest.Failed() != 1 {
		t.Errorf("problems %v", r.Problems)
	}
	if _, err := r.Items[0].Open(); err == nil || !strings.Contains(err.Error(), "checksum") {
		t.Errorf("a file that was changed: %v", err)
	}
	in, err := r.Items[1].Open()
	if err != nil {
		t.Fatal(err)
	}
	text, _ := io.ReadAll(in)
	if string(text) != "y" {
		t.Errorf("read %q", text)
	}
}

func TestReadRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		files memory
		want  string
	}{
		"nothing":         {memory{}, "no profiles in it"},
		"no profiles":     {memory{"README.md": ""}, "no profiles in it"},
		"another thing":   {memory{"manifest.json": `{"format":"kitescope-bundle"}`}, "not a manifest"},
		"a later version": {memory{"manifest.json": `{"format":"kitescope-profiles","version":9}`}, "version 9"},
		"noise":           {memory{"manifest.json": "\x00"}, "not a manifest"},
		"damaged rounds":  {memory{"20261120T160000Z/manifest.json": "{"}, "not a manifest"},
	} {
		if _, err := pull.ReadFrom(c.files, "folder"); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	if _, err := pull.Read(filepath.Join(t.TempDir(), "gone")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a folder that is not there: %v", err)
	}
}

// TestReadRegularFilesOnly checks that only regular files below the folder are opened.
func TestReadRegularFilesOnly(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "manifest.json"),
		[]byte(head+`{"node":"a","kind":"cpu","file":"d","outcome":"ok"}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "d"), 0o700); err != nil {
		t.Fatal(err)
	}
	if r, err := pull.Read(dir); err != nil || len(r.Items) != 0 || len(r.Problems) != 1 {
		t.Errorf("%v, %+v", err, r)
	}
}

// FuzzRead reads arbitrary text as a manifest.
func FuzzRead(f *testing.F) {
	f.Add([]byte(head + `{"node":"a","kind":"cpu","file":"a.cpu.pb.gz","outcome":"ok","sha256":"00","samples":-5}]}`))
	f.Add([]byte(head + `]}`))
	f.Add([]byte(
		`{"format":"kitescope-profiles","version":1,"sequence":-9223372036854775808,"profiles":[{"file":"\u0000/..\\","outcome":"ok"}]}`,
	))
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := pull.ParseManifest("m", text)
		files := memory{
			"20261120T160000Z/manifest.json": string(text), "20261120T160001Z/manifest.json": string(text),
			"20261120T160000Z/a.cpu.pb.gz": "x",
		}
		r, readErr := pull.ReadFrom(files, "folder")
		if (err == nil) != (readErr == nil) {
			t.Fatalf("the manifest: %v; the record: %v", err, readErr)
		}
		if err != nil {
			return
		}
		if _, err := pull.ReadFrom(memory{"manifest.json": string(text), "a.cpu.pb.gz": "x"}, "folder"); err != nil {
			t.Error(err)
		}
		for _, i := range r.Items {
			if !fs.ValidPath(i.Name) {
				t.Errorf("an item at %q", i.Name)
			}
			in, err := i.Open()
			if err != nil {
				continue
			}
			if b, _ := io.ReadAll(in); !bytes.Equal(b, []byte("x")) {
				t.Errorf("read %q of %s", b, i.Name)
			}
		}
		_ = m.Failed()
	})
}

package source_test

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"kitescope/inspect/source"
)

// TestBundleDuplicateMembers checks that every way of reading reports two members with the same name, because
// readers could choose differently.
func TestBundleDuplicateMembers(t *testing.T) {
	good := untar(t, testBundle(t))
	extra := []member{{"profiles/a.pb.gz", noise(500)}, {"runtime.jsonl", []byte("{}\n")}}
	for _, twin := range append(append([]member{}, good...), extra...) {
		members := append(append([]member{}, good[:len(good)-1]...), extra...)
		members = append(members, good[len(good)-1], member{twin.name, []byte("another")})
		for _, salvage := range []bool{false, true} {
			opts := func() source.Options {
				return source.Options{Stdin: bytes.NewReader(retar(t, members)), Salvage: salvage}
			}
			told := map[string]error{"scan": scanError(t, "-", opts())}
			_, told["describe"] = source.Describe(t.Context(), open(t, "-", opts()))
			told["members"] = open(t, "-", opts()).(*source.Bundle).Members(t.Context(),
				func(string, int64, io.Reader) error { return nil })
			for how, err := range told {
				if err == nil || !strings.Contains(err.Error(), `the member "`+twin.name+`" appears twice`) {
					t.Errorf("%s of a bundle with two %s (salvage %t): %v", how, twin.name, salvage, err)
				}
			}
		}
	}
}

func TestBundleWriterDuplicates(t *testing.T) {
	w, err := source.NewBundleWriter(io.Discard, source.Header{Root: "r", MetaPath: "m"}, source.BundleInfo{})
	if err != nil {
		t.Fatal(err)
	}
	for i, wanted := range []bool{true, false} {
		if err := w.AddMember("profiles/a", 1, strings.NewReader("a")); (err == nil) != wanted {
			t.Errorf("member %d: %v", i, err)
		}
	}
}

// TestBundleLimitsSkippedMembers checks that the limits apply to skipped members, because these are
// decompressed too.
func TestBundleLimitsSkippedMembers(t *testing.T) {
	good := untar(t, testBundle(t))
	long := strings.Repeat("n", 2000)
	for name, c := range map[string]struct {
		extra func(*tar.Writer) error
		want  string
	}{
		"unknown member": {func(w *tar.Writer) error {
			return zeros(w, &tar.Header{Name: "later/x", Size: 40 << 20, Typeflag: tar.TypeReg})
		}, "the limit of one reading"},
		"no file": {func(w *tar.Writer) error {
			return zeros(w, &tar.Header{Name: "later/x", Size: 40 << 20, Typeflag: '7'})
		}, "the limit of one reading"},
		"long name": {
			func(w *tar.Writer) error { return w.WriteHeader(&tar.Header{Name: long, Typeflag: tar.TypeReg}) },
			"the name of a member has 2000 bytes",
		},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			z, err := zstd.NewWriter(&out)
			if err != nil {
				t.Fatal(err)
			}
			w := tar.NewWriter(z)
			for i, m := range good {
				if i == len(good)-1 {
					if err := c.extra(w); err != nil {
						t.Fatal(err)
					}
				}
				if err := w.WriteHeader(&tar.Header{
					Name: m.name, Size: int64(len(m.content)), Typeflag: tar.TypeReg,
				}); err != nil {
					t.Fatal(err)
				}
				if _, err := w.Write(m.content); err != nil {
					t.Fatal(err)
				}
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			if err := z.Close(); err != nil {
				t.Fatal(err)
			}
			opts := source.Options{Limits: source.Limits{Bytes: 8 << 20}}
			opts.Stdin = bytes.NewReader(out.Bytes())
			if err := scanError(t, "-", opts); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%d bytes, scanned: %v, want %q", out.Len(), err, c.want)
			}
			opts.Stdin = bytes.NewReader(out.Bytes())
			err = open(t, "-", opts).(*source.Bundle).Members(t.Context(), func(string, int64, io.Reader) error {
				return nil
			})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%d bytes, members: %v, want %q", out.Len(), err, c.want)
			}
		})
	}
}

// zeros adds a member of zeros, which compress to almost nothing.
func zeros(w *tar.Writer, h *tar.Header) error {
	if err := w.WriteHeader(h); err != nil {
		return err
	}
	_, err := w.Write(make([]byte, h.Size))
	return err
}

// TestBundleKeysOnce checks that the keys of a bundle are in order and unique, because readers could choose
// differently between duplicates. The first one is used. Keys out of order are reported and counted.
func TestBundleKeysOnce(t *testing.T) {
	members := untar(t, testBundle(t))
	var end map[string]any
	if err := json.Unmarshal(members[2].content, &end); err != nil {
		t.Fatal(err)
	}
	again := end["chunks"].([]any)[0].(map[string]any)
	count := int64(again["keys"].(float64))
	end["chunks"] = append(end["chunks"].([]any), map[string]any{
		"name": "keys/000002", "keys": again["keys"], "sha256": again["sha256"],
	})
	content, err := json.Marshal(end)
	if err != nil {
		t.Fatal(err)
	}
	twice := []member{members[0], members[1], {"keys/000002", members[1].content}, {"end.json", content}}
	src := open(t, "-", source.Options{Stdin: bytes.NewReader(retar(t, twice))})
	snap, err := src.Pin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	if err := snap.Scan(t.Context(), []source.Range{source.Prefix("")}, func(kv source.KV) error {
		seen[string(kv.Key)]++
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	for key, n := range seen {
		if n > 1 {
			t.Errorf("%s comes %d times", key, n)
		}
	}
	gaps := snap.Gaps()
	if int64(len(seen)) != count || len(gaps) != 1 || gaps[0].Where != "keys/000002" || gaps[0].Count != count {
		t.Errorf("%d of %d keys, gaps %+v", len(seen), count, gaps)
	}
}

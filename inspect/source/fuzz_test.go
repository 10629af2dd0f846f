package source_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kitescope/inspect/source"
)

// readEverything opens bytes as a file, with and without salvage, and reads the whole file. It accepts any
// result except a panic, a hang, or a key outside the requested ranges.
func readEverything(t *testing.T, content []byte) {
	t.Helper()
	for _, salvage := range []bool{false, true} {
		opts := source.Options{Stdin: bytes.NewReader(content), MemoryLimit: 8 << 20, Salvage: salvage}
		src, err := source.Open(t.Context(), "-", opts)
		if err != nil {
			if err.Error() == "" {
				t.Error("an error without words")
			}
			continue
		}
		if snap, err := src.Pin(t.Context()); err == nil {
			ranges := []source.Range{source.Prefix(snap.Header().Root + "/")}
			_ = snap.Scan(t.Context(), ranges, func(kv source.KV) error {
				if len(kv.Key) == 0 || !ranges[0].Contains(kv.Key) {
					t.Errorf("key %q was not asked for", kv.Key)
				}
				return nil
			})
			for _, g := range snap.Gaps() {
				if g.Where == "" || g.Reason == "" {
					t.Errorf("gap %+v says nothing", g)
				}
			}
		}
		_, _ = source.Describe(t.Context(), src)
		if err := src.Close(); err != nil {
			t.Error(err)
		}
	}
}

func FuzzBolt(f *testing.F) {
	changes, _ := history(60)
	for i := range changes {
		changes[i].value = changes[i].value[:min(100, len(changes[i].value))]
	}
	small := readFile(f, backend(f, nil, changes))
	f.Add(small)
	f.Add(small[:len(small)/2])
	f.Add(readFile(f, backend(f, nil, changes[:2])))
	f.Fuzz(readEverything)
}

func FuzzBackup(f *testing.F) {
	keys := []source.KV{
		{Key: []byte("by-dev/meta/session/id"), Value: []byte("1")}, {Key: []byte("by-dev/meta/x"), Value: nil},
	}
	f.Add(backupV1(keys))
	f.Add(gunzip(f, readFile(f, filepath.Join(snapshots, "standalone-2.3.5", "birdwatcher_backup.bak.gz")))[:2000])
	v2 := frame(frame(nil, varintField(nil, 1, 2)),
		bytesField(varintField(nil, 1, 1), 3, []byte(`{"instance":"","metaPath":""}`)))
	f.Add(frame(frame(v2, bytesField(nil, 1, keys[0].Key)), nil))
	f.Fuzz(readEverything)
}

// FuzzBundle changes the content of a bundle before compression.
func FuzzBundle(f *testing.F) {
	changes, _ := history(20)
	bundle := bundleOf(f, open(f, backend(f, nil, changes), source.Options{}))
	members := untar(f, bundle)
	f.Add(members[0].content, members[1].content, members[2].content, "keys/000001")
	f.Add(members[0].content, []byte{}, members[2].content, "runtime/x")
	f.Fuzz(func(t *testing.T, manifest, keys, end []byte, name string) {
		if name == "" || len(name) > 90 || strings.ContainsRune(name, 0) || strings.HasSuffix(name, "/") {
			return
		}
		readEverything(t, retar(t, []member{{"manifest.json", manifest}, {name, keys}, {"end.json", end}}))
	})
}

// FuzzFile opens arbitrary bytes, including compressed ones.
func FuzzFile(f *testing.F) {
	f.Add([]byte("\x1f\x8b\x08"))
	f.Add([]byte("\x28\xb5\x2f\xfd\x00"))
	f.Add(gzipBytes(f, gzipBytes(f, []byte("x"))))
	f.Add(zstdOf(f, []byte("x")))
	f.Add(zstdOf(f, nil))
	f.Add([]byte(`{"a":1}`))
	f.Fuzz(readEverything)
}

func FuzzAddress(f *testing.F) {
	for _, from := range []string{
		"etcd://h:1,b/r", "etcds://u@[::1]:2/%41", "etcd://a:b@c", "file:///x", "h:1", "http://u:p@h",
	} {
		f.Add(from)
	}
	f.Fuzz(func(t *testing.T, from string) {
		if from == "-" {
			return
		}
		if _, err := os.Stat(from); err == nil {
			return
		}
		src, err := source.Open(t.Context(), from, source.Options{})
		if err != nil {
			return
		}
		if o := src.Origin(); o.Location == "" {
			t.Errorf("%q has no location", from)
		}
		if err := src.Close(); err != nil {
			t.Error(err)
		}
	})
}

package object

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
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
	"github.com/klauspost/compress/zstd"
)

// contents returns the files of the stores below: names whose byte order differs from the order of a walk through
// folders, an empty file, and a file of several blocks.
func contents() map[string][]byte {
	large := make([]byte, 3<<20+7)
	for i := range large {
		large[i] = byte(i * i >> 7)
	}
	return map[string][]byte{
		"insert_log/1/2/3/100/9":   []byte("nine"),
		"insert_log/1/2/3/100/10":  large,
		"insert_log/1/2/3/101/11":  []byte("eleven"),
		"insert_log/1/2/3.old/100": []byte("sorts before 3/"),
		"insert_log/10/2/3/100/12": []byte("another collection"),
		"empty":                    {},
	}
}

// conform checks that a store with contents() meets the documentation of Store.
func conform(t *testing.T, s Store) {
	t.Helper()
	ctx := t.Context()
	want := contents()
	t.Run("List", func(t *testing.T) {
		for prefix, names := range map[string][]string{
			"": {
				"empty", "insert_log/1/2/3.old/100", "insert_log/1/2/3/100/10", "insert_log/1/2/3/100/9",
				"insert_log/1/2/3/101/11", "insert_log/10/2/3/100/12",
			},
			"insert_log/1/": {
				"insert_log/1/2/3.old/100", "insert_log/1/2/3/100/10", "insert_log/1/2/3/100/9",
				"insert_log/1/2/3/101/11",
			},
			"insert_log/1/2/3/100/1": {"insert_log/1/2/3/100/10"},
			"insert_log/1/2/3/10":    {"insert_log/1/2/3/100/10", "insert_log/1/2/3/100/9", "insert_log/1/2/3/101/11"},
			"empty":                  {"empty"},
			"empty/":                 nil,
			"nothing/at/all":         nil,
			"../":                    nil,
		} {
			var files []File
			for _, name := range names {
				files = append(files, File{name, int64(len(want[name]))})
			}
			got, err := s.List(ctx, prefix)
			if err != nil {
				t.Errorf("List(%q): %v", prefix, err)
			}
			if d := cmp.Diff(files, got); d != "" {
				t.Errorf("List(%q): (-want +got)\n%s", prefix, d)
			}
		}
	})
	t.Run("Open", func(t *testing.T) {
		for name, content := range want {
			r, err := s.Open(ctx, name)
			if err != nil {
				t.Fatalf("Open(%q): %v", name, err)
			}
			checkReader(t, r, content)
			if err := r.Close(); err != nil {
				t.Errorf("Close of %s: %v", name, err)
			}
		}
	})
	t.Run("Missing", func(t *testing.T) {
		for _, name := range []string{
			"insert_log/1/2/4", "insert_log/1/2", "insert_log/1/2/3/100/", "", "/etc/passwd", "../store_test.go",
			"a/../empty",
		} {
			r, err := s.Open(ctx, name)
			if !errors.Is(err, fs.ErrNotExist) && !(err != nil && strings.HasPrefix(name, "../")) {
				t.Errorf("Open(%q): %v, %v; expected that there is no such file", name, r, err)
			}
		}
	})
	t.Run("Cancelled", func(t *testing.T) {
		done, cancel := context.WithCancel(ctx)
		cancel()
		if _, err := s.List(done, ""); !errors.Is(err, context.Canceled) {
			t.Errorf("List with a cancelled context: %v", err)
		}
		if _, err := s.Open(done, "empty"); !errors.Is(err, context.Canceled) {
			t.Errorf("Open with a cancelled context: %v", err)
		}
	})
}

// checkReader checks that ranges are read as io.ReaderAt requires.
func checkReader(t *testing.T, r Reader, content []byte) {
	t.Helper()
	if r.Size() != int64(len(content)) {
		t.Fatalf("Size is %d, expected %d", r.Size(), len(content))
	}
	all, err := io.ReadAll(io.NewSectionReader(r, 0, r.Size()))
	if err != nil || !bytes.Equal(all, content) {
		t.Fatalf("%d bytes, %v; expected %d", len(all), err, len(content))
	}
	for _, span := range [][2]int{
		{0, 1},
		{len(content) - 1, 1},
		{len(content) / 2, 100},
		{len(content) - 2, 50},
		{len(content), 5},
		{len(content) + 9, 1},
	} {
		at, n := max(0, span[0]), span[1]
		b := make([]byte, n)
		got, err := r.ReadAt(b, int64(at))
		have := content[min(at, len(content)):min(at+n, len(content))]
		if !bytes.Equal(b[:got], have) || (got < n) != errors.Is(err, io.EOF) ||
			got == n && err != nil && !errors.Is(err, io.EOF) {
			t.Errorf("ReadAt(%d bytes, %d) = %d, %v; expected %d bytes", n, at, got, err, len(have))
		}
	}
}

// tarball packs contents() and the given headers into an archive.
func tarball(t testing.TB, headers ...*tar.Header) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	var all []*tar.Header
	for _, name := range slices.Sorted(maps.Keys(contents())) {
		content := contents()[name]
		all = append(all, &tar.Header{Name: name, Size: int64(len(content)), Mode: 0o600, Typeflag: tar.TypeReg})
	}
	headers = append(all, headers...)
	for _, h := range headers {
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if content, ok := contents()[strings.TrimPrefix(h.Name, "./")]; ok && h.Typeflag == tar.TypeReg {
			w.Write(content)
		} else if h.Typeflag == tar.TypeReg {
			w.Write(make([]byte, h.Size))
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func gzipped(b []byte) []byte {
	var z bytes.Buffer
	w := gzip.NewWriter(&z)
	w.Write(b)
	w.Close()
	return z.Bytes()
}

func zstandard(b []byte) []byte {
	w, _ := zstd.NewWriter(nil)
	return w.EncodeAll(b, nil)
}

func writeFile(t testing.TB, b []byte) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "archive")
	if err := os.WriteFile(name, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func folderOf(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range contents() {
		name = filepath.Join(dir, filepath.FromSlash(name))
		os.MkdirAll(filepath.Dir(name), 0o700)
		if err := os.WriteFile(name, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestReadTar(t *testing.T) {
	s, err := ReadTar(t.Context(), "memory", tarball(t))
	if err != nil {
		t.Fatal(err)
	}
	conform(t, s)
}

func TestStores(t *testing.T) {
	plain := tarball(t)
	for name, place := range map[string]string{
		"folder": folderOf(t), "tar": writeFile(t, plain), "tar.gz": writeFile(t, gzipped(plain)),
		"tar.zst": writeFile(t, zstandard(plain)),
	} {
		t.Run(name, func(t *testing.T) {
			s, err := Open(t.Context(), place, Keys{})
			if err != nil {
				t.Fatal(err)
			}
			conform(t, s)
			if err := s.Close(); err != nil {
				t.Errorf("Close: %v", err)
			}
		})
	}
}

func TestFolderDoesNotFollowLinksOut(t *testing.T) {
	dir := folderOf(t)
	outside := writeFile(t, []byte("secret"))
	if err := os.Symlink(outside, filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("empty", filepath.Join(dir, "inside")); err != nil {
		t.Fatal(err)
	}
	s, err := OpenFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Open(t.Context(), "link"); err == nil {
		t.Error("a link out of the folder was opened")
	}
	files, err := s.List(t.Context(), "")
	if err != nil || len(files) != len(contents())+1 {
		t.Errorf("%d files, %v; expected the link within the folder besides its %d", len(files), err, len(contents()))
	}
}

func TestTarLargerThanMemory(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	large := &tar.Header{Name: "large", Size: inMemory + 5, Mode: 0o600, Typeflag: tar.TypeReg}
	s, err := OpenTar(t.Context(), writeFile(t, zstandard(tarball(t, large))))
	if err != nil {
		t.Fatal(err)
	}
	temporary := func() int {
		entries, _ := os.ReadDir(os.TempDir())
		return len(entries)
	}
	if temporary() != 1 {
		t.Errorf("%d temporary files, expected one", temporary())
	}
	r, err := s.Open(t.Context(), "insert_log/1/2/3/100/10")
	if err != nil {
		t.Fatal(err)
	}
	checkReader(t, r, contents()["insert_log/1/2/3/100/10"])
	if err := s.Close(); err != nil || temporary() != 0 {
		t.Errorf("after Close (%v) %d temporary files are left", err, temporary())
	}
}

func TestTarNames(t *testing.T) {
	s, err := OpenTar(t.Context(), writeFile(t, tarball(t,
		&tar.Header{Name: "./twice", Size: 3, Typeflag: tar.TypeReg},
		&tar.Header{Name: "twice", Size: 7, Typeflag: tar.TypeReg},
		&tar.Header{Name: "folder/", Typeflag: tar.TypeDir},
		&tar.Header{Name: "hard", Linkname: "./twice", Typeflag: tar.TypeLink},
		&tar.Header{Name: "soft", Linkname: "/etc/passwd", Typeflag: tar.TypeSymlink},
		&tar.Header{Name: "/rooted", Size: 1, Typeflag: tar.TypeReg},
		&tar.Header{Name: "long/" + strings.Repeat("n", 200), Size: 2, Typeflag: tar.TypeReg, Format: tar.FormatPAX},
	)))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for name, size := range map[string]int64{
		"twice": 7, "hard": 7, "rooted": 1, "long/" + strings.Repeat("n", 200): 2,
	} {
		r, err := s.Open(t.Context(), name)
		if err != nil || r.Size() != size {
			t.Errorf("%s: %v, expected %d bytes", name, err, size)
		}
	}
	for _, name := range []string{"soft", "folder", "folder/"} {
		if _, err := s.Open(t.Context(), name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("Open(%q): %v, expected that there is no such file", name, err)
		}
	}
}

func TestHostileTars(t *testing.T) {
	plain := tarball(t, &tar.Header{Name: "last", Size: 2000, Typeflag: tar.TypeReg})
	bomb := make([]byte, unpackFloor+70<<20)
	for name, c := range map[string]struct {
		archive []byte
		want    string
	}{
		"a name that leads out": {
			tarball(t, &tar.Header{Name: "a/../../b", Size: 1, Typeflag: tar.TypeReg}), "leads out of the archive",
		},
		"truncated within a content":  {plain[:len(plain)-1024-1500], "bytes expected"},
		"truncated within a header":   {plain[:700], "tar header"},
		"a truncated gzip":            {gzipped(plain)[:5000], "unexpected EOF"},
		"no tar at all":               {bytes.Repeat([]byte("not a tar "), 100), "tar header"},
		"a bomb":                      {zstandard(bomb), "compressed by a factor"},
		"a damaged zstd":              {append(zstandard(plain)[:2000], make([]byte, 100)...), ""},
		"a header of a negative size": {negative(plain), ""},
	} {
		s, err := OpenTar(t.Context(), writeFile(t, c.archive))
		if err == nil {
			s.Close()
			t.Errorf("%s: it opened", name)
			continue
		}
		if !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "archive") {
			t.Errorf("%s: %v, expected %q", name, err, c.want)
		}
	}
}

// negative writes a negative size into the first header, in base 256, and updates its checksum.
func negative(b []byte) []byte {
	b = bytes.Clone(b)
	for i := range 12 {
		b[124+i] = 0xff
	}
	sum := int64(8 * ' ')
	for i, c := range b[:512] {
		if i < 148 || i >= 156 {
			sum += int64(c)
		}
	}
	copy(b[148:], []byte{
		byte('0' + sum>>15&7), byte('0' + sum>>12&7), byte('0' + sum>>9&7), byte('0' + sum>>6&7), byte('0' + sum>>3&7),
		byte('0' + sum&7), 0, ' ',
	})
	return b
}

// TestSparseMembersAreRefused checks that opening a sparse member is an error. The archives were made with GNU
// tar: tar --sparse --format=gnu (and posix) of a file with holes and one without.
func TestSparseMembersAreRefused(t *testing.T) {
	for _, format := range []string{"gnu", "posix"} {
		s, err := OpenTar(t.Context(), "testdata/sparse-"+format+".tar")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Open(t.Context(), "sparse"); err == nil ||
			!strings.Contains(err.Error(), "stored as a sparse file in the archive: not supported") {
			t.Errorf("%s: the sparse member: %v", format, err)
		}
		r, err := s.Open(t.Context(), "plain.txt")
		if err != nil {
			t.Fatal(err)
		}
		checkReader(t, r, []byte("plain\n"))
		s.Close()
	}
}

func FuzzTar(f *testing.F) {
	small := func(h *tar.Header, content string) []byte {
		var b bytes.Buffer
		w := tar.NewWriter(&b)
		h.Size = int64(len(content))
		w.WriteHeader(h)
		io.WriteString(w, content)
		w.Close()
		return b.Bytes()
	}
	plain := small(&tar.Header{Name: "a/b", Typeflag: tar.TypeReg}, "content")
	pax := small(&tar.Header{Name: strings.Repeat("n", 200), Typeflag: tar.TypeReg, Format: tar.FormatPAX}, "x")
	for _, b := range [][]byte{plain, pax, gzipped(plain), zstandard(plain), negative(plain)} {
		f.Add(b)
	}
	name := filepath.Join(f.TempDir(), "archive")
	f.Fuzz(func(t *testing.T, b []byte) {
		if err := os.WriteFile(name, b, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := OpenTar(t.Context(), name)
		if err != nil {
			return
		}
		defer s.Close()
		files, err := s.List(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if !fs.ValidPath(file.Name) {
				t.Fatalf("the name %q", file.Name)
			}
			r, err := s.Open(t.Context(), file.Name)
			if err != nil {
				continue // sparse
			}
			if n, err := io.Copy(io.Discard, io.NewSectionReader(r, 0, r.Size())); err != nil || n != file.Size {
				t.Fatalf("%s: %d of %d bytes, %v", file.Name, n, file.Size, err)
			}
		}
	})
}

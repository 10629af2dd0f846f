package index

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"kitescope/engine"
	"kitescope/engine/dist"
	"kitescope/engine/flat"
	"kitescope/engine/goldentest"
	"kitescope/engine/hnsw"
	"kitescope/engine/ivf"
	"kitescope/engine/object/objecttest"
	"kitescope/engine/sparse"
	"kitescope/internal/damagetest"
)

// uncheckedFields lists the fields that no other field of a file contradicts: any value is valid, or they do not count
// following data.
var uncheckedFields = []string{
	"a metric", "metric", "is_trained", "a header", "by_residual", "nprobe", "efConstruction", "efSearch",
	"how ranges were trained", "a threshold", "a count of dimensions", "an encoding", "a version",
	"the type of a direct map", "a type of scalar quantiser", "a count of links", "is_similarity",
}

// fieldsOf returns the numbers that the reader of an index reads, in order. It parses prefixes of the file, whose
// errors name the first missing field.
func fieldsOf(file []byte, hint Hint) (fields []damagetest.Field) {
	if sniffHNSWLib(file) || !sniffFaiss(file) && !sniffSparseLists(file) && !hint.sparse { // sizes checked together
		skip := 0
		if !sniffHNSWLib(file) {
			skip = knowhereHeaderBytes - hnswlibHeaderBytes
			fields = append(fields, damagetest.Little(file, "data_size", 8, 8), damagetest.Little(file, "dim", 16, 8))
		}
		for _, at := range []int{16, 24, 40, 56, 64} {
			fields = append(fields, damagetest.Little(file, "header", skip+at, 8))
		}
	}
	seen, from := map[int]bool{}, 0
	if sniffSparseLists(file) { // shorter prefixes are read as another form
		for _, at := range []int{4, 12, 32} {
			fields = append(fields, damagetest.Little(file, "header", at, 4))
		}
		for at := sparseListsHeader; at < sparseListsHeader+sparseSection*int(le32(file, 8)); at += 8 {
			fields = append(fields, damagetest.Little(file, "a section", at, 8))
		}
		from = sparseListsHeader + sparseSection*int(le32(file, 8))
	}
	for n := from; n < len(file); n++ {
		_, err := Parse("cut", file[:n], hint)
		var wrong *FormatError
		if !errors.As(err, &wrong) || !strings.HasSuffix(wrong.Found, "to the end of the file") {
			continue
		}
		var count, size int
		var name string
		if at := strings.LastIndex(wrong.Expected, " of "); at > 0 { // "7 units of 4 bytes"
			_, _ = fmt.Sscanf(wrong.Expected, "%d", &count)
			_, _ = fmt.Sscanf(wrong.Expected[at:], " of %d bytes", &size)
			n = max(n, wrong.Offset+count*size-1)
		}
		if _, err := fmt.Sscanf(wrong.Expected, "%d bytes of ", &size); err != nil || seen[wrong.Offset] {
			continue
		}
		n = max(n, wrong.Offset+size-1) // the next prefix has this field
		if _, name, _ = strings.Cut(wrong.Expected, " bytes of "); size != 4 && size != 8 ||
			slices.Contains(uncheckedFields, name) || n >= len(file) {
			continue
		}
		seen[wrong.Offset] = true
		fields = append(fields, damagetest.Little(file, name, wrong.Offset, size))
	}
	return fields
}

// contents formats all rows and answers of an index.
func contents(x *File) string {
	var b strings.Builder
	fmt.Fprintln(&b, x.Rows, x.Dim, x.Metric)
	for v := range x.Vectors() {
		for i := range v.Rows {
			fmt.Fprintf(&b, "%x\n", v.Row(i))
		}
	}
	put := func(v any) {
		text, _ := json.Marshal(v)
		b.Write(text)
	}
	switch s := x.Searchable; {
	case As[hnsw.Index](x) != nil:
		g := As[hnsw.Index](x)
		put([]any{g.M, g.M0, g.MaxLevel, g.Entry, g.Levels, g.Base, g.Upper, g.Labels})
		fmt.Fprint(&b, g.Norms)
	case As[ivf.Index](x) != nil:
		for _, l := range As[ivf.Index](x).Lists {
			put(l.IDs)
			fmt.Fprint(&b, l.Norms)
		}
		c := As[ivf.Index](x).Centroids
		for i := range c.Rows {
			fmt.Fprintf(&b, "%x\n", c.Row(i))
		}
	case As[flat.Index](x) != nil:
		fmt.Fprint(&b, As[flat.Index](x).Norms)
	case As[sparse.Index](x) != nil:
		i := As[sparse.Index](x)
		fmt.Fprint(&b, i.Starts, i.IDs, i.Values, i.Names, i.Lengths)
	default:
		fmt.Fprint(&b, s)
	}
	return b.String()
}

// valid is a readable index.
type valid struct {
	name string
	file []byte
	hint Hint
}

// validFiles returns the indexes of testdata that have rows.
func validFiles(t *testing.T) (all []valid) {
	t.Helper()
	for _, like := range []string{"*.bin", "sparse/*.2?.*"} {
		names, err := filepath.Glob(filepath.Join("testdata", like))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			file, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			raw, _ := os.ReadFile(name + ".raw")
			hint := Hint{RawData: raw, sparse: like != "*.bin"}
			if strings.HasSuffix(name, ".bm25") {
				hint.Metric = dist.BM25
			}
			all = append(all, valid{filepath.Base(name), file, hint})
		}
	}
	var coded codedGoldens
	goldentest.ReadJSON(t, "testdata/codes.json.gz", &coded)
	for i, c := range coded.Files {
		all = append(all, valid{fmt.Sprintf("codes%d", i), c.File, Hint{}})
	}
	return slices.DeleteFunc(all, func(v valid) bool {
		x, err := Parse(v.name, v.file, v.hint)
		if err != nil {
			return true // unsupported type
		}
		defer x.Close()
		return x.Rows == 0 || len(v.file) > 1<<16
	})
}

// TestDamaged changes each count and length of an index.
func TestDamaged(t *testing.T) {
	all := validFiles(t)
	for _, v := range all {
		fields := fieldsOf(v.file, v.hint)
		t.Run(v.name, func(t *testing.T) {
			damagetest.Run(t, v.file, fields, max(damagetest.Count()*4/len(all), 20), func(b []byte) (string, error) {
				x, err := Parse("damaged", b, v.hint)
				if err != nil {
					return "", err
				}
				defer x.Close()
				return contents(x), nil
			})
		})
	}
}

// TestDamagedSplit is TestDamaged for blobs of Milvus whose records are split while they are decoded, in slices.
func TestDamagedSplit(t *testing.T) {
	for _, name := range []string{"knowhere_l2.bin", "knowhere_cosine.bin"} {
		blob, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		half := len(blob) / 2
		meta := fmt.Appendf(nil, `{"meta":[{"name":"HNSW","slice_num":2,"total_len":%d}]}`, len(blob))
		read := func(blob, meta []byte) (string, error) {
			half := min(half, len(blob))
			x, hint, err := ReadBlobs(t.Context(), objecttest.Files{
				"index/HNSW_0": event(blob[:half]), "index/HNSW_1": event(blob[half:]), "index/SLICE_META": event(meta),
			}, "index", Hint{})
			if err != nil {
				return "", err
			}
			f, err := FromBlobs(x, hint)
			if err != nil {
				x.Release()
				return "", err
			}
			defer f.Close()
			return contents(f), nil
		}
		damagetest.Run(t, blob, fieldsOf(blob, Hint{}), damagetest.Count()/2, func(b []byte) (string, error) {
			return read(b, meta)
		})
		counts := []damagetest.Field{
			damagetest.Text(meta, "slice_num", bytes.Index(meta, []byte("slice_num"))+len(`slice_num":`)),
			damagetest.Text(meta, "total_len", bytes.Index(meta, []byte("total_len"))+len(`total_len":`)),
		}
		damagetest.Run(t, meta, counts, damagetest.Count()/2, func(b []byte) (string, error) { return read(blob, b) })
	}
}

// TestDamagedBodies changes random bytes after the first header, and searches each index that still parses, of all
// kinds.
func TestDamagedBodies(t *testing.T) {
	r := rand.New(rand.NewPCG(39, 25))
	all, searched := validFiles(t), map[string]int{}
	tries := max(damagetest.Count()*4/len(all), 20)
	for _, v := range all {
		for range tries {
			b := bytes.Clone(v.file)
			for range 1 + r.IntN(3) {
				at := min(100, len(b)/2) + r.IntN(len(b)-min(100, len(b)/2))
				b[at] = []byte{b[at] + 1, b[at] - 1, 0, 0xff, b[at] ^ 1<<r.IntN(8)}[r.IntN(5)]
			}
			x, err := Parse(v.name, b, v.hint)
			if err != nil {
				continue
			}
			start := time.Now()
			err = searchAll(x)
			if d := time.Since(start); d > time.Second {
				t.Logf("%s: %v: %s %d x %d", v.name, d, x.Kind(), x.Rows, x.Dim)
			}
			if err != nil {
				t.Errorf("%s: %v", v.name, err)
			} else {
				searched[x.Kind()]++
			}
			x.Close()
		}
	}
	t.Logf("%d changes of %d files; searched: %v", tries*len(all), len(all), searched)
	if len(searched) < 5 || searched[SparseInverted] == 0 {
		t.Errorf("searched: %v", searched)
	}
}

// searchAll searches x as each supported library does.
func searchAll(x *File) error {
	query := pairs(1, 1, 7, 2, 395001185, 1)
	if x.Element() != dist.Sparse {
		query = bytes.Repeat([]byte{0x3f}, x.Element().Bytes(x.Dim))
	}
	searches := 0
	for l := engine.Native; l <= engine.Knowhere26; l++ {
		s, err := x.NewSearcher(Options{Library: l})
		if err != nil {
			continue
		}
		hits, _, err := s.Search(query, Params{K: 3, SearchParams: engine.SearchParams{EF: 20, NProbe: 4}}, nil)
		if err != nil {
			continue
		}
		searches++
		for _, h := range hits {
			if x.Element() == dist.Sparse && (h.ID < 0 || h.ID >= int64(x.Rows)) { // others have ids of their own
				return fmt.Errorf("as %v: row %d of %d", l, h.ID, x.Rows)
			}
		}
	}
	if searches == 0 {
		return fmt.Errorf("no library searches in %s of %s", x.Kind(), x.Metric)
	}
	return nil
}

package binlog

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
)

// indexFiles holds index files of every form below index_files/7/1/2/3.
type indexFiles files

func (f indexFiles) put(t testing.TB, name string, kind Type, extras map[string]string, blob []byte) {
	t.Helper()
	var b bytes.Buffer
	d := Descriptor{Collection: 1, Partition: 2, Segment: 3, Field: 101, Type: kind, Extras: extras}
	var err error
	switch kind {
	case Int8:
		err = WriteIndexFile(&b, d, 7, blob)
	case None:
		err = writeEvents(&b, d, indexEvent, len(blob), blob)
	default:
		var body []byte
		if body, err = WriteParquet(parquet.Encoded(parquet.String(), &parquet.Plain), 1, func(int) parquet.Value {
			return parquet.ByteArrayValue(blob)
		}); err == nil {
			err = writeEvents(&b, d, indexEvent, len(blob), body)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	f["index_files/7/1/2/3/"+name] = b.Bytes()
}

func noise(n int) []byte {
	r := rand.New(rand.NewPCG(3, 4))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

func TestEnvelopes(t *testing.T) {
	small, large := []byte("a blob of an index"), noise(5<<20+3)
	f := indexFiles{}
	f.put(t, "HNSW_1", Int8, nil, large[2<<20:4<<20])
	f.put(t, "HNSW_10", Int8, nil, small) // not a slice: SLICE_META lists three
	f.put(t, "HNSW_0", None, nil, large[:2<<20])
	f.put(t, "HNSW_2", VarChar, nil, large[4<<20:])
	f.put(t, "SLICE_META", Int8, nil, append([]byte(`{"meta":[{"name":"HNSW","slice_num":3,"total_len":5242883}]}`), 0))
	f.put(t, "raw", None, map[string]string{"indexBuildID": "7"}, small)
	f.put(t, "text", String, nil, small)
	f.put(t, "zero", None, nil, nil)
	f.put(t, "indexParams", Int8, nil, []byte(`{"M":"8","index_type":"HNSW"}`))
	x, err := ReadIndex(t.Context(), files(f), "index_files/7")
	if err != nil {
		t.Fatal(err)
	}
	defer x.Release()
	for name, want := range map[string][]byte{
		"HNSW": large, "HNSW_10": small, "raw": small, "text": small, "zero": nil,
	} {
		if b := x.Blobs[name]; b == nil || !bytes.Equal(b.Bytes(), want) {
			t.Errorf("blob %s differs", name)
		}
	}
	if len(x.Blobs) != 5 || x.BuildID != 7 || x.Segment != 3 || x.Type != "HNSW" || x.Params["M"] != "8" ||
		x.Dir != "index_files/7/1/2/3" {
		t.Errorf("%v, build %d, segment %d, type %s, %v, %s", sortedKeys(x.Blobs), x.BuildID, x.Segment, x.Type,
			x.Params, x.Dir)
	}
}

func TestRefusedEnvelopes(t *testing.T) {
	const dir = "index_files/7/1/2/3/"
	for want, edit := range map[string]func(f indexFiles){
		"slice \"HNSW_1\" of 2 is missing": func(f indexFiles) { delete(f, dir+"HNSW_1") },
		"expected 9": func(f indexFiles) {
			f.put(t, "SLICE_META", Int8, nil, []byte(`{"meta":[{"name":"HNSW","slice_num":2,"total_len":9}]}`))
		},
		"expected the slices of the index": func(f indexFiles) { f.put(t, "SLICE_META", Int8, nil, []byte(`{`)) },
		"is missing": func(f indexFiles) {
			f.put(t, "SLICE_META", Int8, nil, []byte(`{"meta":[{"name":"HNSW","slice_num":1000000000000}]}`))
		},
		"encrypted at rest": func(f indexFiles) { f.put(t, "raw", None, map[string]string{"edek": "x"}, nil) },
		"original_size is 5": func(f indexFiles) {
			f.put(t, "raw", None, map[string]string{"original_size": "5"}, nil)
		},
		"a second index next to":    func(f indexFiles) { f["index_files/7/2/2/3/HNSW"] = f[dir+"HNSW_0"] },
		"payload is of type Double": func(f indexFiles) { f.put(t, "raw", Double, nil, nil) },
		"parameters as JSON":        func(f indexFiles) { f.put(t, "indexParams", None, nil, []byte("x")) },
		"magic number":              func(f indexFiles) { f[dir+"raw"] = []byte("not an index") },
		"expected one index event": func(f indexFiles) {
			f[dir+"raw"] = f[dir+"HNSW_0"][:81+eventHeaderSize+4+len(`{"indexBuildID":"7","original_size":"4"}`)-17]
		},
	} {
		f := indexFiles{}
		f.put(t, "HNSW_0", Int8, nil, []byte("abcd"))
		f.put(t, "HNSW_1", Int8, nil, []byte("efgh"))
		f.put(t, "SLICE_META", Int8, nil, []byte(`{"meta":[{"name":"HNSW","slice_num":2,"total_len":8}]}`))
		edit(f)
		x, err := ReadIndex(t.Context(), files(f), "index_files/7")
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "read index_files/7/") {
			t.Errorf("%v, %v; expected %q", x, err, want)
		}
	}
	if _, err := ReadIndex(t.Context(), files{"index_files/70/1/2/3/x": nil}, "index_files/7"); err == nil ||
		!strings.Contains(err.Error(), "no index files") {
		t.Errorf("no index: %v", err)
	}
}

func TestBuildOfAPath(t *testing.T) {
	for dir, want := range map[string]int64{
		"index_files/7/1/2/3": 7, "files/index_files/7/1/2/3": 7, "index_v1/1/2/3/55/4": 55,
		"files/index_v1/1/2/3/55/4": 55, "7/1/2/3": 7,
		"2/3": 0, "index_files": 0, "": 0,
	} {
		if got := buildOf(dir); got != want {
			t.Errorf("%s: build %d, want %d", dir, got, want)
		}
	}
}

// singleFile returns a file in the format of IndexEntryDirectStreamWriter.cpp.
func singleFile(entries map[string]string, edit func(directory map[string]any)) []byte {
	b := []byte(singleMagic)
	var list []map[string]any
	for _, name := range sortedKeys(entries) {
		crc := crc32.Checksum([]byte(entries[name]), crc32.MakeTable(crc32.Castagnoli))
		list = append(list, map[string]any{
			"name": name, "offset": len(b) - 8, "size": len(entries[name]), "crc32": fmt.Sprintf("%08X", crc),
		})
		b = append(b, entries[name]...)
	}
	directory := map[string]any{"version": 3, "entries": list}
	if edit != nil {
		edit(directory)
	}
	text, _ := json.Marshal(directory)
	footer := make([]byte, singleFooter)
	binary.LittleEndian.PutUint16(footer, 3)
	binary.LittleEndian.PutUint32(footer[24:], uint32(len(entries[metaEntry])))
	binary.LittleEndian.PutUint32(footer[28:], uint32(len(text)))
	return append(append(b, text...), footer...)
}

func TestSingleFileIndex(t *testing.T) {
	entries := map[string]string{"index": strings.Repeat("links", 1000), "valid": "", metaEntry: `{"rows":3}`}
	x, err := ReadIndex(t.Context(), files{"a/b/c/packed_v3": singleFile(entries, nil)}, "a/b/c")
	if err != nil {
		t.Fatal(err)
	}
	defer x.Release()
	if string(x.Blobs["index"].Bytes()) != entries["index"] || len(x.Blobs["valid"].Bytes()) != 0 ||
		string(x.Meta) != `{"rows":3}` || len(x.Blobs) != 2 {
		t.Errorf("%v, meta %s", sortedKeys(x.Blobs), x.Meta)
	}
	first := func(d map[string]any) map[string]any { return d["entries"].([]map[string]any)[0] }
	for want, edit := range map[string]func(d map[string]any){
		"CRC-32C":           func(d map[string]any) { first(d)["crc32"] = "00000001" },
		"bytes at":          func(d map[string]any) { first(d)["offset"] = int64(math.MaxInt64) },
		"bytes at 0":        func(d map[string]any) { first(d)["size"] = 1 << 40 },
		"encrypted at rest": func(d map[string]any) { d["__edek__"] = "key" },
		"no entries":        func(d map[string]any) { d["entries"] = nil },
		"a second blob": func(d map[string]any) {
			d["entries"] = append(d["entries"].([]map[string]any), map[string]any{"name": "valid"})
		},
		"directory at": func(d map[string]any) { d["entries"] = 7 },
	} {
		_, err := ReadIndex(t.Context(), files{"a/b/c/v3": singleFile(entries, edit)}, "a/b/c")
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "read a/b/c/v3") {
			t.Errorf("%v; expected %q", err, want)
		}
	}
}

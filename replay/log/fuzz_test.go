package log

import (
	"bytes"
	"context"
	"reflect"
	"testing"

	"kitescope/engine/dist"
)

func FuzzLines(f *testing.F) {
	for _, e := range []dist.Element{dist.Float32, dist.Float16, dist.Int8, dist.Bit} {
		var out bytes.Buffer
		if err := Write(&out, example(f, e)); err != nil {
			f.Fatal(err)
		}
		f.Add(out.Bytes())
	}
	f.Add([]byte(`{"vector":[1,2],"element":"binary"}` + "\n" +
		`{"vectors":["hex:00ff","AAA="],"at_seconds":1e3,"filter":{"in":[]}}`))
	f.Add(compressed(f, "gzip", []byte(`{"nq":1,"timestamp":1769860800}`)))
	f.Add(compressed(f, "zstd", []byte(`{"vector":[NaN],"truth":["a"]}`)))
	f.Fuzz(func(t *testing.T, data []byte) {
		if k := sniff(data); k != kindJSONL && k != kindGzip && k != kindZstd {
			return
		}
		l, err := Open(context.Background(), write(t, "x", data), Options{})
		if err != nil {
			return
		}
		defer l.Close()
		var out bytes.Buffer
		if err := Write(&out, l); err != nil {
			t.Fatal(err)
		}
		again, err := Open(context.Background(), write(t, "y", out.Bytes()), Options{Strict: true})
		if err != nil {
			t.Fatalf("what was read and written is refused: %v", err)
		}
		defer again.Close()
		if !reflect.DeepEqual(requestFields(l), requestFields(again)) || !l.Start.Equal(again.Start) {
			t.Errorf("what was read and written is another log: %+v, %+v", l.Requests, again.Requests)
		}
	})
}

// requestFields returns the content of each request of a log, in order. It ignores the position of the vectors, because
// writing a log whose lines were not sorted by time changes it.
func requestFields(l *Log) (list []any) {
	all := rows(l.Vectors)
	for _, r := range l.Requests {
		var vectors [][]byte
		if all != nil { // a log may have only requests
			vectors = all[r.First : r.First+r.NQ]
		}
		r.First = 0
		list = append(list, r, vectors)
	}
	return list
}

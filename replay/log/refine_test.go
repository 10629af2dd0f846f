package log

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRefineKGoesWithARequest: refine_k, which may be a fraction, is read from lines and from the access log, and is written so that it is read again.
func TestRefineKGoesWithARequest(t *testing.T) {
	path := filepath.Join(t.TempDir(), "q.jsonl")
	text := `{"vector":[1,2],"k":2,"params":{"refine_k":2.5}}
{"vector":[1,2],"k":2,"params":{"ef":64,"refine_k":3,"reorder_k":7}}
{"vector":[1,2],"k":2,"params":{"ef":64}}
`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		l, err := Open(t.Context(), path, Options{Strict: true})
		if err != nil {
			t.Fatal(err)
		}
		if r := l.Requests; r[0].RefineK != 2.5 || r[1].RefineK != 3 || r[1].EF != 64 || r[1].ReorderK != 7 || r[2].RefineK != 0 {
			t.Errorf("%+v", r)
		}
		var b bytes.Buffer
		if err := Write(&b, l); err != nil {
			t.Fatal(err)
		}
		l.Close()
		if n := strings.Count(b.String(), "refine_k"); n != 2 {
			t.Errorf("%s", b.String())
		}
		if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for params, want := range map[string]float32{
		`{"params":"{\"ef\":64,\"refine_k\":2.5}","topk":"10"}`: 2.5,
		`{"refine_k":"4","topk":"10"}`:                          4,
		`{"params":"{\"refine_k\":-1}","topk":"10"}`:            0,
		`{"topk":"10"}`: 0,
	} {
		var r accessRequest
		if r.searchParams(params); r.RefineK != want || r.K != 10 {
			t.Errorf("%s: %g, want %g", params, r.RefineK, want)
		}
	}
	if err := os.WriteFile(path, []byte(`{"vector":[1,2],"params":{"refine_k":-1}}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if l, err := Open(t.Context(), path, Options{Strict: true}); err == nil || !strings.Contains(err.Error(), "refine_k: expected a number of 0 or more") {
		t.Errorf("%v, %v", l, err)
	}
}

package log

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"kitescope/engine"
)

// TestParametersGoWithARequest: each parameter of searches is read from lines, where it may be 0, and from both places of an access log, and is
// written so that it is read again.
func TestParametersGoWithARequest(t *testing.T) {
	path := filepath.Join(t.TempDir(), "q.jsonl")
	for f := range engine.EachSearchParam() {
		x := 70_000_000.0
		if !f.Whole() {
			x = 0.1
		}
		value := string(f.Append(nil, x))
		var want engine.SearchParams
		f.Set(&want, x)
		for _, params := range []string{
			fmt.Sprintf(`{%q:%q,"topk":"10"}`, f.Key, value), fmt.Sprintf(`{"params":%q,"topk":"10"}`, fmt.Sprintf(`{%q:%s}`, f.Key, value)),
		} {
			var r accessRequest
			if r.searchParams(params); r.Words() != want.Words() || r.K != 10 {
				t.Errorf("%s: k %d, %s", params, r.K, r.Words())
			}
		}
		text := fmt.Sprintf("{\"vector\":[1,2],\"params\":{%q:%s}}\n{\"vector\":[1,2],\"params\":{%q:0}}\n{\"vector\":[1,2]}\n", f.Key, value, f.Key)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			l, err := Open(t.Context(), path, Options{Strict: true})
			if err != nil {
				t.Fatal(err)
			}
			if r := l.Requests; r[0].Words() != want.Words() || r[1].Words() != "" || r[2].Words() != "" {
				t.Errorf("%s: %q, %q, %q", f.Key, r[0].Words(), r[1].Words(), r[2].Words())
			}
			var b bytes.Buffer
			if err := Write(&b, l); err != nil {
				t.Fatal(err)
			}
			l.Close()
			if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
}

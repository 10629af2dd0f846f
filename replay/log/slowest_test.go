package log_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kitescope/replay/log"
)

// TestSlowest checks the slowest requests of every release's default format, with the fields of each format.
func TestSlowest(t *testing.T) {
	const trace = "4b2bbf8c7d9e1f00a1b2c3d4e5f60718"
	for file, want := range map[string][]log.AccessEntry{
		"access-2.3.0.log": {
			{
				EndedAt: time.Date(2023, 8, 1, 10, 0, 3, 5e6, time.UTC), Took: 1015 * time.Millisecond,
				Method: "Search", Status: "TaskFailed", Trace: "1f5e6bf46b2f6a6bb7f6bc1da2df3acb",
			},
			{
				EndedAt: time.Date(2023, 8, 1, 10, 0, 1, 15e6, time.UTC), Took: 12 * time.Millisecond, Method: "Search",
				Status: "OK", Trace: "6bf0d6f3a6c8e0b5b7f6bc1da2df3acb",
			},
		},
		"access-2.3.5.log": {
			{
				EndedAt: time.Date(2024, 5, 1, 2, 0, 1, 122e6, time.UTC), Took: 100 * time.Millisecond,
				Method: "Search", Status: "GrpcDeadlineExceeded",
				Database: "default", Collection: "books", Trace: trace, Expr: "id > 7", HasExpr: true,
			},
			{
				EndedAt: time.Date(2024, 5, 1, 2, 0, 1, 122e6, time.UTC), Took: 31 * time.Millisecond, Method: "Search",
				Status:   "Failed",
				Database: "default", Collection: "books", Trace: trace, SDK: "Python-2.3.4", HasExpr: true,
			},
		},
		"access-2.6.log": {
			{
				EndedAt: time.Date(2025, 9, 1, 12, 0, 0, 250e6, time.UTC), Took: 7 * time.Millisecond, Method: "Upsert",
				Status: "Successful", SDK: "Python-2.6.0", Trace: trace,
			},
			{
				EndedAt: time.Date(2025, 9, 1, 12, 0, 0, 204e6, time.UTC), Took: 4 * time.Millisecond,
				Method: "HybridSearch", Status: "Successful",
				Database: "default", Collection: "books", SDK: "Python-2.6.0", Trace: trace, HasExpr: true, NQ: 3,
				K: 20,
			},
		},
	} {
		got, err := log.SlowestFiles(t.Context(), []string{filepath.Join("testdata", file)},
			log.SlowestOptions{Limit: 2})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got.Requests); diff != "" {
			t.Errorf("%s (-want +got):\n%s", file, diff)
		}
		if !strings.Contains(strings.Join(got.Notes, "\n"), "the 2 slowest of") {
			t.Errorf("%s: notes %q", file, got.Notes)
		}
	}
}

// TestSlowestLimit checks that the slowest of many requests of a collection are kept, regardless of
// order.
func TestSlowestLimit(t *testing.T) {
	var b strings.Builder
	const line = "[2025/09/01 12:00:00.002 +00:00] [ACCESS] <Unknown: tcp-10.0.3.17:42634> Search [status: " +
		"Successful] [code: 0] [sdk: Python-2.6.0] [msg: ] [traceID: %d] [timeCost: %dms] [database: shop] " +
		"[collection: %s] [partitions: [a b]] [expr: ]\n"
	for i := range 1000 {
		fmt.Fprintf(&b, line, i, (i*617)%1000, []string{"books", "orders"}[i%2])
	}
	path := filepath.Join(t.TempDir(), "access.log")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		o       log.SlowestOptions
		n       int
		slowest time.Duration
	}{
		{log.SlowestOptions{Limit: 7}, 7, 999 * time.Millisecond},
		{log.SlowestOptions{Limit: 5000, From: 990 * time.Millisecond}, 10, 999 * time.Millisecond},
		{log.SlowestOptions{Limit: 5000, Collection: "shop.orders"}, 500, 999 * time.Millisecond},
		{log.SlowestOptions{Limit: 3, Collection: "books"}, 3, 998 * time.Millisecond},
	} {
		got, err := log.SlowestFiles(t.Context(), []string{path}, c.o)
		if err != nil {
			t.Fatal(err)
		}
		if len(got.Requests) != c.n || got.Requests[0].Took != c.slowest || got.Total != 1000 {
			t.Errorf("%+v: %d requests of %d, the first %s", c.o, len(got.Requests), got.Total, got.Requests[0].Took)
		}
		for i, r := range got.Requests[1:] {
			if before := got.Requests[i].Took; r.Took > before {
				t.Fatalf("%s after %s", r.Took, before)
			}
		}
		if diff := cmp.Diff([]string{"a", "b"}, got.Requests[0].Partitions); diff != "" {
			t.Error(diff)
		}
	}
}

package history_test

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"kitescope/inspect/history"
	"kitescope/inspect/meta"
	"kitescope/inspect/model"
	"kitescope/inspect/source"
)

var update = flag.Bool("update", false, "write golden files")

// fixtures returns the captured servers under testdata/snapshots.
func fixtures() []string {
	return []string{
		"standalone-2.1.0", "standalone-2.2.16", "standalone-2.3.5", "cluster-2.3.5-t1", "cluster-2.3.5-t3",
		"cluster-2.3.5-t5", "cluster-2.3.5-t6", "cluster-2.3.5-t7", "cluster-2.3.5-unflushed",
		"cluster-2.3.5-healthy-load", "cluster-2.3.5-healthy", "upgrade-2.2.16", "rollback-2.1.0",
		"livelock-2.2.16",
	}
}

// readFixture reads the whole history of a captured server.
func readFixture(tb testing.TB, name string) *history.History {
	tb.Helper()
	h, _, _ := readAll(tb, name)
	return h
}

// captured is the past of a captured server, open until the test ends.
type captured struct {
	source.Past
	newest, first source.Snapshot
	head          source.Header
	oldest        int64
}

func openFixture(tb testing.TB, name string) captured {
	tb.Helper()
	check := checker(tb)
	ctx := context.Background()
	src, err := source.Open(ctx, filepath.Join("..", "..", "testdata", "snapshots", name, "etcd_snapshot.db.gz"),
		source.Options{})
	check(err)
	tb.Cleanup(func() { _ = src.Close() })
	var c captured
	c.Past, err = source.PastOf(src)
	check(err)
	c.newest, err = src.Pin(ctx)
	check(err)
	tb.Cleanup(func() { _ = c.newest.Close() })
	c.head = c.newest.Header()
	c.oldest, err = c.Oldest(ctx, c.head)
	check(err)
	c.first, err = c.PinAt(ctx, c.head, c.oldest)
	check(err)
	tb.Cleanup(func() { _ = c.first.Close() })
	return c
}

// changes yields all changes.
func (c *captured) changes(ctx context.Context, yield func(int64, []source.Event) error) error {
	return c.Changes(ctx, c.head, c.oldest, c.head.Revision, yield)
}

func checker(tb testing.TB) func(error) {
	tb.Helper()
	return func(err error) {
		tb.Helper()
		if err != nil {
			tb.Fatal(err)
		}
	}
}

// readAll reads the whole history, and the cluster before and after it.
func readAll(tb testing.TB, name string) (h *history.History, before, after *model.Cluster) {
	tb.Helper()
	ctx, check, c := context.Background(), checker(tb), openFixture(tb, name)
	h, err := history.Read(ctx, c.first, c.changes)
	check(err)
	before, err = meta.Load(ctx, c.first, meta.Want{Parts: model.PartAll})
	check(err)
	after, err = meta.Load(ctx, c.newest, meta.Want{Parts: model.PartAll})
	check(err)
	return h, before, after
}

// TestFixtures compares the histories of some captured servers with golden files. TestEventsYieldCluster covers all
// servers.
func TestFixtures(t *testing.T) {
	for _, name := range []string{
		"standalone-2.1.0", "standalone-2.3.5", "cluster-2.3.5-t5", "upgrade-2.2.16", "livelock-2.2.16",
	} {
		t.Run(name, func(t *testing.T) {
			got := format(readFixture(t, name))
			path := filepath.Join("testdata", name+".txt")
			if *update {
				if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("history of %s is not that of %s:\n%s", name, path, firstDifference(string(want), got))
			}
		})
	}
}

// firstDifference returns the first line that differs.
func firstDifference(want, got string) string {
	a, b := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range max(len(a), len(b)) {
		if i >= len(a) || i >= len(b) || a[i] != b[i] {
			return fmt.Sprintf("line %d\n-%s\n+%s", i+1, strings.Join(a[min(i, len(a)):min(i+1, len(a))], ""),
				strings.Join(b[min(i, len(b)):min(i+1, len(b))], ""))
		}
	}
	return ""
}

// format formats a history as text.
func format(h *history.History) string {
	var b strings.Builder
	fmt.Fprintf(&b, "revisions %d to %d, %s to %s: %d changes\n", h.From, h.To, clockTime(h.FromTime),
		clockTime(h.ToTime), h.Changes)
	for _, kind := range slices.Sorted(maps.Keys(h.NonEvents)) {
		fmt.Fprintf(&b, "no news: %s %d\n", kind, h.NonEvents[kind])
	}
	for i := range h.Len() {
		e := h.Event(i)
		wrong := "?"
		if e.Error >= 0 {
			wrong = e.Error.Round(100 * time.Millisecond).String()
		}
		name := e.Object.Name
		if name == "" {
			name = e.Object.ID
		}
		fmt.Fprintf(&b, "%d %s ±%s %s %s %s", e.Revision, clockTime(e.Time), wrong, e.Kind, e.Object.Resource+"/"+name,
			e.Message)
		if e.Collection.Name != "" {
			fmt.Fprintf(&b, " [%s]", e.Collection.Name)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func clockTime(t time.Time) string {
	if t.IsZero() {
		return "?"
	}
	return t.Format("15:04:05.0")
}

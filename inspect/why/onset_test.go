package why_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/check/rules"
	"kitescope/inspect/history"
	"kitescope/inspect/meta"
	"kitescope/inspect/model"
	"kitescope/inspect/source"
	"kitescope/inspect/why"
)

var update = flag.Bool("update", false, "write golden files")

// TestOnsetsOfCaptures checks the onsets of the findings in captures of servers, and the events before them,
// against a golden file. The docs and READMEs of the captures describe the operations on those servers.
func TestOnsetsOfCaptures(t *testing.T) {
	t.Parallel()
	captures, err := filepath.Glob("../../testdata/snapshots/*/etcd_snapshot.db.gz")
	if err != nil || len(captures) < 10 {
		t.Fatalf("captures: %d, %v", len(captures), err)
	}
	var b strings.Builder
	for _, path := range captures {
		fmt.Fprintf(&b, "# %s\n", filepath.Base(filepath.Dir(path)))
		list, end := onsetsOf(t, path)
		fmt.Fprintf(&b, "until %s\n", end.Format(time.TimeOnly))
		for i := range list {
			b.WriteString(onsetText(&list[i]))
		}
	}
	const golden = "testdata/captures.txt"
	if *update {
		if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got := b.String(); got != string(want) {
		t.Errorf("onsets are not those of %s:\n%s", golden, got)
	}
}

// onsetsOf reads a capture and returns the onsets of the findings at its newest revision, and the time of
// that revision.
func onsetsOf(t *testing.T, path string) ([]why.Onset, time.Time) {
	t.Helper()
	ctx := t.Context()
	src, err := source.Open(ctx, path, source.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	past, err := source.PastOf(src)
	if err != nil {
		t.Fatal(err)
	}
	snap, err := src.Pin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer snap.Close()
	head := snap.Header()
	want := meta.Want{Parts: model.PartAll}
	c, err := meta.Load(ctx, snap, want)
	if err != nil {
		t.Fatal(err)
	}
	oldest, err := past.Oldest(ctx, head)
	if err != nil {
		t.Fatal(err)
	}
	h, _, err := history.ReadBetween(ctx, past, head, oldest, head.Revision)
	if err != nil {
		t.Fatal(err)
	}
	list, err := why.Find(ctx, surveyOf(past, head), h, check.Run(c, c.Origin.Taken, rules.All()), why.Options{
		Checks: rules.All(), Before: 2,
	})
	if err != nil {
		t.Fatal(err)
	}
	return list, c.Origin.Taken
}

// surveyOf returns a Survey that reads the past of a source.
func surveyOf(past source.Past, head source.Header) why.Survey {
	return func(ctx context.Context, revisions []int64, visit func(*model.Cluster) error) error {
		return meta.Moments(ctx, past, head, meta.Want{Parts: model.PartAll},
			func() (p meta.Point, ok bool, err error) {
				if len(revisions) == 0 {
					return p, false, nil
				}
				p, err = meta.PointOf(ctx, past, head, revisions[0])
				revisions = revisions[1:]
				return p, err == nil, err
			}, visit)
	}
}

func onsetText(o *why.Onset) string {
	text := fmt.Sprintf("%s %s", o.Finding.Severity,
		strings.TrimSpace(o.Finding.Check+" "+o.Finding.Object.Resource+"/"+o.Finding.Object.ID))
	switch {
	case o.Unknown != "":
		text += ": unknown, " + o.Unknown
	case o.MaybeOlder:
		text += fmt.Sprintf(": %s or before (revision %d)", o.Began.Format(time.TimeOnly), o.Revision)
	default:
		text += fmt.Sprintf(": %s ±%s (revision %d)", o.Began.Format(time.TimeOnly),
			o.Error.Round(100*time.Millisecond), o.Revision)
	}
	var b strings.Builder
	b.WriteString(text + "\n")
	for _, e := range o.Before {
		fmt.Fprintf(&b, "  %s %s %s/%s %s\n", e.Time.Format(time.TimeOnly), e.Kind, e.Object.Resource, e.Object.ID,
			e.Message)
	}
	return b.String()
}

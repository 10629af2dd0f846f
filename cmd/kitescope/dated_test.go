package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/check/rules"
	"kitescope/inspect/model"
	"kitescope/inspect/source"
	"kitescope/inspect/view"
)

// dates holds modification times that a copy of a file may have.
var dates = map[string]time.Time{
	"the hour after": time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC),
	"years later":    time.Date(2031, 1, 1, 0, 0, 0, 0, time.UTC),
	"long before":    time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC),
}

// absurd matches durations of centuries, which are computed from the zero time.
var absurd = regexp.MustCompile(`\d{5,} ?d\b|\d{6,}h|\b0001-01-01`)

// TestDatesOfFiles checks that the modification time of a file from a real cluster changes no finding. Ages come
// from the content of the file or are unknown.
func TestDatesOfFiles(t *testing.T) {
	for _, name := range []string{
		"snapshots/standalone-2.1.0/birdwatcher_backup.bak.gz", "snapshots/cluster-2.3.5-t7/birdwatcher_backup.bak.gz",
		"snapshots/cluster-2.3.5-t7/etcd_snapshot.db.gz", "broken/unflushed.kite",
	} {
		content, err := os.ReadFile(filepath.Join("..", "..", "testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		copied := filepath.Join(t.TempDir(), filepath.Base(name))
		if err := os.WriteFile(copied, content, 0o600); err != nil {
			t.Fatal(err)
		}
		var first []string
		var taken time.Time
		for i, when := range []string{"the hour after", "years later", "long before"} {
			if err := os.Chtimes(copied, dates[when], dates[when]); err != nil {
				t.Fatal(err)
			}
			found, at := findingsIn(t, copied)
			if i == 0 {
				first, taken = found, at
			}
			if !slices.Equal(found, first) || !at.Equal(taken) {
				t.Errorf("%s dated %s: taken %s, %q; dated the hour after: taken %s, %q", name, when, at, found, taken,
					first)
			}
			for _, text := range found {
				if absurd.MatchString(text) {
					t.Errorf("%s dated %s: %s", name, when, text)
				}
			}
		}
	}
}

// TestPlausibleFileTimeIsUsed checks that the modification time is used as the time of the file only if it fits the
// newest checkpoint in the file.
func TestPlausibleFileTimeIsUsed(t *testing.T) {
	content, err := os.ReadFile(filepath.Join("..", "..", "testdata", "snapshots", "cluster-2.3.5-t7",
		"birdwatcher_backup.bak.gz"))
	if err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(t.TempDir(), "fresh.bak.gz")
	if err := os.WriteFile(copied, content, 0o600); err != nil {
		t.Fatal(err)
	}
	c, _ := clusterWith(t, copied, source.Options{})
	var newest time.Time
	for _, v := range c.VChannels {
		if at := v.Checkpoint.At; at != model.MaxTSO && at.Time().After(newest) {
			newest = at.Time()
		}
	}
	for _, x := range []struct {
		after time.Duration
		known bool
	}{{20 * time.Second, true}, {90 * time.Second, true}, {10 * time.Minute, false}, {-time.Minute, false}} {
		date := newest.Add(x.after).Truncate(time.Second)
		if err := os.Chtimes(copied, date, date); err != nil {
			t.Fatal(err)
		}
		c, _ := clusterWith(t, copied, source.Options{})
		switch o := c.Origin; {
		case x.known && (!o.Taken.Equal(date) || !o.FileDate):
			t.Errorf("dated %s after its newest checkpoint: taken %s, of the file's date: %v", x.after, o.Taken,
				o.FileDate)
		case !x.known && (!o.Taken.IsZero() || o.FileDate):
			t.Errorf("dated %s after its newest checkpoint: taken %s, not unknown", x.after, o.Taken)
		}
	}
}

// findingsIn returns the findings on a file as text, and the time at which the file was taken.
func findingsIn(t *testing.T, path string) (list []string, taken time.Time) {
	t.Helper()
	_, c := clusterWith(t, path, source.Options{})
	r := check.Run(c, view.NewEnv(c, time.Now()).Now, rules.All())
	for _, x := range r.Results {
		if x.Status == check.Broken {
			t.Errorf("%s: %s: %s", path, x.Check.ID, x.Reason)
		}
	}
	for _, f := range r.Findings {
		words := []string{f.Severity.String() + " " + f.Check + " " + f.Message}
		for _, e := range f.Evidence {
			words = append(words, e.Name+": "+e.Value)
		}
		list = append(list, strings.Join(words, "; "))
	}
	return list, c.Origin.Taken
}

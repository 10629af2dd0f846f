//go:build e2e

package main

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"kitescope/inspect/history"
	"kitescope/inspect/session"
	"kitescope/inspect/source"
)

// TestFollowsInserts checks that the UI's feed shows the changes of a real Milvus while the official client
// creates a collection, inserts 2000 rows, flushes and drops it (tools/e2e/insert.py).
func TestFollowsInserts(t *testing.T) {
	from, insert := os.Getenv("KITESCOPE_E2E_FROM"), strings.Fields(os.Getenv("KITESCOPE_E2E_INSERT"))
	if from == "" || len(insert) == 0 {
		t.Fatal("run it with make e2e")
	}
	ctx, stop := context.WithTimeout(t.Context(), 4*time.Minute)
	defer stop()
	feed := &session.Feed{Interval: 200 * time.Millisecond, Open: func(ctx context.Context) (source.Source, error) {
		return source.Open(ctx, from, source.Options{})
	}}
	updates := make(chan history.Update, 100)
	go feed.Follow(ctx, func(u history.Update) { updates <- u })
	<-updates // the initial state

	client := exec.CommandContext(ctx, insert[0], insert[1:]...)
	output, err := client.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	client.Stderr = os.Stderr
	if err := client.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		b := make([]byte, 4096)
		for {
			n, err := output.Read(b)
			t.Logf("client: %s", b[:n])
			if err != nil {
				return
			}
		}
	}()
	seen, most, gone := false, int64(0), false
	for !gone {
		select {
		case u := <-updates:
			if u.Err != nil {
				t.Errorf("update: %v", u.Err)
			}
			if u.Cluster == nil {
				continue
			}
			exists := false
			for _, c := range u.Cluster.Collections {
				if c.Name != "kitescope_e2e" {
					continue
				}
				exists = !c.Dropped()
				if rows := u.Cluster.CollectionTotals(c.ID).Rows; rows > most {
					most = rows
					t.Logf("revision %d: %d rows", u.Cluster.Origin.Revision, rows)
				}
			}
			seen = seen || exists
			gone = seen && !exists
		case <-ctx.Done():
			t.Fatalf("seen %v, at most %d rows, and not gone after 4 minutes", seen, most)
		}
	}
	if most != 2000 {
		t.Errorf("at most %d rows were shown, want 2000", most)
	}
	if err := client.Wait(); err != nil {
		t.Error(err)
	}
}

package timeline

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"go.uber.org/goleak"

	"kitescope/inspect/history"
	"kitescope/inspect/session"
	"kitescope/inspect/source"
	"kitescope/inspect/view"
	"kitescope/tui"
	"kitescope/tui/tuitest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// ui is a driver and the model that it drives.
type ui struct {
	*tuitest.Driver
	m *tui.Model
}

// driven starts a driver on a captured etcd and its history.
func driven(t *testing.T, capture string, w, h int) *ui {
	t.Helper()
	u := &ui{}
	u.Driver = tuitest.Drive(t, w, h, func(save tuitest.SaveFunc) tea.Model {
		u.m = tui.New(tui.Config{
			Resources: view.Resources, Title: capture, Command: "kitescope --from etcd_snapshot.db", Theme: "dark",
			Now:      tuitest.Epoch,
			SaveFile: save, Pages: Pages(),
		})
		return u.m
	})
	ctx, stop := context.WithCancel(t.Context())
	updates := make(chan history.Update, 16)
	done := make(chan struct{})
	feed := &session.Feed{WithHistory: true, Open: func(ctx context.Context) (source.Source, error) {
		return source.Open(ctx, filepath.Join("..", "..", "testdata", "snapshots", capture, "etcd_snapshot.db.gz"),
			source.Options{})
	}}
	go func() {
		defer close(done)
		feed.Follow(ctx, func(u history.Update) { updates <- u })
	}()
	t.Cleanup(func() { stop(); <-done })
	for x := range updates {
		u.Send(x)
		if x.Cluster != nil {
			break
		}
	}
	u.Sleep(time.Second) // the history is read
	return u
}

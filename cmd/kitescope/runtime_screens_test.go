package main

import (
	"context"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"kitescope/inspect/history"
	"kitescope/inspect/model"
	"kitescope/inspect/view"
	"kitescope/tui"
)

// staticFeed is a feed with one cluster that does not change.
type staticFeed struct{ cluster *model.Cluster }

// Follow implements tui.Feed.
func (s staticFeed) Follow(ctx context.Context, emit func(history.Update)) {
	emit(history.Update{Cluster: s.cluster})
	<-ctx.Done()
}

// checkScreens checks that no page of the UI shows a secret. It opens every page and the details of its first
// row on a screen that is large enough for everything.
func checkScreens(t *testing.T, c *model.Cluster) {
	t.Helper()
	pages := []string{"overview", "tree docs", "balance", "findings", "help", "explain node-idle"}
	for _, r := range view.Resources {
		pages = append(pages, r.Name)
	}
	var drawing sync.WaitGroup
	free := make(chan struct{}, 8) // each spends most of its time waiting for the screen to stop changing
	for _, page := range pages {
		free <- struct{}{}
		drawing.Go(func() {
			defer func() { <-free }()
			text := screens(t, c, page)
			if found := secretIn(text); found != "" {
				t.Errorf("page %s draws a secret: %q", page, found)
			}
			if !strings.Contains(text, "by-dev") || len(text) < 500 {
				t.Errorf("page %s drew nothing:\n%s", page, text)
			}
		})
	}
	drawing.Wait()
}

// screens returns everything that the UI draws for a page, for the object that enter opens, and for that object
// in full.
func screens(t *testing.T, c *model.Cluster, page string) string {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), 20*time.Second)
	defer stop()
	keys, typed := io.Pipe()
	defer typed.Close()
	var drawn syncBuffer
	ended := make(chan error, 1)
	go func() {
		ended <- tui.Run(ctx, tui.Config{
			Input: keys, Output: &drawn, Width: 320, Height: 120, Environ: []string{"TERM=xterm-256color"},
			Feed:      staticFeed{c},
			Resources: view.Resources, Title: "fakes", Command: "kitescope", Theme: "dark", StartPage: page,
			Now: fakeNow,
		})
	}()
	quiet := func() {
		last, since := -1, time.Now()
		for begun := time.Now(); time.Since(begun) < 5*time.Second; time.Sleep(5 * time.Millisecond) {
			if n := len(drawn.String()); n != last {
				last, since = n, time.Now()
			} else if n > 0 && time.Since(since) > 60*time.Millisecond {
				return
			}
		}
	}
	// Wait for the cluster first, because the screen may also stop changing before it is loaded.
	for ctx.Err() == nil && !strings.Contains(ansi.Strip(drawn.String()), "by-dev") {
		time.Sleep(5 * time.Millisecond)
	}
	quiet()
	for _, key := range []string{"\r", "\r", "\x1b[6~"} { // enter, enter, page down
		if _, err := io.WriteString(typed, key); err != nil {
			t.Error(err)
		}
		quiet()
	}
	stop()
	<-ended
	return ansi.Strip(drawn.String())
}

package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

const (
	// processes is the number of fake processes pulled at once, and window the sampling time of each.
	processes = 100
	window    = 3 * time.Second
)

// pull takes profiles of many fake processes at once. They are servers on ports of their own that respond
// when the window is over.
func (b *bench) pull(ctx context.Context, r *report) (err error) {
	b.logf("pulling from %d processes", processes)
	body, err := os.ReadFile(filepath.Join(b.repo, "testdata", "profiles", "milvus-cpu-flat.pb.gz"))
	if err != nil {
		return err
	}
	server := &http.Server{Handler: fake(body), ReadHeaderTimeout: time.Minute}
	defer func() { err = errors.Join(err, server.Close()) }()
	var urls []string
	for range processes {
		listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		go func() { _ = server.Serve(listener) }() // ends with Close
		urls = append(urls, "http://"+listener.Addr().String())
	}
	for round := range b.rounds {
		dir := filepath.Join(b.scratch, fmt.Sprintf("pulled-%d", round))
		args := append([]string{"profile", "pull", "--seconds", strconv.Itoa(int(window / time.Second)), "-O", dir},
			urls...)
		cost, err := b.runner.Run(ctx, b.program(args...))
		if err != nil {
			return err
		}
		found, err := filepath.Glob(filepath.Join(dir, "*.pb.gz"))
		if err != nil {
			return err
		}
		if len(found) < processes {
			return fmt.Errorf("only %d of %d profiles in the folder", len(found), processes)
		}
		r.pulls = append(r.pulls, cost)
	}
	return nil
}

// fake returns a handler that responds like /debug/pprof/profile, after the requested number of seconds.
func fake(body []byte) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		seconds, err := strconv.Atoi(req.FormValue("seconds"))
		if err != nil {
			http.NotFound(w, req)
			return
		}
		select {
		case <-time.After(time.Duration(seconds) * time.Second):
		case <-req.Context().Done():
			return
		}
		w.Header().Set("Content-Type", "application/octet-stream")
		w.Header().Set("Content-Disposition", `attachment; filename="profile"`)
		_, _ = w.Write(body) // the client may be gone
	})
}

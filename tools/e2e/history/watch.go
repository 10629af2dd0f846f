package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"kitescope/tools/e2e/lab"
)

// watch records when etcd reported changes of sessions and settings to a watch of etcdctl. It shows,
// independently of kitescope, when etcd knew that a process was gone.
type watch struct {
	cmd     *exec.Cmd
	mu      sync.Mutex // guards changes
	changes []change
	done    chan struct{}
}

// change is a key that was written or deleted.
type change struct {
	At   time.Time
	Key  string
	Gone bool
}

// watchedPrefixes lists the prefixes of the watched keys.
var watchedPrefixes = []string{sessions, config}

func startWatch(ctx context.Context, l *lab.Lab) (*watch, error) {
	w := &watch{
		cmd:  l.Command(ctx, "etcdctl", "--endpoints", lab.EtcdAddress, "watch", "--prefix", "by-dev/", "-w", "json"),
		done: make(chan struct{}),
	}
	out, err := w.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := w.cmd.Start(); err != nil {
		return nil, err
	}
	l.Undo(w.cmd.Cancel)
	go func() {
		defer close(w.done)
		w.follow(out, time.Now)
	}()
	return w, nil
}

// follow reads the output of etcdctl, one JSON document for each response of etcd.
func (w *watch) follow(out io.Reader, now func() time.Time) {
	decoder := json.NewDecoder(out)
	for {
		var answer struct {
			Events []struct {
				Type int
				KV   struct{ Key []byte }
			}
		}
		if decoder.Decode(&answer) != nil {
			return
		}
		at := now().UTC()
		w.mu.Lock()
		for _, e := range answer.Events {
			key := string(e.KV.Key)
			if slices.ContainsFunc(watchedPrefixes,
				func(prefix string) bool { return strings.HasPrefix(key, prefix) }) {
				w.changes = append(w.changes, change{at, key, e.Type == 1})
			}
		}
		w.mu.Unlock()
	}
}

// first returns the first change of one of the keys at or after a time. A key that ends with a hyphen is a
// prefix.
func (w *watch) first(after time.Time, keys []string) (change, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.changes {
		if c.At.Before(after) {
			continue
		}
		for _, k := range keys {
			if c.Key == k || strings.HasPrefix(c.Key, k) && strings.HasSuffix(k, "-") {
				return c, true
			}
		}
	}
	return change{}, false
}

// end stops etcdctl.
func (w *watch) end() error {
	err := w.cmd.Cancel()
	<-w.done
	var exit *exec.ExitError
	if wait := w.cmd.Wait(); wait != nil && !errors.As(wait, &exit) {
		err = errors.Join(err, wait)
	}
	return err
}

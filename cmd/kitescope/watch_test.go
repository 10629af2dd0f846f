package main

import (
	"bufio"
	"context"
	"io"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"kitescope/cmd/kitescope/cli"
)

// TestWatch shows a list once, and then the rows that changed and no others.
func TestWatch(t *testing.T) {
	t.Parallel() // it waits
	demo, err := startedDemo(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(demo.stop)
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{demo.host}, DialTimeout: 5 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()

	ctx, stop := context.WithTimeout(t.Context(), 30*time.Second)
	defer stop()
	r, w := io.Pipe()
	var messages strings.Builder
	code := make(chan int)
	go func() {
		code <- run(ctx, scripted(w, &messages, nil), []string{"get", "nodes", "--watch", "-o", "jsonl", "--columns", "id,role,state", "--from", demo.from()})
		w.Close()
	}()
	lines := bufio.NewScanner(r)
	for range 11 { // the sessions of the captured cluster
		if !lines.Scan() {
			t.Fatalf("ended early: %s", messages.String())
		}
	}
	key := "by-dev/meta/session/querynode-19"
	got, err := client.Get(ctx, key)
	if err != nil || len(got.Kvs) != 1 {
		t.Fatalf("%s: %v", key, err)
	}
	stopping := strings.Replace(string(got.Kvs[0].Value), `"TriggerKill":true`, `"TriggerKill":true,"Stopping":true`, 1)
	if _, err := client.Put(ctx, key, stopping); err != nil {
		t.Fatal(err)
	}
	if !lines.Scan() || !strings.Contains(lines.Text(), `"id":"19"`) || !strings.Contains(lines.Text(), `"state":"stopping"`) {
		t.Errorf("the change is shown as %q", lines.Text())
	}
	if _, err := client.Delete(ctx, key); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Put(ctx, "by-dev/meta/session/querynode-20", strings.Replace(string(got.Kvs[0].Value), `"ServerID":19`, `"ServerID":20`, 1)); err != nil {
		t.Fatal(err)
	}
	if !lines.Scan() || !strings.Contains(lines.Text(), `"id":"20"`) {
		t.Errorf("the new node is shown as %q", lines.Text())
	}
	stop()
	go func() { _, _ = io.Copy(io.Discard, r) }()
	if c := <-code; c != cli.ExitInterrupted {
		t.Errorf("exit %d after an interrupt, want %d", c, cli.ExitInterrupted)
	}
	if !strings.Contains(messages.String(), "gone: node querynode-19") {
		t.Errorf("the node that left is not named: %q", messages.String())
	}
}

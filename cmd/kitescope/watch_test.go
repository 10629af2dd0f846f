package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"kitescope/cmd/kitescope/cli"
	"kitescope/inspect/model/modeltest"
	"kitescope/inspect/view"
	"kitescope/table"
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

// TestNews: what is said to have changed is what comparing all rows finds, whatever is selected, and nothing else.
func TestNews(t *testing.T) {
	random := rand.New(rand.NewPCG(21, 22))
	c := modeltest.ServedLarge(400, 20)
	resource, err := view.Find("segments")
	if err != nil {
		t.Fatal(err)
	}
	at := modeltest.Now
	young, err := view.ParseSelection(resource, []string{"age_seconds<6h"})
	if err != nil {
		t.Fatal(err)
	}
	queries := []view.Query{{}, {Sort: []string{"-rows"}, Limit: 1500}, {Show: table.Wide}, {Where: young, Sort: []string{"rows"}}}
	last := make([]*view.Grid, len(queries))
	for step := range 60 {
		p := c.Parts
		p.Segments = slices.Clone(p.Segments)
		for range random.IntN(4) {
			i := random.IntN(len(p.Segments))
			x := *p.Segments[i]
			switch random.IntN(4) {
			case 0:
				p.Segments = slices.Delete(p.Segments, i, i+1)
				continue
			case 1:
				x.ID = p.Segments[len(p.Segments)-1].ID + 1
				p.Segments = append(p.Segments, &x)
				continue
			case 2:
				x.Rows = random.Int64N(400_000)
			default:
				x.StorageVersion++ // in no usual column
			}
			p.Segments[i] = &x
		}
		if step%20 == 19 {
			x := *p.Collections[0]
			x.Name += "x"
			p.Collections = slices.Clone(p.Collections)
			p.Collections[0] = &x
		}
		if step%5 == 4 {
			x := *p.VChannels[0]
			x.Checkpoint.At++
			p.VChannels = slices.Clone(p.VChannels)
			p.VChannels[0] = &x
		}
		if c = c.Update(p); step == 40 {
			c = c.WithRuntime(nil) // what it says has no columns any more
			clear(last)
		}
		at = at.Add(time.Duration(random.IntN(40)) * time.Minute)
		for i, q := range queries {
			now, err := view.Select(resource.Table(view.NewEnv(c, at)), q)
			if err != nil {
				t.Fatal(err)
			}
			if last[i] != nil {
				checkNews(t, last[i], now)
			}
			last[i] = now
		}
		if t.Failed() {
			t.Fatalf("step %d", step)
		}
	}
}

func checkNews(t *testing.T, before, now *view.Grid) {
	t.Helper()
	texts := func(g *view.Grid) map[string]string {
		all := map[string]string{}
		for i := range g.Len() {
			var cells []table.Cell
			for j, column := range g.Columns {
				if g.Table.Resource().Columns[column].Kind != table.Duration {
					cells = append(cells, g.Cell(i, j))
				}
			}
			all[g.Table.Ref(g.Row(i)).ID] = fmt.Sprintf("%+v", cells)
		}
		return all
	}
	old, fresh := texts(before), texts(now)
	var wantChanged, wantLeft, gotChanged []string
	for id, text := range fresh {
		if old[id] != text {
			wantChanged = append(wantChanged, id)
		}
	}
	for id := range old {
		if _, ok := fresh[id]; !ok {
			wantLeft = append(wantLeft, id)
		}
	}
	changed, left := newRows(before, now)
	at := map[int32]int{}
	for i := range now.Len() {
		at[int32(now.Row(i))] = i
	}
	if !slices.IsSortedFunc(changed, func(a, b int32) int { return at[a] - at[b] }) {
		t.Error("rows are not in the order of the list")
	}
	for _, row := range changed {
		gotChanged = append(gotChanged, now.Table.Ref(int(row)).ID)
	}
	slices.Sort(wantChanged)
	slices.Sort(wantLeft)
	slices.Sort(gotChanged)
	if !slices.Equal(gotChanged, wantChanged) || !slices.Equal(left, wantLeft) {
		t.Errorf("changed %v, want %v; left %v, want %v", gotChanged, wantChanged, left, wantLeft)
	}
}

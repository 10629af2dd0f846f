package live_test

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"kitescope/inspect/live"
	"kitescope/inspect/meta"
	"kitescope/inspect/model"
	"kitescope/inspect/source"
)

func TestZZReal(t *testing.T) {
	from := os.Getenv("FROM")
	if from == "" {
		t.Skip()
	}
	src, err := source.Open(context.Background(), from, source.Options{})
	if err != nil {
		t.Fatal(err)
	}
	snap, err := src.Pin(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	c, err := meta.Load(context.Background(), snap, meta.Want{Parts: model.PartAll})
	if err != nil {
		t.Fatal(err)
	}
	cl, err := live.Open(live.Options{Timeout: 3 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		start := time.Now()
		r, err := cl.Ask(context.Background(), c)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Println(time.Since(start))
		for _, n := range r.Nodes {
			cpu, over, ok := n.Process.CPU()
			fmt.Println(n.Name(), n.Address, n.Outcome, n.Reason, n.State, n.System != nil, n.Process != nil, len(n.Calls), cpu, over, ok)
			for _, c := range n.Calls {
				if c.Outcome != model.Answered {
					fmt.Println("   ", c)
				}
			}
		}
		for _, p := range r.Processes {
			fmt.Println(p.Address, p.Nodes, p.Outcome, p.Reason, p.Healthz)
		}
		fmt.Println(r.Skipped, len(r.Replicas), len(r.ShardLeaders), len(r.Loaded), len(r.Groups), len(r.Recovery), len(r.DataSegments), r.From, r.To, r.ClusterKey, r.Queue)
		for _, x := range r.DataSegments[:min(3, len(r.DataSegments))] {
			fmt.Println(x)
		}
	}
}

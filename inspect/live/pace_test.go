package live_test

import (
	"bytes"
	"slices"
	"sync"
	"testing"
	"time"

	"kitescope/inspect/live"
	"kitescope/inspect/live/livetest"
	"kitescope/inspect/live/recorded"
	"kitescope/inspect/model"
)

// TestPace checks that a process that is stopped four fifths of the time responds late repeatedly and the
// others do not. It also checks that the times are in the records and in the next Ask.
func TestPace(t *testing.T) {
	t.Parallel()
	c := smallCluster(t, livetest.Spec{}, livetest.Options{}, recorded.Options{})
	punctual := livetest.Punctual(t)
	addresses := map[string]string{}
	for _, s := range c.Sessions {
		if s.Name() == "querynode-101" {
			addresses[s.Name()] = livetest.DutyCycle(t, s.Address, 150*time.Millisecond, 600*time.Millisecond)
		}
	}
	c = livetest.Replace(c, addresses)
	var mu sync.Mutex
	var kept []live.Record
	client, err := live.Open(live.Options{Window: time.Second, Keep: func(r live.Record) {
		mu.Lock()
		defer mu.Unlock()
		kept = append(kept, r)
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	var before *model.ProbeRound
	for round := range 2 {
		kept = nil
		r, err := client.Ask(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range r.Nodes {
			if n.Role == "indexcoord" { // it shares DataCoord's connection
				continue
			}
			if n.ProbeRound == nil {
				t.Fatalf("%s: nothing is known of its pace", n.Name())
			}
			stalls := n.ProbeRound.Stalls(200 * time.Millisecond)
			if slow := n.Name() == "querynode-101"; (slow && len(stalls) < 3 ||
				!slow && len(stalls) > len(n.ProbeRound.Probes)/3) && punctual() {
				t.Errorf("%s: %d stalls of %d probes in %v: %v", n.Name(), len(stalls), len(n.ProbeRound.Probes),
					n.ProbeRound.Duration(), stalls)
			}
			if calls := slices.DeleteFunc(slices.Clone(n.Calls), func(c model.Call) bool {
				return c.Method != "GetComponentStates"
			}); len(calls) != 1 {
				t.Errorf("%s: the question for its state is there %d times", n.Name(), len(calls))
			}
			if len(n.EarlierRounds) != round {
				t.Errorf("%s: %d earlier rounds in round %d", n.Name(), len(n.EarlierRounds), round)
			}
		}
		slow := r.LiveNode("querynode", 101)
		if over := slow.ProbeRound.Duration(); over < 2*time.Second {
			t.Errorf("it was watched for %v, as one that is well is", over)
		}
		if round == 1 && slow.EarlierRounds[0] != before {
			t.Error("the past is not that of the round before")
		}
		before = slow.ProbeRound
		var file bytes.Buffer
		for _, k := range kept {
			if err := live.WriteRecord(&file, k); err != nil {
				t.Fatal(err)
			}
		}
		d := live.NewDecoder()
		if err := live.ReadRecords(&file, func(r live.Record) error { d.Add(r); return nil }); err != nil {
			t.Fatal(err)
		}
		again := d.Runtime("recording", "").LiveNode("querynode", 101)
		if again.ProbeRound == nil || len(again.ProbeRound.Probes) != len(slow.ProbeRound.Probes) ||
			again.Outcome != model.Answered {
			t.Errorf("the recording has %+v", again.ProbeRound)
		}
	}
}

// TestPaceOfNetwork checks that processes with the same long round-trip time are not slow, and that none is
// measured for longer.
func TestPaceOfNetwork(t *testing.T) {
	t.Parallel()
	c := smallCluster(t, livetest.Spec{}, livetest.Options{}, recorded.Options{})
	punctual := livetest.Punctual(t)
	far := map[string]string{}
	for _, s := range c.Sessions {
		far[s.Address] = livetest.Delayed(t, s.Address, 240*time.Millisecond)
	}
	r := ask(t, c, live.Options{Window: time.Second, Map: far})
	for _, n := range r.Nodes {
		switch {
		case n.Role == "indexcoord":
		case n.ProbeRound == nil:
			t.Errorf("%s: nothing is known of its pace", n.Name())
		case n.ProbeRound.RTT() < 200*time.Millisecond,
			(len(n.ProbeRound.Stalls(150*time.Millisecond)) > 0 || n.ProbeRound.Duration() > 3*time.Second) &&
				punctual():
			t.Errorf("%s: way %v, over %v: %+v", n.Name(), n.ProbeRound.RTT(), n.ProbeRound.Duration(), n.ProbeRound)
		}
	}
}

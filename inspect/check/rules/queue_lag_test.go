package rules_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/check/rules/rulestest"
	"kitescope/inspect/model"
)

// TestQueueOffsetsOfCapture compares the checkpoints of a captured cluster with the offsets that Kafka reported
// for its topics soon afterwards (kafka-get-offsets.sh, "topic:partition:end"). It checks that no lag exceeds
// the bound in the documentation. It also checks that each channel is reported if the queue has deleted all
// messages up to that time.
func TestQueueOffsetsOfCapture(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("testdata", "kafka-offsets-t6.txt"))
	if err != nil {
		t.Fatal(err)
	}
	queue := &model.Queue{Kind: "kafka", Outcome: model.Answered}
	for line := range strings.Lines(string(text)) {
		parts := strings.Split(strings.TrimSpace(line), ":")
		end, err := strconv.ParseInt(parts[2], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		queue.Topics = append(queue.Topics, model.Topic{Name: parts[0], End: end})
	}
	c := rulestest.Capture(t, "cluster-2.3.5-t6")
	c = c.WithRuntime(model.BuildRuntime(model.RuntimeParts{Kind: "recording", Queue: queue}))
	if r := check.Run(c, c.Origin.Taken, []*check.Check{rulestest.ByID("queue-lag")}); r.Results[0].Status != check.OK {
		t.Errorf("%s: %v", r.Results[0].Status, rulestest.KeysOf(r.Findings))
	}
	worst, channels := int64(0), 0
	for _, v := range c.VChannels {
		if x := c.Collection(v.Collection); x == nil || x.Dropped() {
			continue
		}
		lag, ok := c.QueueLag(v)
		if !ok {
			t.Errorf("no lag of %s", v.Name)
		}
		worst, channels = max(worst, lag), channels+1
	}
	if worst < 1000 || worst > 1500 {
		t.Errorf("the greatest lag is %d; the documentation of queue-lag says that it stays below 1,500", worst)
	}
	for i := range queue.Topics {
		queue.Topics[i].First = queue.Topics[i].End
	}
	if r := check.Run(c, c.Origin.Taken, []*check.Check{rulestest.ByID("queue-lag")}); r.Count(check.Error) !=
		channels {
		t.Errorf("%d of %d channels whose messages are gone are named", r.Count(check.Error), channels)
	}
}

func TestQueueLag(t *testing.T) {
	topic := func(first, end int64) func(*rulestest.World) { // the checkpoints are at 5000
		return func(w *rulestest.World) {
			w.AddResponses().Queue = &model.Queue{
				Kind: "kafka", Outcome: model.Answered,
				Topics: []model.Topic{{Name: "by-dev-rootcoord-dml_0", First: first, End: end}},
			}
		}
	}
	object := "vchannels/" + rulestest.Channel0 + " "
	rulestest.RunCases(t, rulestest.ByID("queue-lag"), []rulestest.Case{
		{Name: "near its end", Change: topic(0, 5100)},
		{Name: "at its end", Change: topic(0, 5000)},
		{Name: "idle for ten minutes", Change: topic(0, 8000)},
		{
			Name: "far behind", Change: topic(0, 105_000),
			Want: []string{"warning " + object + "100,000 messages behind the end of its topic"},
		},
		{
			Name: "messages are gone", Change: topic(6000, 9000),
			Want: []string{
				"error " + object + "the queue has deleted 1,000 messages after the checkpoint of " +
					rulestest.Channel0 + " of docs",
			},
		},
		{Name: "the next message is the oldest", Change: topic(5001, 9000)},
		{
			Name: "beyond its end", Change: topic(0, 100),
			Want: []string{"error " + object + "4,900 messages past the end of its topic"},
		},
		{Name: "answers that are older than the checkpoint", Change: func(w *rulestest.World) {
			topic(0, 100)(w)
			w.Runtime.From, w.Runtime.To = rulestest.TimeAgo(time.Hour), rulestest.TimeAgo(time.Hour-time.Second)
		}},
		{
			Name:   "a checkpoint of an unknown time",
			Change: func(w *rulestest.World) { topic(0, 100)(w); w.VChannels[0].Checkpoint.At = 0 },
		},
		{
			Name:    "topic not among them",
			Change:  func(w *rulestest.World) { topic(0, 100)(w); w.Runtime.Queue.Topics[0].Name = "other" },
			Skipped: "no checkpoint has an offset in a topic",
		},
		{
			Name: "another kind of id",
			Change: func(w *rulestest.World) {
				topic(0, 100)(w)
				w.VChannels[0].Checkpoint.Message = []byte("ledger:12:4")
			},
			Skipped: "no checkpoint has an offset in a topic",
		},
		{Name: "dropped", Change: func(w *rulestest.World) { topic(0, 100)(w); w.Collections[0].State = "Dropping" }},
		{
			Name:    "did not answer",
			Change:  func(w *rulestest.World) { w.AddResponses().Queue = &model.Queue{Outcome: model.Refused} },
			Skipped: "did not respond",
		},
	})
}

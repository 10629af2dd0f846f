package rules_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/meta"
	"kitescope/inspect/meta/captured"
	"kitescope/inspect/model"
)

// capture is a cluster decoded from a captured etcd.
func capture(t *testing.T, name string) *model.Cluster {
	t.Helper()
	return captured.Cluster(t, meta.Want{Parts: model.PartAll}, "..", "..", "..", "testdata", "snapshots", name, captured.Snapshot)
}

// TestCaptures judges captured clusters by their metadata alone: those that are well give nothing of severity warning or
// above, and upgrade and rollback their layout first. What a check cannot know from metadata it must not call ok.
func TestCaptures(t *testing.T) {
	stale := "info / left by"
	blind := []*check.Check{named("etcd-alarm"), named("etcd-no-leader"), named("etcd-size"), named("queue-unreachable"), named("timetick-lag"), named("queue-lag"), named("quota-denied"), named("config-drift"), named("bad-switches"), named("near-limit"), named("dropped-not-collected")}
	for _, x := range []struct {
		name    string
		want    []string
		unknown []*check.Check
	}{
		{"standalone-2.1.0", nil, []*check.Check{named("checkpoint-lag"), named("checkpoint-missing"), named("mixed-versions"), named("resource-group-short"), named("index-too-new")}},
		{"standalone-2.2.16", []string{stale}, []*check.Check{named("index-too-new")}},
		{"standalone-2.3.5", []string{stale}, nil},
		{"cluster-2.3.5-t1", []string{stale}, []*check.Check{named("small-segments")}},
		{"cluster-2.3.5-t7", []string{stale}, []*check.Check{named("small-segments")}},
		{"upgrade-2.2.16", []string{"error / Milvus 2.2.16 runs on unmigrated metadata of 2.1 and does not see 4 index definitions and the load states of 6 collections"}, []*check.Check{named("index-too-new")}},
		{"rollback-2.1.0", []string{
			"error collections/470590612869480449 1 segment of hnsw_sim, 3,000 rows, was rewritten by a newer Milvus",
			"warning / keys of Milvus 2.2 or later exist, but 2.1 is running",
		}, []*check.Check{named("checkpoint-lag"), named("checkpoint-missing"), named("mixed-versions"), named("resource-group-short"), named("index-too-new")}},
	} {
		t.Run(x.name, func(t *testing.T) {
			c := capture(t, x.name)
			r := check.Run(c, c.Origin.Taken, metadataChecks())
			all := &check.Result{Status: check.Found, Findings: r.Findings}
			if len(r.Findings) == 0 {
				all.Status = check.OK
			}
			holdFindings(t, &check.Check{ID: x.name, Severity: check.Error}, all, x.want)
			for _, result := range r.Results {
				wanted := false
				for _, u := range append(blind, x.unknown...) {
					wanted = wanted || u == result.Check
				}
				if wanted != (result.Status == check.Skipped) {
					t.Errorf("%s: %s %s", result.Check.ID, result.Status, result.Reason)
				}
			}
		})
	}
}

// TestQueueOffsetsOfCapture holds the checkpoints of a captured cluster against what Kafka said of its topics soon after
// (kafka-get-offsets.sh, "topic:partition:end"): nothing is behind by more than what the doc says, and if the
// queue had thrown away what it had then, each channel would be named.
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
	c := capture(t, "cluster-2.3.5-t6")
	c = c.WithRuntime(model.BuildRuntime(model.RuntimeParts{Kind: "recording", Queue: queue}))
	if r := check.Run(c, c.Origin.Taken, []*check.Check{named("queue-lag")}); r.Results[0].Status != check.OK {
		t.Errorf("%s: %v", r.Results[0].Status, keysOf(r.Findings))
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
	if r := check.Run(c, c.Origin.Taken, []*check.Check{named("queue-lag")}); r.Count(check.Error) != channels {
		t.Errorf("%d of %d channels whose messages are gone are named", r.Count(check.Error), channels)
	}
}

// TestWatchTimesOfCapture: the time of a watch, which decides how long a checkpoint may be old, is read from Milvus's own records.
func TestWatchTimesOfCapture(t *testing.T) {
	c := capture(t, "cluster-2.3.5-t7")
	watched := 0
	for _, v := range c.VChannels {
		if !v.Watched {
			continue
		}
		watched++
		if age := c.Origin.Taken.Sub(v.WatchedAt); age < time.Minute || age > 2*time.Minute {
			t.Errorf("%s was assigned %s before the capture; its data node had started 1 min 23 s before", v.Name, age)
		}
	}
	if watched != 14 {
		t.Errorf("%d watched channels", watched)
	}
}

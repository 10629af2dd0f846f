package view

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kitescope/inspect/model"
	"kitescope/inspect/model/modeltest"
	"kitescope/internal/table"
)

// TestPulsarsTopics checks the cells of Pulsar's topics and subscriptions: it has no offsets or positions,
// but reports the backlog of each subscription.
func TestPulsarsTopics(t *testing.T) {
	c := model.Build(model.Parts{Loaded: model.PartAll})
	c = c.WithRuntime(model.BuildRuntime(model.RuntimeParts{Queue: &model.Queue{
		Kind: "pulsar", Outcome: model.Answered, Topics: []model.Topic{{Name: "dml_0", Stats: &model.TopicStats{
			Bytes: 3 << 20, BacklogBytes: 2 << 20,
			Subscriptions: []model.Subscription{
				{Name: "left", Backlog: 900, Bytes: 2 << 20},
				{Name: "read", Backlog: 3, Consumers: 1, Consumed: modeltest.Now.Add(-time.Minute)},
			},
		}}},
	}}))
	env := NewEnv(c, modeltest.Now)
	cells := func(r *Resource, row int, names ...string) (list []table.Cell) {
		rows := r.Table(env)
		for _, name := range names {
			list = append(list, rows.Cell(row, r.Column(name)))
		}
		return list
	}
	if diff := cmp.Diff([]table.Cell{text("pulsar"), none(), unknown(), count(3 << 20), count(2 << 20), count(2)},
		cells(topics, 0, "queue", "end_offset", "messages", "kept_bytes", "backlog_bytes", "subscriptions")); diff !=
		"" {
		t.Errorf("topic: %s", diff)
	}
	for name, x := range map[string]struct {
		retention *model.QueueRetention
		want      []table.Cell
	}{
		"not told": {nil, []table.Cell{unknown(), unknown()}},
		"three days": {
			&model.QueueRetention{Time: 72 * time.Hour, Bytes: -1}, []table.Cell{count(int64(72 * time.Hour)), none()},
		},
		"none of any": {&model.QueueRetention{}, []table.Cell{count(0), count(0)}},
	} {
		c.Runtime.Queue.Retention = x.retention
		if diff := cmp.Diff(x.want, cells(topics, 0, "retention_seconds", "retention_bytes")); diff != "" {
			t.Errorf("retention %s: %s", name, diff)
		}
	}
	if diff := cmp.Diff([]table.Cell{text("left"), count(900), count(0), none(), none()},
		cells(subscriptions, 0, "name", "behind_messages", "consumers", "position", "read_at")); diff != "" {
		t.Errorf("left: %s", diff)
	}
	if diff := cmp.Diff([]table.Cell{text("read"), count(3), count(1), timeCell(modeltest.Now.Add(-time.Minute))},
		cells(subscriptions, 1, "name", "behind_messages", "consumers", "read_at")); diff != "" {
		t.Errorf("read: %s", diff)
	}
}

package view

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kitescope/inspect/model"
	"kitescope/inspect/model/modeltest"
	"kitescope/inspect/msgid"
	"kitescope/internal/table"
)

// TestWALOfKafka checks the positions of a log that is a Kafka topic: from its first offset to its end, with
// the checkpoints between them.
func TestWALOfKafka(t *testing.T) {
	offset := func(queue msgid.Queue, n int64) []byte { return msgid.ID{Queue: queue, Offset: n}.Bytes() }
	build := func(q *model.Queue, checkpoint model.Checkpoint) *Env {
		c := model.Build(model.Parts{
			Loaded: model.PartAll,
			PChannels: []*model.PChannel{
				{
					Name: "dml_0", Streaming: true,
					Checkpoint: model.Checkpoint{Queue: "kafka", At: 5, Message: offset(msgid.Kafka, 80)},
				},
			},
			VChannels: []*model.VChannel{{Name: "dml_0_1v0", PChannel: "dml_0", Checkpoint: checkpoint}},
		})
		return NewEnv(c.WithRuntime(model.BuildRuntime(model.RuntimeParts{Queue: q})), modeltest.Now)
	}
	topic := &model.Queue{
		Kind: "kafka", Outcome: model.Answered, Topics: []model.Topic{{Name: "dml_0", First: 10, End: 100}},
	}
	lies := func(n int64) model.Checkpoint { return model.Checkpoint{At: 7, Message: offset(msgid.Kafka, n)} }
	const written, recovered, kept = "Written 100 none none", "Recovered 80 20 unknown", "OldestKept 10 90 unknown"
	for name, x := range map[string]struct {
		env  *Env
		want []string
	}{
		"in the topic": {build(topic, lies(97)), []string{written, recovered, "Flushed 97 3 unknown", kept}},
		"past the end": {build(topic, lies(120)), []string{written, recovered, "Flushed 120 0 unknown", kept}},
		"no offset": {
			build(topic, model.Checkpoint{At: 7, Message: []byte{1, 2}}),
			[]string{written, recovered, "Flushed unknown unknown unknown", kept},
		},
		"of another queue": {
			build(topic, model.Checkpoint{At: 7, Queue: "pulsar", Message: offset(msgid.Kafka, 97)}),
			[]string{written, recovered, "Flushed unknown unknown unknown", kept},
		},
		"no offset, but bytes": {
			build(topic, model.Checkpoint{At: 7, Message: []byte{0, 0, 0, 0, 0, 0, 0, 0x80}}),
			[]string{written, recovered, "Flushed unknown unknown unknown", kept},
		},
		"it did not answer": {
			build(&model.Queue{Kind: "kafka", Outcome: model.Refused}, lies(97)),
			[]string{"Recovered 80 unknown unknown", "Flushed 97 unknown unknown"},
		},
		"it was not asked": {
			build(nil, lies(97)), []string{"Recovered 80 unknown unknown", "Flushed 97 unknown unknown"},
		},
		"Pulsar": {
			build(&model.Queue{
				Kind: "pulsar", Outcome: model.Answered,
				Topics: []model.Topic{{Name: "dml_0", Stats: &model.TopicStats{}}},
			}, model.Checkpoint{At: 7, Queue: "pulsar", Message: []byte{8, 1, 16, 2, 24, 3, 32, 4}}),
			[]string{"Recovered 80 unknown unknown", "Flushed unknown unknown unknown"},
		},
	} {
		if diff := cmp.Diff(x.want, positionsOf(x.env)); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
}

// positionsOf returns the positions of all logs: stage, position, messages and bytes behind.
func positionsOf(e *Env) (list []string) {
	rows := wal.Table(e)
	for row := range rows.Len() {
		line := rows.Cell(row, wal.Column("stage")).Text
		for _, name := range []string{"position", "behind_messages", "behind_bytes"} {
			switch c := rows.Cell(row, wal.Column(name)); {
			case c.Absent == table.Unknown:
				line += " unknown"
			case c.Absent == table.None:
				line += " none"
			case c.Text != "":
				line += " " + c.Text
			default:
				line += fmt.Sprint(" ", c.Int)
			}
		}
		list = append(list, line)
	}
	return list
}

// TestWALBehindIsQueueLag checks that two columns count the same messages of a topic, for random checkpoints.
func TestWALBehindIsQueueLag(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	lag := vchannels.Column("queue_lag")
	counted := 0
	for range 500 {
		message := make([]byte, []int{0, 7, 8, 8, 8, 8, 12}[r.IntN(7)])
		for i := range min(len(message), 1+r.IntN(8)) {
			message[i] = byte(r.Uint32())
		}
		first := r.Int64N(1 << r.IntN(63))
		c := model.Build(model.Parts{
			Loaded: model.PartAll, PChannels: []*model.PChannel{{Name: "dml_0"}},
			VChannels: []*model.VChannel{
				{Name: "dml_0_1v0", PChannel: "dml_0", Checkpoint: model.Checkpoint{At: 1, Message: message}},
			},
		}).WithRuntime(model.BuildRuntime(model.RuntimeParts{Queue: &model.Queue{
			Kind: "kafka", Outcome: model.Answered,
			Topics: []model.Topic{{Name: "dml_0", First: first, End: first + r.Int64N(math.MaxInt64-first)}},
		}}))
		env := NewEnv(c, modeltest.Now)
		rows := wal.Table(env)
		got := rows.Cell(RowOf(rows, "dml_0/Flushed/dml_0_1v0"), wal.Column("behind_messages"))
		want := vchannels.Table(env).Cell(0, lag)
		if want.Absent == table.None { // without a message nothing can be counted
			want = unknown()
		}
		if diff := cmp.Diff(want, got); diff != "" || got.Int < 0 {
			t.Errorf("%x: %s", message, diff)
		}
		if got.Absent == table.Present {
			counted++
		}
	}
	if counted < 100 {
		t.Errorf("only %d were counted", counted)
	}
}

// TestWALBehindAtLeast checks that segments without recorded counts are counted separately, for a log and for
// its readers.
func TestWALBehindAtLeast(t *testing.T) {
	closed := func(id int64) model.LogSegment {
		return model.LogSegment{ID: id, State: model.LogCompleted, Last: 9, Bytes: 1000}
	}
	l := &model.Log{
		Name: "dml_0", Truncated: model.LogPosition{Segment: -1},
		Segments: []model.LogSegment{
			closed(0), {ID: 1, State: model.LogMissing}, closed(2), {ID: 3, State: model.LogActive, Last: -1},
		},
		Readers: []model.LogReader{{Name: "reader", Read: model.LogPosition{Segment: 2, Entry: 4}}},
	}
	c := model.Build(model.Parts{
		Loaded: model.PartAll, Woodpecker: &model.Woodpecker{Logs: []*model.Log{l}},
		PChannels: []*model.PChannel{
			{
				Name: "dml_0", Streaming: true,
				Checkpoint: model.Checkpoint{
					At: 1, Queue: "woodpecker", Entry: &model.LogPosition{Segment: 0, Entry: 3},
				},
			},
		},
	})
	env := NewEnv(c, modeltest.Now)
	for _, x := range []struct {
		r              *Resource
		ref            string
		behind, beside int64
	}{{wal, "dml_0/Recovered", 16, 2}, {wal, "dml_0/OldestKept", 19, 2}, {subscriptions, "dml_0/reader", 5, 1}} {
		rows := x.r.Table(env)
		row := RowOf(rows, x.ref)
		got := []table.Cell{
			rows.Cell(row, x.r.Column("behind_messages")), rows.Cell(row, x.r.Column("uncounted_segments")),
		}
		if diff := cmp.Diff([]table.Cell{count(x.behind), count(x.beside)}, got); diff != "" {
			t.Errorf("%s: %s", x.ref, diff)
		}
	}
}

// TestLogStatesInOrder checks that unknown states of a newer Woodpecker have a fixed order.
func TestLogStatesInOrder(t *testing.T) {
	l := &model.Log{}
	for _, state := range []string{"Frozen", "Active", "Compacting", "Fenced", "Frozen", "Recovering", "Archived"} {
		l.Segments = append(l.Segments, model.LogSegment{State: state})
	}
	want := []string{"Active 1", "Archived 1", "Compacting 1", "Fenced 1", "Frozen 2", "Recovering 1"}
	for range 50 {
		if got := logStates(l); !slices.Equal(got, want) {
			t.Fatalf("%v", got)
		}
	}
}

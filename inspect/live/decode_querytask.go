package live

import (
	"fmt"
	"strconv"
	"strings"

	"kitescope/inspect/model"
)

// queryTask decodes a task of QueryCoord. Its name holds its object: segment_checker-SegmentTask[12]-4705 the
// segment, channel_checker-ChannelTask[13]-by-dev-rootcoord-dml_0_4700v0 the channel,
// leader_checker-LeaderSegmentTask[14]-7 the node of the leader (milvus internal/querycoordv2/task/task.go:
// Name). Its actions name nodes (action.go: Desc).
func (d *Decoder) queryTask(x *queryTaskJSON) *model.Task {
	name := d.word(x.Name)
	head, rest, found := strings.Cut(name, "Task[")
	number, about, numbered := strings.Cut(rest, "]-")
	id, err := strconv.ParseInt(number, 10, 64)
	dash := strings.LastIndexByte(head, '-')
	if !found || !numbered || err != nil || dash < 0 {
		return nil
	}
	t := &model.Task{
		ID: id, SubType: d.word(x.Type), Collection: model.CollectionID(x.Collection), State: d.word(x.Status),
		Reason: d.word(x.Reason),
		Report: &model.TaskReport{
			State: d.word(x.Status), Source: d.text(head[:dash]), Priority: d.word(x.Priority),
			Replica: model.ReplicaID(x.Replica),
		},
	}
	for _, action := range x.Actions {
		t.Report.Actions = append(t.Report.Actions, d.word(action))
	}
	switch kind := head[dash+1:]; kind {
	case "Segment":
		t.Type, t.Segments = "segment-task", numberOf(about).segment()
	case "Channel":
		t.Type, t.VChannel = "channel-task", d.text(about)
	case "LeaderSegment", "LeaderPartitionStats":
		t.Type, t.Segments = "leader-task", d.leaderSegments(t.Report.Actions)
	default:
		t.Type = d.text(strings.ToLower(kind) + "-task")
	}
	if n := len(t.Report.Actions); n > 0 {
		step := int(min(max(x.Step, 0), looseNumber(n)))
		t.Node = numberOf(wordAfter(t.Report.Actions[min(step, n-1)], "node id:")).node()
		t.Progress = fmt.Sprintf("%d of %d steps", step, n)
	}
	return t
}

// leaderSegments returns the segment in the actions of a leader task. A task for partition stats names segment
// 0.
func (d *Decoder) leaderSegments(actions []string) []model.SegmentID {
	for _, action := range actions {
		if list := numberOf(wordAfter(action, "segment id:")).segment(); list != nil {
			return list
		}
	}
	return nil
}

// wordAfter returns the word after sign, up to a comma or a space.
func wordAfter(text, sign string) string {
	_, after, _ := strings.Cut(text, sign)
	after = strings.TrimLeft(after, " ")
	if end := strings.IndexAny(after, ", "); end >= 0 {
		after = after[:end]
	}
	return after
}

package live

import (
	"fmt"
	"strconv"
	"strings"

	"kitescope/inspect/model"
)

// queryTask reads a task of QueryCoord. Its name says what it is about: segment_checker-SegmentTask[12]-4705, with the segment,
// channel_checker-ChannelTask[13]-by-dev-rootcoord-dml_0_4700v0, with the channel, leader_checker-LeaderSegmentTask[14]-7, with the
// leader's node (milvus internal/querycoordv2/task/task.go: Name). Its actions name nodes (action.go: Desc).
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
		ID: id, SubType: d.word(x.Type), Collection: model.CollectionID(x.Collection), State: d.word(x.Status), Reason: d.word(x.Reason),
		Told: &model.ToldTask{State: d.word(x.Status), Source: d.text(head[:dash]), Priority: d.word(x.Priority), Replica: model.ReplicaID(x.Replica)},
	}
	for _, action := range x.Actions {
		t.Told.Actions = append(t.Told.Actions, d.word(action))
	}
	switch kind := head[dash+1:]; kind {
	case "Segment":
		t.Type, t.Segments = "segment-task", numberOf(about).segment()
	case "Channel":
		t.Type, t.VChannel = "channel-task", d.text(about)
	case "LeaderSegment", "LeaderPartitionStats":
		t.Type, t.Segments = "leader-task", d.leaderSegments(t.Told.Actions)
	default:
		t.Type = d.text(strings.ToLower(kind) + "-task")
	}
	if n := len(t.Told.Actions); n > 0 {
		step := int(min(max(x.Step, 0), looseNumber(n)))
		t.Node = numberOf(wordAfter(t.Told.Actions[min(step, n-1)], "node id:")).node()
		t.Progress = fmt.Sprintf("%d of %d steps", step, n)
	}
	return t
}

// leaderSegments is the segment that the actions of a leader's task name; a task about partition stats names 0.
func (d *Decoder) leaderSegments(actions []string) []model.SegmentID {
	for _, action := range actions {
		if list := numberOf(wordAfter(action, "segment id:")).segment(); list != nil {
			return list
		}
	}
	return nil
}

// wordAfter is the word that comes after a sign, up to a comma or a space.
func wordAfter(text, sign string) string {
	_, after, _ := strings.Cut(text, sign)
	after = strings.TrimLeft(after, " ")
	if end := strings.IndexAny(after, ", "); end >= 0 {
		after = after[:end]
	}
	return after
}

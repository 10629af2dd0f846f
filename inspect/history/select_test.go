package history_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/milvus-io/milvus-proto/go-api/v3/commonpb"
	"github.com/milvus-io/milvus/pkg/v3/proto/indexpb"

	"kitescope/inspect/history"
)

func TestSelect(t *testing.T) {
	s := begin(t)
	write := func(key, v string) { s.write(put(t, key, v)) }
	write("session/querynode-4", `{"ServerID":4,"ServerName":"querynode","Version":"2.3.5"}`) // 101
	s.advance(30 * time.Second)                                                               // to 111
	s.write(put(t, "datacoord-meta/s/7/70/2", segment(2, 2, 0)))                              // 112
	write("channelwatch/8/"+channel, "\x18\x02")                                              // 113
	write("channelwatch/8/"+channel, "\x18\x00")
	s.advance(30 * time.Second) // to 124
	write("channelwatch/8/"+channel, "\x18\x02")
	// 126
	s.write(put(t, "segment-index/7/70/2/5", &indexpb.SegmentIndex{
		SegmentID: 2, BuildID: 5, State: commonpb.IndexState_Finished,
	}))
	s.advance(3 * time.Second)
	h := s.reader.Finish()
	at := func(i int) time.Time { return h.Event(i).Time }
	for name, c := range map[string]struct {
		wanted history.Filter
		want   []int
	}{
		"all":        {history.Filter{}, []int{0, 1, 2, 3, 4}},
		"a resource": {history.Filter{Objects: []history.Selector{{Resource: "nodes"}}}, []int{0}},
		"an object": {
			history.Filter{Objects: []history.Selector{{Resource: "nodes", Name: "querynode-*"}}}, []int{0},
		},
		"another one": {
			history.Filter{Objects: []history.Selector{{Resource: "nodes", Name: "querynode"}}}, nil,
		},
		"a collection": {
			history.Filter{Objects: []history.Selector{{Resource: "collections", Name: "7"}}}, []int{1, 2, 3, 4},
		},
		"its id alone": {history.Filter{Objects: []history.Selector{{Name: "7"}}}, []int{1, 2, 3, 4}},
		"a segment": {
			history.Filter{Objects: []history.Selector{{Resource: "segments", Name: "2"}}}, []int{1, 4},
		},
		"any of two": {
			history.Filter{Objects: []history.Selector{{Resource: "nodes"}, {Name: "2"}}}, []int{0, 1},
		},
		"a name":                  {history.Filter{Objects: []history.Selector{{Name: "by-*_7v0"}}}, []int{2, 3}},
		"since":                   {history.Filter{Since: at(1)}, []int{1, 2, 3, 4}},
		"since a group went on":   {history.Filter{Since: h.Event(3).LastTime}, []int{3, 4}},
		"until":                   {history.Filter{Until: at(1)}, []int{0, 1, 2, 3}},
		"since a revision":        {history.Filter{SinceRevision: 125}, []int{3, 4}},
		"until a revision":        {history.Filter{UntilRevision: 112}, []int{0, 1}},
		"between":                 {history.Filter{SinceRevision: 102, UntilRevision: 113}, []int{1, 2}},
		"of a time without news":  {history.Filter{Since: at(4).Add(time.Minute)}, nil},
		"until the error reaches": {history.Filter{Until: at(1).Add(-time.Second)}, []int{0, 1, 2, 3}},
	} {
		if diff := cmp.Diff(c.want, h.Select(c.wanted)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

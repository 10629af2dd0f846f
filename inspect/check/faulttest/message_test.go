package faulttest

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/milvus-io/milvus-proto/go-api/v3/commonpb"
	"github.com/milvus-io/milvus-proto/go-api/v3/milvuspb"
	"github.com/milvus-io/milvus-proto/go-api/v3/msgpb"
	"github.com/milvus-io/milvus/pkg/v3/proto/datapb"
	"github.com/milvus-io/milvus/pkg/v3/proto/querypb"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"

	"kitescope/inspect/model"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func TestChangeEditsMessages(t *testing.T) {
	halfPast := uint64(model.TSOFromTime(noon.Add(-30 * time.Minute)))
	cases := map[string]struct {
		before  proto.Message
		changes []string
		after   proto.Message
	}{
		"scalars, an enum and a time inside a message": {
			&datapb.SegmentInfo{ID: 1, State: commonpb.SegmentState_Growing},
			[]string{
				"state=Flushed", "num_of_rows=17", "insert_channel=dml_0", "dml_position.timestamp=now-30m",
				"dropped_at=nanos(now)", "is_sorted=true",
			},
			&datapb.SegmentInfo{
				ID: 1, State: commonpb.SegmentState_Flushed, NumOfRows: 17, InsertChannel: "dml_0", IsSorted: true,
				DmlPosition: &msgpb.MsgPosition{Timestamp: halfPast}, DroppedAt: uint64(noon.UnixNano()),
			},
		},
		"elements of a list by number, by field and all": {
			&datapb.FieldBinlog{Binlogs: []*datapb.Binlog{{LogID: 1}, {LogID: 2}, {LogID: 3}}},
			[]string{
				"binlogs[logID=2].log_size=5", "-binlogs[0]", "binlogs[*].entries_num=9",
				"binlogs+=logID: 4 timestamp_to: now-30m",
			},
			&datapb.FieldBinlog{Binlogs: []*datapb.Binlog{
				{LogID: 2, LogSize: 5, EntriesNum: 9}, {LogID: 3, EntriesNum: 9}, {LogID: 4, TimestampTo: halfPast},
			}},
		},
		"lists of numbers": {
			&querypb.Replica{Nodes: []int64{1, 2, 3}, RoNodes: []int64{7}},
			[]string{"nodes=[4,5]", "nodes+=6", "-nodes[value=5]", "-ro_nodes"},
			&querypb.Replica{Nodes: []int64{4, 6}},
		},
		"maps": {
			&querypb.LeaderView{
				GrowingSegments: map[int64]*msgpb.MsgPosition{1: {}},
				SegmentDist:     map[int64]*querypb.SegmentDist{8: {NodeID: 1}},
			},
			[]string{"-growing_segments[1]", "growing_segments[2]=timestamp: now-30m", "segment_dist[8].nodeID=3"},
			&querypb.LeaderView{
				GrowingSegments: map[int64]*msgpb.MsgPosition{2: {Timestamp: halfPast}},
				SegmentDist:     map[int64]*querypb.SegmentDist{8: {NodeID: 3}},
			},
		},
		"JSON inside a text field": {
			&milvuspb.GetMetricsResponse{
				Response: `{"name":"querynode4","hardware_infos":{"memory":25276510208,"ip":"a"}}`,
			},
			[]string{"response.hardware_infos.memory=17", "-response.hardware_infos.ip", "response.state=busy"},
			&milvuspb.GetMetricsResponse{
				Response: `{"hardware_infos":{"memory":17},"name":"querynode4","state":"busy"}`,
			},
		},
		"bytes as a Kafka offset": {
			&msgpb.MsgPosition{},
			[]string{"msgID=le64:258"},
			&msgpb.MsgPosition{MsgID: []byte{2, 1, 0, 0, 0, 0, 0, 0}},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			for _, text := range c.changes {
				change, err := parseChange(text)
				if err != nil {
					t.Fatal(err)
				}
				if err := change.apply(c.before.ProtoReflect(), noon); err != nil {
					t.Fatalf("%s: %v", text, err)
				}
			}
			if diff := cmp.Diff(c.after, c.before, protocmp.Transform()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestChangeMissingField(t *testing.T) {
	for _, text := range []string{
		"nonsense", "no_such_field=1", "state=NoSuchState", "num_of_rows=many", "-dml_position", "binlogs[0].fieldID=1",
		"-binlogs[fieldID=3]", "state.inner=1", "binlogs=[1]", "num_of_rows+=1",
		"dml_position.timestamp=now-fortnight", "binlogs[0=1",
	} {
		m := &datapb.SegmentInfo{ID: 1}
		change, err := parseChange(text)
		if err == nil {
			err = change.apply(m.ProtoReflect(), noon)
		}
		if err == nil {
			t.Errorf("%s is accepted", text)
		}
	}
}

func TestSplitKeepsQuotedText(t *testing.T) {
	got, err := split("want segments/1 \"two words\"  a[b=c]+=`ID: 1 name: \"x\"` end")
	want := []word{
		{text: "want"}, {text: "segments/1"}, {"two words", true}, {text: "a[b=c]+=ID: 1 name: \"x\""}, {text: "end"},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(word{})); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if _, err := split(`an "open quote`); err == nil {
		t.Error("an open quote is accepted")
	}
}

func TestParseCaseErrors(t *testing.T) {
	for name, text := range map[string]string{
		"no comment":                     "kind: healthy\nbase: x\n",
		"no base":                        "# A.\nkind: healthy\n",
		"unknown kind":                   "# A.\nkind: odd\nbase: x\n",
		"unknown section":                "# A.\nkind: healthy\nbase: x\nwish: y\n",
		"fault without top":              "# A.\nkind: fault\nbase: x\nwant:\n  a warning\nnot:\n  warning\n",
		"fault that allows others":       "# A.\nkind: fault\nbase: x\nwant:\n  a warning top\n",
		"because without a check":        "# A.\nkind: fault\nbase: x\nwant:\n  a top because\nnot:\n  warning\n",
		"near miss that forbids nothing": "# A.\nkind: near miss\nbase: x\n",
		"healthy with findings":          "# A.\nkind: healthy\nbase: x\nwant:\n  a warning\n",
		"blind and nothing unknown":      "# A.\nkind: blind\nbase: x\n",
		"words without quotes":           "# A.\nkind: fault\nbase: x\nwant:\n  a warning top words\nnot:\n  warning\n",
	} {
		if c, err := ParseCase("case", text); err == nil {
			t.Errorf("%s: accepted as %+v", name, c)
		}
	}
}

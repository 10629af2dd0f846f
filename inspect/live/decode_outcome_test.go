package live_test

import (
	"testing"

	"github.com/milvus-io/milvus-proto/go-api/v3/commonpb"
	"github.com/milvus-io/milvus-proto/go-api/v3/milvuspb"
	"github.com/milvus-io/milvus/pkg/v3/proto/internalpb"
	"github.com/milvus-io/milvus/pkg/v3/proto/querypb"

	"kitescope/inspect/live"
	"kitescope/inspect/model"
)

func TestEmbeddedStatus(t *testing.T) {
	distribution := inQueryNode + "GetDataDistribution"
	none := &querypb.GetDataDistributionResponse{}
	with := func(s *commonpb.Status) *querypb.GetDataDistributionResponse {
		return &querypb.GetDataDistributionResponse{Status: s, NodeID: 5}
	}
	garbage := live.Record{
		Role: "querynode", Node: 5, Method: distribution, Outcome: "answered",
		Response: []byte("HTTP/1.1 400 Bad Request"),
	}
	unknown := answered(t, "querynode-5", distribution, nil, none)
	unknown.Response = varint(33, 5)
	nobody := answered(t, "querynode-5", distribution, nil,
		&querypb.GetDataDistributionResponse{Segments: []*querypb.SegmentVersionInfo{{ID: 7}}})
	delta := with(ok)
	delta.ProtoReflect().SetUnknown(varint(9, 1))
	for name, test := range map[string]struct {
		record live.Record
		want   model.Outcome
		reason string
	}{
		"success": {answered(t, "querynode-5", distribution, nil, with(ok)), model.Answered, ""},
		"node id mismatch": {
			answered(t, "querynode-5", distribution, nil,
				with(&commonpb.Status{
					ErrorCode: 50, Code: 904, Reason: "node not match[expectedNodeID=9][actualNodeID=5]",
				})),
			model.Stale, "another process has this address now: node not match[expectedNodeID=9][actualNodeID=5]",
		},
		"mismatch, old code": {
			answered(t, "querynode-5", distribution, nil,
				with(&commonpb.Status{ErrorCode: commonpb.ErrorCode_NodeIDNotMatch})),
			model.Stale, "another process has this address now: NodeIDNotMatch",
		},
		"another node's id": {
			answered(t, "querynode-5", distribution, nil, &querypb.GetDataDistributionResponse{Status: ok, NodeID: 9}),
			model.Stale, "querynode-9 responds at the address of querynode-5",
		},
		"other cluster": {
			answered(t, "querynode-5", distribution, nil,
				with(&commonpb.Status{
					ErrorCode: 1, Reason: "cross cluster routing[expectedCluster=a][actualCluster=b]",
				})),
			model.OtherCluster,
			"a process of cluster \"a\" has this address: cross cluster routing[expectedCluster=a][actualCluster=b]",
		},
		"not ready": {
			answered(t, "querynode-5", distribution, nil,
				with(&commonpb.Status{Code: 1, Reason: "service not ready[querynode=5]: Initializing"})),
			model.NotReady, "service not ready[querynode=5]: Initializing",
		},
		"not healthy, before 2.3": {
			answered(t, "querynode-5", distribution, nil,
				with(&commonpb.Status{ErrorCode: 1, Reason: "query node 5 is not healthy"})),
			model.NotReady, "query node 5 is not healthy",
		},
		"own error": {
			answered(t, "querynode-5", distribution, nil, with(&commonpb.Status{Code: 65535, Reason: "disk on fire"})),
			model.Failed, "disk on fire",
		},
		"garbage": {garbage, model.Garbled, "the answer is not a GetDataDistributionResponse"},
		"empty": {
			answered(t, "querynode-5", distribution, nil, none), model.Garbled,
			"the answer has no status: not an answer to this call",
		},
		"another message": {unknown, model.Garbled, "the answer has no status: not an answer to this call"},
		"of nobody": {
			nobody, model.Garbled, "the answer has no status and no node id: not an answer to this call",
		},
		"a part": {
			answered(t, "querynode-5", distribution, nil, delta), model.Garbled,
			"the answer has only the changes since another request",
		},
	} {
		n := decode(test.record).LiveNode("querynode", 5)
		if n.Outcome != test.want || n.Reason != test.reason || len(n.Calls) != 1 || n.Calls[0].Outcome != test.want ||
			n.Calls[0].Method != "GetDataDistribution" {
			t.Errorf("%s: %s %q, calls %+v", name, n.Outcome, n.Reason, n.Calls)
		}
		if (n.Distribution != nil) != (test.want == model.Answered) {
			t.Errorf("%s: distribution %+v", name, n.Distribution)
		}
	}
}

// TestErrorsOfRecordings checks the outcomes for error texts of gRPC libraries in recordings by other programs.
func TestErrorsOfRecordings(t *testing.T) {
	for text, want := range map[string]model.Outcome{
		"UNIMPLEMENTED: unknown method GetMetrics":                                                 model.Unimplemented,
		"UNAVAILABLE: failed to connect to all addresses; last error: UNKNOWN: Connection refused": model.Refused,
		"UNAVAILABLE: DNS resolution failed":                                                       model.Unreachable,
		"UNAVAILABLE: Socket closed":                                                               model.CutOff,
		"UNAVAILABLE: authentication handshake failed: tls: unknown certificate":                   model.Denied,
		"DEADLINE_EXCEEDED: Deadline Exceeded":                                                     model.TimedOut,
		"DEADLINE_EXCEEDED":                                                                        model.TimedOut,
		"DeadlineExceeded: context deadline exceeded":                                              model.TimedOut,
		"UNKNOWN: node not match[expectedNodeID=77][actualNodeID=1]":                               model.Stale,
		"UNKNOWN: cross cluster routing[expectedCluster=by-dev][actualCluster=nope]":               model.OtherCluster,
		"UNAUTHENTICATED: auth check failure":                                                      model.Denied,
		"PERMISSION_DENIED: no":                                                                    model.Denied,
		"RESOURCE_EXHAUSTED: Received message larger than max (5 vs. 4)":                           model.TooLarge,
		"RESOURCE_EXHAUSTED: rate limit":                                                           model.Failed,
		"CANCELLED: stream":                                                                        model.CutOff,
		"INTERNAL: Received RST_STREAM with error code 2":                                          model.CutOff,
		"UNKNOWN: querycoord is not ready":                                                         model.NotReady,
		"boom":                                                                                     model.Failed,
	} {
		n := decode(live.Record{
			Role: "proxy", Node: 3, Method: "/milvus.proto.proxy.Proxy/GetProxyMetrics", Error: text,
		}).LiveNode("proxy", 3)
		if n.Outcome != want || n.Reason == "" {
			t.Errorf("%q: %s %q, want %s", text, n.Outcome, n.Reason, want)
		}
	}
}

// TestOutcomeOfASession checks that responses of another process are dropped, and that one call that this
// version does not implement does not make the node unresponsive.
func TestOutcomeOfASession(t *testing.T) {
	state := answered(t, "querynode-5", inQueryNode+"GetComponentStates", nil, &milvuspb.ComponentStates{
		Status: ok, State: &milvuspb.ComponentInfo{StateCode: commonpb.StateCode_Healthy},
	})
	config := answered(t, "querynode-5", inQueryNode+"ShowConfigurations", nil, &internalpb.ShowConfigurationsResponse{
		Status: ok, Configuations: []*commonpb.KeyValuePair{{Key: "querynode.port", Value: "1"}},
	})
	mismatch := answered(t, "querynode-5", inQueryNode+"GetDataDistribution", nil,
		&querypb.GetDataDistributionResponse{Status: &commonpb.Status{Code: 904, Reason: "node not match"}})
	failed := func(method, outcome string) live.Record {
		return live.Record{Role: "querynode", Node: 5, Method: inQueryNode + method, Outcome: outcome, Error: outcome}
	}
	for name, test := range map[string]struct {
		records []live.Record
		want    model.Outcome
		known   bool
	}{
		"stale": {[]live.Record{state, config, mismatch}, model.Stale, false},
		"partly": {
			[]live.Record{
				failed("GetDataDistribution", "timed out"), state, config, failed("GetMetrics", "unimplemented"),
			},
			model.Answered, true,
		},
		"mute": {
			[]live.Record{failed("GetMetrics", "unimplemented"), failed("GetComponentStates", "refused")},
			model.Refused, false,
		},
		"of another version": {[]live.Record{failed("GetMetrics", "unimplemented")}, model.Unimplemented, false},
		"left out":           {[]live.Record{failed("GetMetrics", "not asked")}, model.NotAsked, false},
	} {
		n := decode(test.records...).LiveNode("querynode", 5)
		if n.Outcome != test.want || (n.Config != nil) != test.known || (n.State != "") != test.known ||
			n.Reason == "" != (test.want == model.Answered) {
			t.Errorf("%s: %+v", name, n)
		}
	}
}

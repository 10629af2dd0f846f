package live

import (
	"sync/atomic"

	"github.com/milvus-io/milvus-proto/go-api/v3/commonpb"
	"github.com/milvus-io/milvus-proto/go-api/v3/milvuspb"
	"github.com/milvus-io/milvus/pkg/v3/proto/datapb"
	"github.com/milvus-io/milvus/pkg/v3/proto/internalpb"
	"github.com/milvus-io/milvus/pkg/v3/proto/querypb"
	"google.golang.org/protobuf/proto"

	"kitescope/inspect/model"
)

// The full names of the gRPC services.
const (
	rootCoord     = "/milvus.proto.rootcoord.RootCoord/"
	dataCoord     = "/milvus.proto.data.DataCoord/"
	queryCoord    = "/milvus.proto.query.QueryCoord/"
	indexCoord    = "/milvus.proto.index.IndexCoord/"
	queryNode     = "/milvus.proto.query.QueryNode/"
	dataNode      = "/milvus.proto.data.DataNode/"
	indexNode     = "/milvus.proto.index.IndexNode/"
	proxyService  = "/milvus.proto.proxy.Proxy/"
	streamingNode = "/milvus.proto.streaming.StreamingNodeStateService/"
)

// inquiry is one gRPC call to one session. Every method named in this file only reads; a test checks the list.
type inquiry struct {
	method string
	// others are alternative names of the method in other versions.
	others  []string
	request []byte
	// segments are the ids in a GetSegmentInfo request, which fails as a whole if a segment is gone.
	segments []model.SegmentID
	// splits is how many times the request may still be split in two.
	splits *atomic.Int32
}

const systemInfo = `{"metric_type":"system_info"}`

// inquiries returns the calls to make to a session, the most informative first.
func (p *plan) inquiries(s *model.Session) []inquiry {
	q := &asker{plan: p, base: base(s), version: s.Version}
	switch s.Role {
	case "rootcoord":
		q.common(rootCoord)
	case "datacoord":
		q.common(dataCoord)
		if !s.Standby {
			q.dataCoord()
		}
	case "querycoord":
		q.common(queryCoord)
		if !s.Standby {
			q.queryCoord()
		}
	case "indexcoord":
		q.common(indexCoord)
	case "mixcoord":
		q.mixCoord(s.Standby)
	case "querynode":
		q.common(queryNode)
		q.add(queryNode+"GetDataDistribution", &querypb.GetDataDistributionRequest{Base: q.base})
	case "datanode":
		q.common(dataNode)
	case "indexnode":
		q.common(indexNode)
	case "streamingnode":
		// Its other data comes from the query node inside it, which has its own session.
		q.state(streamingNode)
	case "proxy":
		q.state(proxyService)
		q.metrics(proxyService + "GetProxyMetrics")
	}
	return q.list
}

func base(s *model.Session) *commonpb.MsgBase { return &commonpb.MsgBase{TargetID: int64(s.Node)} }

// asker collects the inquiries to one session.
type asker struct {
	*plan
	base    *commonpb.MsgBase
	version string
	list    []inquiry
}

func (q *asker) add(method string, request proto.Message, others ...string) {
	b, err := proto.MarshalOptions{Deterministic: true}.Marshal(request)
	if err != nil {
		panic(err) // newPlan refuses names that are not UTF-8; nothing else can fail
	}
	q.list = append(q.list, inquiry{method: method, request: b, others: others})
}

func (q *asker) state(service string) {
	q.add(service+"GetComponentStates", &milvuspb.GetComponentStatesRequest{})
}

func (q *asker) config(service string) {
	q.add(service+"ShowConfigurations", &internalpb.ShowConfigurationsRequest{Base: q.base})
}

func (q *asker) metrics(method string) {
	q.add(method, &milvuspb.GetMetricsRequest{Base: q.base, Request: systemInfo})
}

func (q *asker) common(service string) {
	q.state(service)
	q.config(service)
	q.metrics(service + "GetMetrics")
}

// mixCoord adds the calls to one process with the services of all coordinators (2.6). It reports its state as
// RootCoord only; its response to ShowConfigurations is the same for every service
// (internal/coordinator/mix_coord.go).
func (q *asker) mixCoord(standby bool) {
	q.common(rootCoord)
	q.metrics(queryCoord + "GetMetrics")
	q.metrics(dataCoord + "GetMetrics")
	if standby {
		return // a standby coordinates nothing and refuses every such call
	}
	q.dataCoord()
	q.queryCoord()
}

func (q *asker) dataCoord() {
	for _, id := range q.loaded {
		q.add(dataCoord+"GetRecoveryInfoV2", &datapb.GetRecoveryInfoRequestV2{Base: q.base, CollectionID: int64(id)})
	}
	for from := 0; from < len(q.segments); from += segmentBatch {
		q.list = append(q.list, q.segmentInfo(q.segments[from:min(from+segmentBatch, len(q.segments))]))
	}
}

// segmentBatch is the maximum number of segments in one GetSegmentInfo request.
const segmentBatch = 500

// segmentInfo returns a request to DataCoord for segments as it holds them in memory, because the row counts of
// growing segments reach etcd only after their first sync.
func (q *asker) segmentInfo(ids []model.SegmentID) inquiry {
	return segmentInquiry(q.base, ids)
}

func segmentInquiry(base *commonpb.MsgBase, ids []model.SegmentID) inquiry {
	request := &datapb.GetSegmentInfoRequest{Base: base, IncludeUnHealthy: true}
	for _, id := range ids {
		request.SegmentIDs = append(request.SegmentIDs, int64(id))
	}
	b, err := proto.Marshal(request)
	if err != nil {
		panic(err) // it holds only numbers
	}
	return inquiry{method: dataCoord + "GetSegmentInfo", request: b, segments: ids}
}

// maxSplits bounds the splits of a batch: enough to find a few segments that are gone.
const maxSplits = 64

// halves splits a request for segments in two, because one segment that is gone fails the whole request
// (internal/datacoord/services.go: GetSegmentInfo). It returns nil if there is at most one segment or the
// splits are used up.
func (q *inquiry) halves(node model.NodeID) []inquiry {
	if q.splits == nil {
		q.splits = new(atomic.Int32)
		q.splits.Store(maxSplits)
	}
	if len(q.segments) < 2 || q.splits.Add(-1) < 0 {
		return nil
	}
	base, middle := &commonpb.MsgBase{TargetID: int64(node)}, len(q.segments)/2
	halves := []inquiry{segmentInquiry(base, q.segments[:middle]), segmentInquiry(base, q.segments[middle:])}
	halves[0].splits, halves[1].splits = q.splits, q.splits
	return halves
}

func (q *asker) queryCoord() {
	show := []string{queryCoord + "ShowCollections", queryCoord + "ShowLoadCollections"}
	if model.VersionAtLeast(q.version, 2, 6) {
		show[0], show[1] = show[1], show[0]
	}
	q.add(show[0], &querypb.ShowCollectionsRequest{Base: q.base}, show[1])
	q.add(queryCoord+"ListResourceGroups", &milvuspb.ListResourceGroupsRequest{Base: q.base})
	for _, name := range q.groups {
		q.add(queryCoord+"DescribeResourceGroup", &querypb.DescribeResourceGroupRequest{
			Base: q.base, ResourceGroup: name,
		})
	}
	// These calls return the data of the read-only HTTP management routes (internal/http/router.go:
	// balance/status, node/list, distribution/get, since 2.5). gRPC needs no HTTP port, which may be unknown.
	if model.VersionAtLeast(q.version, 2, 4) {
		q.add(queryCoord+"ListCheckers", &querypb.ListCheckersRequest{Base: q.base})
	}
	if model.VersionAtLeast(q.version, 2, 5) {
		q.add(queryCoord+"CheckBalanceStatus", &querypb.CheckBalanceStatusRequest{Base: q.base})
		q.add(queryCoord+"ListQueryNode", &querypb.ListQueryNodeRequest{Base: q.base})
	}
	for _, id := range q.loaded {
		q.add(queryCoord+"GetReplicas", &milvuspb.GetReplicasRequest{
			Base: q.base, CollectionID: int64(id), WithShardNodes: true,
		})
		q.add(queryCoord+"GetShardLeaders", &querypb.GetShardLeadersRequest{Base: q.base, CollectionID: int64(id)})
	}
}

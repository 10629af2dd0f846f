package live

import (
	"strconv"
	"strings"

	"github.com/milvus-io/milvus-proto/go-api/v3/commonpb"
	"github.com/milvus-io/milvus-proto/go-api/v3/milvuspb"
	"github.com/milvus-io/milvus/pkg/v3/proto/datapb"
	"github.com/milvus-io/milvus/pkg/v3/proto/internalpb"
	"github.com/milvus-io/milvus/pkg/v3/proto/querypb"
	"google.golang.org/protobuf/proto"

	"kitescope/inspect/model"
)

// answer says how the answer to one gRPC method is read.
type answer struct {
	request, response func() proto.Message
	// about reads from the request what was asked about; nil if that is always the same.
	about func(*question, proto.Message)
	// take keeps what the answer says. Its error means that the answer is none.
	take func(*Decoder, *question, proto.Message) error
	// none are the codes of a status that say "there is none", which is an answer.
	none []int32
}

// message makes a constructor of a message type.
func message[M any, P interface {
	*M
	proto.Message
}]() proto.Message {
	return P(new(M))
}

// Codes of a status (milvus pkg/util/merr/errors.go).
const (
	codeNotReady           = 1
	codeUnavailable        = 2
	codeOtherCluster       = 6
	codeUnimplemented      = 10
	codeCollectionMissing  = 100
	codeCollectionUnloaded = 101
	codeReplicaMissing     = 400
	codeReplicaUnavailable = 401
	codeChannelMissing     = 500
	codeChannelLack        = 501
	codeChannelUnavailable = 503
	codeNodeNotMatch       = 904
	codeNodeUnavailable    = 905
	codeNotAuthenticated   = 1400
	codeNotPermitted       = 1401
)

// answerTo finds how to read the answer to a method. The services are told apart where a
// name occurs in several.
func answerTo(method string) (answer, bool) {
	service, name, _ := strings.Cut(strings.TrimPrefix(method, "/"), "/")
	service = service[strings.LastIndexByte(service, '.')+1:]
	switch name {
	case "GetComponentStates":
		return answer{request: message[milvuspb.GetComponentStatesRequest], response: message[milvuspb.ComponentStates], take: (*Decoder).takeState}, true
	case "ShowConfigurations":
		return answer{request: message[internalpb.ShowConfigurationsRequest], response: message[internalpb.ShowConfigurationsResponse], take: (*Decoder).takeConfig}, true
	case "GetMetrics", "GetProxyMetrics":
		return answer{
			request: message[milvuspb.GetMetricsRequest], response: message[milvuspb.GetMetricsResponse],
			about: aboutMetrics, take: (*Decoder).takeSystem,
		}, true
	case "GetDataDistribution":
		return answer{request: message[querypb.GetDataDistributionRequest], response: message[querypb.GetDataDistributionResponse], take: (*Decoder).takeDistribution}, true
	}
	switch service {
	case "QueryCoord":
		return queryCoordAnswer(name)
	case "DataCoord":
		return dataCoordAnswer(name)
	}
	return answer{}, false
}

func queryCoordAnswer(name string) (answer, bool) {
	switch name {
	case "GetReplicas":
		return answer{
			request: message[milvuspb.GetReplicasRequest], response: message[milvuspb.GetReplicasResponse],
			about: aboutCollection, take: (*Decoder).takeReplicas, none: []int32{codeCollectionMissing, codeCollectionUnloaded, codeReplicaMissing},
		}, true
	case "GetShardLeaders":
		return answer{
			request: message[querypb.GetShardLeadersRequest], response: message[querypb.GetShardLeadersResponse],
			about: aboutCollection, take: (*Decoder).takeShardLeaders, none: []int32{codeCollectionMissing, codeCollectionUnloaded},
		}, true
	case "ShowCollections", "ShowLoadCollections":
		return answer{request: message[querypb.ShowCollectionsRequest], response: message[querypb.ShowCollectionsResponse], take: (*Decoder).takeLoaded}, true
	case "ListResourceGroups":
		return answer{request: message[milvuspb.ListResourceGroupsRequest], response: message[milvuspb.ListResourceGroupsResponse], take: (*Decoder).takeGroupNames}, true
	case "DescribeResourceGroup":
		return answer{
			request: message[querypb.DescribeResourceGroupRequest], response: message[querypb.DescribeResourceGroupResponse],
			about: aboutGroup, take: (*Decoder).takeGroup,
		}, true
	case "CheckBalanceStatus":
		return answer{request: message[querypb.CheckBalanceStatusRequest], response: message[querypb.CheckBalanceStatusResponse], take: (*Decoder).takeBalance}, true
	case "ListQueryNode":
		return answer{request: message[querypb.ListQueryNodeRequest], response: message[querypb.ListQueryNodeResponse], take: (*Decoder).takeQueryNodes}, true
	case "ListCheckers":
		return answer{request: message[querypb.ListCheckersRequest], response: message[querypb.ListCheckersResponse], take: (*Decoder).takeCheckers}, true
	}
	return answer{}, false
}

func dataCoordAnswer(name string) (answer, bool) {
	switch name {
	case "GetRecoveryInfoV2":
		return answer{
			request: message[datapb.GetRecoveryInfoRequestV2], response: message[datapb.GetRecoveryInfoResponseV2],
			about: aboutCollection, take: (*Decoder).takeRecovery, none: []int32{codeCollectionMissing},
		}, true
	case "GetSegmentInfo":
		return answer{
			request: message[datapb.GetSegmentInfoRequest], response: message[datapb.GetSegmentInfoResponse],
			about: aboutSegments, take: (*Decoder).takeDataSegments,
		}, true
	}
	return answer{}, false
}

func aboutCollection(q *question, m proto.Message) {
	if r, ok := m.(interface{ GetCollectionID() int64 }); ok {
		q.collection = model.CollectionID(r.GetCollectionID())
		q.about = q.collection.String()
	}
}

func aboutGroup(q *question, m proto.Message) {
	q.about = m.(*querypb.DescribeResourceGroupRequest).GetResourceGroup()
}

func aboutSegments(q *question, m proto.Message) {
	ids := m.(*datapb.GetSegmentInfoRequest).GetSegmentIDs()
	if len(ids) == 0 {
		return
	}
	q.about = model.SegmentID(ids[0]).String()
	if len(ids) > 1 {
		q.about += " and " + strconv.Itoa(len(ids)-1) + " more"
	}
}

// readStatus looks at what the process itself says of its answer: the new code and the
// old one, which versions before 2.3 alone send. It reports whether to read on.
func (d *Decoder) readStatus(q *question, a answer, m proto.Message) bool {
	holder, ok := m.(interface{ GetStatus() *commonpb.Status })
	if !ok {
		return true
	}
	s := holder.GetStatus()
	if s == nil {
		// Every version sends a status, if an empty one.
		if len(q.Response) == 0 || len(m.ProtoReflect().GetUnknown()) > 0 {
			q.set(model.Garbled, "the answer has no status: not an answer to this call")
			return false
		}
		return true
	}
	if s.GetCode() == 0 && s.GetErrorCode() == commonpb.ErrorCode_Success {
		return true
	}
	for _, code := range a.none {
		if s.GetCode() == code || code == codeCollectionMissing && s.GetCode() == 0 && s.GetErrorCode() == commonpb.ErrorCode_CollectionNotExists {
			return true
		}
	}
	reason := s.GetReason()
	if reason == "" {
		reason = s.GetErrorCode().String()
	}
	outcome := statusOutcome(s)
	reason = reason[:min(len(reason), maxProse+1)] // no more of it is shown
	q.set(outcome, explained(outcome, reason))
	if outcome == model.Failed && strings.HasSuffix(q.Method, "/GetShardLeaders") {
		d.leaderProblem(q, s)
	}
	return false
}

// statusOutcome is the outcome that a failed status stands for.
func statusOutcome(s *commonpb.Status) model.Outcome {
	switch s.GetCode() {
	case codeNodeNotMatch:
		return model.Stale
	case codeOtherCluster:
		return model.OtherCluster
	case codeNotReady, codeUnavailable:
		return model.NotReady
	case codeUnimplemented:
		return model.Unimplemented
	case codeNotAuthenticated, codeNotPermitted:
		return model.Denied
	}
	switch s.GetErrorCode() {
	case commonpb.ErrorCode_NodeIDNotMatch:
		return model.Stale
	case commonpb.ErrorCode_NotReadyServe, commonpb.ErrorCode_NotReadyCoordActivating:
		return model.NotReady
	case commonpb.ErrorCode_PermissionDenied:
		return model.Denied
	default:
		return textOutcome(s.GetReason())
	}
}

// textOutcome recognizes what is known of Milvus's own words; all else is an error of
// the process.
func textOutcome(text string) model.Outcome {
	if f := milvusFailure(text); f != nil {
		return f.outcome
	}
	// Before 2.3 the words are all there is: "querycoord is not healthy", "state code is not healthy".
	if strings.Contains(text, unknownMetric) {
		return model.Unimplemented
	}
	for _, sign := range []string{"not healthy", "not ready", "is not serving", "StandBy"} {
		if strings.Contains(text, sign) {
			return model.NotReady
		}
	}
	return model.Failed
}

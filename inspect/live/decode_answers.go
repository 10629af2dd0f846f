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

// answer defines how the response to one gRPC method is decoded.
type answer struct {
	request, response func() proto.Message
	// about reads the object from the request; nil if the request names none.
	about func(*question, proto.Message)
	// take stores the response. It returns an error if the response is invalid.
	take func(*Decoder, *question, proto.Message) error
	// none are the status codes for "does not exist", which count as a valid response.
	none []int32
}

// message is a pointer to a message type.
type message[M any] interface {
	*M
	proto.Message
}

// answerAs returns the answer of a method with requests of type Q, whose responses take stores.
func answerAs[Q, A any, PQ message[Q], PA message[A]](take func(*Decoder, *question, PA) error) answer {
	return answer{
		request: func() proto.Message { return PQ(new(Q)) }, response: func() proto.Message { return PA(new(A)) },
		take: func(d *Decoder, q *question, m proto.Message) error { return take(d, q, m.(PA)) },
	}
}

// of sets the function that reads the object from the request, and the codes for "does not exist".
func (a answer) of(about func(*question, proto.Message), none ...int32) answer {
	a.about, a.none = about, none
	return a
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

// answers maps methods to their decoders. The key includes the service if several services have the name.
var answers = map[string]answer{
	"GetComponentStates":  answerAs[milvuspb.GetComponentStatesRequest]((*Decoder).takeState),
	"ShowConfigurations":  answerAs[internalpb.ShowConfigurationsRequest]((*Decoder).takeConfig),
	"GetMetrics":          answerAs[milvuspb.GetMetricsRequest]((*Decoder).takeSystem).of(aboutMetrics),
	"GetProxyMetrics":     answerAs[milvuspb.GetMetricsRequest]((*Decoder).takeSystem).of(aboutMetrics),
	"GetDataDistribution": answerAs[querypb.GetDataDistributionRequest]((*Decoder).takeDistribution),

	"QueryCoord.GetReplicas": answerAs[milvuspb.GetReplicasRequest]((*Decoder).takeReplicas).
		of(aboutCollection, codeCollectionMissing, codeCollectionUnloaded, codeReplicaMissing),
	"QueryCoord.GetShardLeaders": answerAs[querypb.GetShardLeadersRequest]((*Decoder).takeShardLeaders).
		of(aboutCollection, codeCollectionMissing, codeCollectionUnloaded),
	"QueryCoord.ShowCollections":       answerAs[querypb.ShowCollectionsRequest]((*Decoder).takeLoaded),
	"QueryCoord.ShowLoadCollections":   answerAs[querypb.ShowCollectionsRequest]((*Decoder).takeLoaded),
	"QueryCoord.ListResourceGroups":    answerAs[milvuspb.ListResourceGroupsRequest]((*Decoder).takeGroupNames),
	"QueryCoord.DescribeResourceGroup": answerAs[querypb.DescribeResourceGroupRequest]((*Decoder).takeGroup).of(aboutGroup),
	"QueryCoord.CheckBalanceStatus":    answerAs[querypb.CheckBalanceStatusRequest]((*Decoder).takeBalance),
	"QueryCoord.ListQueryNode":         answerAs[querypb.ListQueryNodeRequest]((*Decoder).takeQueryNodes),
	"QueryCoord.ListCheckers":          answerAs[querypb.ListCheckersRequest]((*Decoder).takeCheckers),

	"DataCoord.GetRecoveryInfoV2": answerAs[datapb.GetRecoveryInfoRequestV2]((*Decoder).takeRecovery).of(aboutCollection, codeCollectionMissing),
	"DataCoord.GetSegmentInfo":    answerAs[datapb.GetSegmentInfoRequest]((*Decoder).takeDataSegments).of(aboutSegments),
}

// answerTo returns the decoder of a method, e.g. /milvus.proto.query.QueryCoord/GetReplicas.
func answerTo(method string) (answer, bool) {
	service, name, _ := strings.Cut(strings.TrimPrefix(method, "/"), "/")
	a, ok := answers[name]
	if !ok {
		a, ok = answers[service[strings.LastIndexByte(service, '.')+1:]+"."+name]
	}
	return a, ok
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

// readStatus reads the status inside a response: the new code and the old one, which is the only one before
// 2.3. It reports whether the rest of the response is to be decoded.
func (d *Decoder) readStatus(q *question, a answer, m proto.Message) bool {
	holder, ok := m.(interface{ GetStatus() *commonpb.Status })
	if !ok {
		return true
	}
	s := holder.GetStatus()
	if s == nil {
		// Every version sends a status, even if it is empty.
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
	reason = reason[:min(len(reason), maxProse+1)] // no more is displayed
	q.set(outcome, explained(outcome, reason))
	if outcome == model.Failed && strings.HasSuffix(q.Method, "/GetShardLeaders") {
		d.leaderProblem(q, s)
	}
	return false
}

// statusOutcome returns the outcome for a failed status.
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

// textOutcome returns the outcome for known error texts of Milvus, and Failed for all others.
func textOutcome(text string) model.Outcome {
	if f := milvusFailure(text); f != nil {
		return f.outcome
	}
	// Versions before 2.3 send only a text, e.g. "querycoord is not healthy" or "state code is not healthy".
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

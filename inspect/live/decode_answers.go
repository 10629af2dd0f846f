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

// message is the pointer to a type of messages.
type message[M any] interface {
	*M
	proto.Message
}

// answerAs is the answer to requests of a type, which take takes in.
func answerAs[Q, A any, PQ message[Q], PA message[A]](take func(*Decoder, *question, PA) error) answer {
	return answer{
		request: func() proto.Message { return PQ(new(Q)) }, response: func() proto.Message { return PA(new(A)) },
		take: func(d *Decoder, q *question, m proto.Message) error { return take(d, q, m.(PA)) },
	}
}

// of is an answer that is about what the request names.
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

// answers are how answers are read, by the method, with its service where the name occurs in several.
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

// answerTo finds how to read the answer to a method, such as /milvus.proto.query.QueryCoord/GetReplicas.
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

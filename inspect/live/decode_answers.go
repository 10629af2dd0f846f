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

// responseDecoder defines how the response to one gRPC method is decoded.
type responseDecoder struct {
	request, response func() proto.Message
	// readObject reads the object from the request; nil if the request names none.
	readObject func(*pendingRecord, proto.Message)
	// take stores the response. It returns an error if the response is invalid.
	take func(*Decoder, *pendingRecord, proto.Message) error
	// missingCodes are the status codes for "does not exist", which count as a valid response.
	missingCodes []int32
}

// message is a pointer to a message type.
type message[M any] interface {
	*M
	proto.Message
}

// decodeAs returns the answer of a method with requests of type Q, whose responses take stores.
func decodeAs[Q, A any, PQ message[Q], PA message[A]](take func(*Decoder, *pendingRecord, PA) error) responseDecoder {
	return responseDecoder{
		request: func() proto.Message { return PQ(new(Q)) }, response: func() proto.Message { return PA(new(A)) },
		take: func(d *Decoder, q *pendingRecord, m proto.Message) error { return take(d, q, m.(PA)) },
	}
}

// withObject sets the function that reads the object from the request, and the codes for "does not exist".
func (a responseDecoder) withObject(about func(*pendingRecord, proto.Message), none ...int32) responseDecoder {
	a.readObject, a.missingCodes = about, none
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

// responseDecoders maps methods to their decoders. The key includes the service if several services have the name.
var responseDecoders = map[string]responseDecoder{
	"GetComponentStates":  decodeAs[milvuspb.GetComponentStatesRequest]((*Decoder).takeState),
	"ShowConfigurations":  decodeAs[internalpb.ShowConfigurationsRequest]((*Decoder).takeConfig),
	"GetMetrics":          decodeAs[milvuspb.GetMetricsRequest]((*Decoder).takeSystem).withObject(readMetricType),
	"GetProxyMetrics":     decodeAs[milvuspb.GetMetricsRequest]((*Decoder).takeSystem).withObject(readMetricType),
	"GetDataDistribution": decodeAs[querypb.GetDataDistributionRequest]((*Decoder).takeDistribution),

	"QueryCoord.GetReplicas": decodeAs[milvuspb.GetReplicasRequest]((*Decoder).takeReplicas).
		withObject(readCollection, codeCollectionMissing, codeCollectionUnloaded, codeReplicaMissing),
	"QueryCoord.GetShardLeaders": decodeAs[querypb.GetShardLeadersRequest]((*Decoder).takeShardLeaders).
		withObject(readCollection, codeCollectionMissing, codeCollectionUnloaded),
	"QueryCoord.ShowCollections":     decodeAs[querypb.ShowCollectionsRequest]((*Decoder).takeLoaded),
	"QueryCoord.ShowLoadCollections": decodeAs[querypb.ShowCollectionsRequest]((*Decoder).takeLoaded),
	"QueryCoord.ListResourceGroups":  decodeAs[milvuspb.ListResourceGroupsRequest]((*Decoder).takeGroupNames),
	"QueryCoord.DescribeResourceGroup": decodeAs[querypb.DescribeResourceGroupRequest]((*Decoder).takeGroup).
		withObject(readGroup),
	"QueryCoord.CheckBalanceStatus": decodeAs[querypb.CheckBalanceStatusRequest]((*Decoder).takeBalance),
	"QueryCoord.ListQueryNode":      decodeAs[querypb.ListQueryNodeRequest]((*Decoder).takeQueryNodes),
	"QueryCoord.ListCheckers":       decodeAs[querypb.ListCheckersRequest]((*Decoder).takeCheckers),

	"DataCoord.GetRecoveryInfoV2": decodeAs[datapb.GetRecoveryInfoRequestV2]((*Decoder).takeRecovery).
		withObject(readCollection, codeCollectionMissing),
	"DataCoord.GetSegmentInfo": decodeAs[datapb.GetSegmentInfoRequest]((*Decoder).takeDataSegments).
		withObject(readSegments),
}

// decoderOf returns the decoder of a method, e.g. /milvus.proto.query.QueryCoord/GetReplicas.
func decoderOf(method string) (responseDecoder, bool) {
	service, name, _ := strings.Cut(strings.TrimPrefix(method, "/"), "/")
	a, ok := responseDecoders[name]
	if !ok {
		a, ok = responseDecoders[service[strings.LastIndexByte(service, '.')+1:]+"."+name]
	}
	return a, ok
}

func readCollection(q *pendingRecord, m proto.Message) {
	if r, ok := m.(interface{ GetCollectionID() int64 }); ok {
		q.collection = model.CollectionID(r.GetCollectionID())
		q.object = q.collection.String()
	}
}

func readGroup(q *pendingRecord, m proto.Message) {
	q.object = m.(*querypb.DescribeResourceGroupRequest).GetResourceGroup()
}

func readSegments(q *pendingRecord, m proto.Message) {
	ids := m.(*datapb.GetSegmentInfoRequest).GetSegmentIDs()
	if len(ids) == 0 {
		return
	}
	q.object = model.SegmentID(ids[0]).String()
	if len(ids) > 1 {
		q.object += " and " + strconv.Itoa(len(ids)-1) + " more"
	}
}

// readStatus reads the status inside a response: the new code and the old one, which is the only one before
// 2.3. It reports whether the rest of the response is to be decoded.
func (d *Decoder) readStatus(q *pendingRecord, a responseDecoder, m proto.Message) bool {
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
	for _, code := range a.missingCodes {
		if s.GetCode() == code ||
			code == codeCollectionMissing && s.GetCode() == 0 &&
				s.GetErrorCode() == commonpb.ErrorCode_CollectionNotExists {
			return true
		}
	}
	reason := s.GetReason()
	if reason == "" {
		reason = s.GetErrorCode().String()
	}
	outcome := statusOutcome(s)
	reason = reason[:min(len(reason), maxProse+1)] // no more is displayed
	q.set(outcome, explain(outcome, reason))
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

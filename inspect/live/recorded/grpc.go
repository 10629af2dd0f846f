package recorded

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/milvus-io/milvus-proto/go-api/v3/commonpb"
	"github.com/milvus-io/milvus/pkg/v3/proto/internalpb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"kitescope/inspect/live"
	"kitescope/inspect/model"
)

// grpcServer responds for the sessions at one recorded address.
type grpcServer struct {
	opts      *Options
	responses map[string]*recordedResponse // by method and request
	methods   map[string]bool
	nodes     map[model.NodeID]bool
	dead      bool // nothing was listening during the recording
	address   string
	server    *grpc.Server
}

// recordedResponse is a recorded response to a call.
type recordedResponse struct {
	method   string
	response []byte
	failure  error // of gRPC
	silent   bool  // the call timed out
}

// add adds a record. Of two responses to one call, the later one wins.
func (s *grpcServer) add(r *live.Record) {
	s.nodes[r.Node] = true
	a := &recordedResponse{method: r.Method, response: r.Response}
	outcome, told := model.OutcomeOf(r.Outcome)
	switch {
	case told && outcome == model.NotAsked:
		return // the response is unknown
	case outcome == model.Unreachable || outcome == model.Refused:
		s.dead = true
	case outcome == model.TimedOut:
		a.silent = true
	case len(r.Response) == 0 && r.Error != "":
		a.failure = failure(outcome, r.Error)
	}
	s.responses[callKey(r.Method, r.Request)] = a
	if status.Code(a.failure) != codes.Unimplemented {
		s.methods[r.Method] = true
	}
}

// failure returns the gRPC error for a record's error: "CODE: details" in recordings by other programs, the
// code of the outcome in kitescope's.
func failure(outcome model.Outcome, text string) error {
	if name, details, ok := strings.Cut(text, ": "); ok {
		for code := codes.Canceled; code <= codes.Unauthenticated; code++ {
			if strings.EqualFold(strings.ReplaceAll(name, "_", ""), code.String()) {
				return status.Error(code, details)
			}
		}
	}
	switch outcome {
	case model.Unimplemented:
		return status.Error(codes.Unimplemented, text)
	case model.Denied:
		return status.Error(codes.Unauthenticated, text)
	case model.CutOff:
		return status.Error(codes.Unavailable, text)
	case model.TooLarge:
		return status.Error(codes.ResourceExhausted, text)
	default:
		return status.Error(codes.Unknown, text)
	}
}

// callKey returns the key of a call: its method and request, without empty fields and without the base (field
// 1 of every request that has one), which names the target.
func callKey(method string, request []byte) string {
	var kept []byte
	for b := request; len(b) > 0; {
		number, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			return method + "\x00" + string(request)
		}
		size := protowire.ConsumeFieldValue(number, kind, b[n:])
		if size < 0 {
			return method + "\x00" + string(request)
		}
		field := b[:n+size]
		b = b[n+size:]
		empty := size == 1 && field[n] == 0 && (kind == protowire.BytesType || kind == protowire.VarintType)
		if number != 1 && !empty {
			kept = append(kept, field...)
		}
	}
	return method + "\x00" + string(kept)
}

// target returns the node in a request's base (MsgBase.targetID), or 0 without one.
func target(request []byte) model.NodeID {
	for b := request; len(b) > 0; {
		number, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			return 0
		}
		size := protowire.ConsumeFieldValue(number, kind, b[n:])
		if size < 0 {
			return 0
		}
		if number == 1 && kind == protowire.BytesType {
			value, _ := protowire.ConsumeBytes(b[n:])
			base := new(commonpb.MsgBase)
			if proto.Unmarshal(value, base) != nil {
				return 0
			}
			return model.NodeID(base.GetTargetID())
		}
		b = b[n+size:]
	}
	return 0
}

const showConfigurations = "/ShowConfigurations"

// Folded configuration keys that name further servers.
const (
	metricsPort = "commonmetricsport"
	brokerList  = "kafkabrokerlist"
)

// configValues returns the values of a key in the recorded configurations.
func (s *grpcServer) configValues(key string) []string {
	var values []string
	s.configs(func(pair *commonpb.KeyValuePair) bool {
		if model.FoldConfigKey(pair.GetKey()) == key && pair.GetValue() != "" {
			values = append(values, pair.GetValue())
		}
		return false
	})
	slices.Sort(values)
	return slices.Compact(values)
}

// rewrite replaces the value of a key in the responses.
func (s *grpcServer) rewrite(key string, value func(was string) string) {
	s.configs(func(pair *commonpb.KeyValuePair) bool {
		if model.FoldConfigKey(pair.GetKey()) != key || pair.GetValue() == "" {
			return false
		}
		pair.Value = value(pair.GetValue())
		return true
	})
}

// configs calls visit for each pair of the recorded configurations, and encodes a response again if visit
// changed a pair.
func (s *grpcServer) configs(visit func(*commonpb.KeyValuePair) (changed bool)) {
	for _, a := range s.responses {
		config := new(internalpb.ShowConfigurationsResponse)
		if !strings.HasSuffix(a.method, showConfigurations) || proto.Unmarshal(a.response, config) != nil {
			continue
		}
		changed := false
		for _, pair := range config.GetConfiguations() {
			if visit(pair) {
				changed = true
			}
		}
		if !changed {
			continue
		}
		if b, err := proto.Marshal(config); err == nil {
			a.response = b
		}
	}
}

func (s *grpcServer) start(ports *ports) error {
	l, address, err := ports.take(s.dead)
	if s.address = address; l == nil {
		return err
	}
	options := []grpc.ServerOption{grpc.ForceServerCodecV2(live.RawCodec{}), grpc.UnknownServiceHandler(s.handle)}
	if s.opts.TLS != nil {
		options = append(options, grpc.Creds(credentials.NewTLS(s.opts.TLS)))
	}
	s.server = grpc.NewServer(options...)
	go func() { _ = s.server.Serve(l) }()
	return nil
}

func (s *grpcServer) close() {
	if s.server != nil {
		s.server.Stop()
	}
}

// handle responds to a call.
func (s *grpcServer) handle(_ any, stream grpc.ServerStream) error {
	method, _ := grpc.MethodFromServerStream(stream)
	if err := s.admit(stream.Context()); err != nil {
		return err
	}
	var request []byte
	if err := stream.RecvMsg(&request); err != nil {
		return err
	}
	a := s.responses[callKey(method, request)]
	switch {
	case a == nil && !s.methods[method]:
		return unknown(method, s.hasService(method))
	case a != nil && a.failure != nil:
		return a.failure
	}
	if id := target(request); !strings.HasSuffix(method, "/GetComponentStates") && !s.nodes[id] {
		return stream.SendMsg(s.mismatch(id))
	}
	switch {
	case a == nil:
		return status.Error(codes.NotFound, "this call is not in the recording")
	case a.silent:
		<-stream.Context().Done()
		return status.FromContextError(stream.Context().Err()).Err()
	}
	return stream.SendMsg(a.response)
}

// admit checks the metadata of a call as Milvus's interceptors do (pkg/util/interceptor). It accepts missing
// metadata.
func (s *grpcServer) admit(ctx context.Context) error {
	md, _ := metadata.FromIncomingContext(ctx)
	if want := s.opts.Authorization; want != "" && !slices.Contains(md.Get("authorization"), want) {
		return status.Error(codes.Unauthenticated, "auth check failure, please check api key is correct")
	}
	if cluster := md.Get("cluster"); s.opts.Cluster != "" && len(cluster) > 0 && cluster[0] != "" &&
		cluster[0] != s.opts.Cluster {
		return status.Errorf(codes.Unknown, "cross cluster routing[expectedCluster=%s][actualCluster=%s]",
			s.opts.Cluster, cluster[0])
	}
	if values := md.Get("serverid"); len(values) > 0 {
		if id, err := strconv.ParseInt(values[0], 10, 64); err == nil && !s.nodes[model.NodeID(id)] {
			return status.Errorf(codes.Unknown, "node not match[expectedNodeID=%d][actualNodeID=%s]", id, s.node())
		}
	}
	return nil
}

// node returns the node of this server.
func (s *grpcServer) node() model.NodeID {
	for id := range s.nodes {
		return id // a process has one
	}
	return 0
}

// codeNodeMismatch is pkg/util/merr's ErrNodeNotMatch.
const codeNodeMismatch = 904

// mismatch returns Milvus's response to a call for another node, for which gRPC returns OK. The status is field
// 1 of every response to a request that has a base.
func (s *grpcServer) mismatch(id model.NodeID) []byte {
	b, err := proto.Marshal(&commonpb.Status{
		ErrorCode: commonpb.ErrorCode_NodeIDNotMatch, Code: codeNodeMismatch,
		Reason: fmt.Sprintf("node not match[expectedNodeID=%s][actualNodeID=%s]", s.node(), id),
	})
	if err != nil {
		panic(err) // it holds only text of our own
	}
	return protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), b)
}

// hasService reports whether any method of the same service was recorded.
func (s *grpcServer) hasService(method string) bool {
	service := method[:strings.LastIndexByte(method, '/')+1]
	for m := range s.methods {
		if strings.HasPrefix(m, service) {
			return true
		}
	}
	return false
}

// unknown returns grpc's own response to an unknown call.
func unknown(method string, service bool) error {
	at := strings.LastIndexByte(method, '/')
	name := strings.TrimPrefix(method[:at], "/")
	if !service {
		return status.Errorf(codes.Unimplemented, "unknown service %s", name)
	}
	return status.Errorf(codes.Unimplemented, "unknown method %s for service %s", method[at+1:], name)
}

package sourcetest

import (
	"context"
	"net"
	"testing"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

// Hostile is a server with the protocol of etcd that sends harmful responses. It forwards other requests to a
// real etcd.
type Hostile struct {
	// Address is host:port of the listener.
	Address string
	// Range returns the response to a read, or nil for the response of the real etcd. It may be nil.
	Range func(*pb.RangeRequest) *pb.RangeResponse
	// Watch serves a watch from its first request on. If it is nil, watches receive no response.
	Watch func(pb.Watch_WatchServer, *pb.WatchCreateRequest) error
	// Fail returns the error for a call of a method ("/etcdserverpb.KV/Range"), or nil if the call should not
	// fail. It may be nil.
	Fail func(method string) error
}

// StartHostile starts a Hostile in front of a real etcd and stops it at the end of the test. configure sets its
// responses.
func StartHostile(t testing.TB, target string, configure func(*Hostile)) *Hostile {
	t.Helper()
	h := &Hostile{}
	configure(h)
	conn, err := grpc.NewClient(target, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer(grpc.UnaryInterceptor(h.call))
	pb.RegisterKVServer(server, &hostileKV{h: h, real: pb.NewKVClient(conn)})
	pb.RegisterWatchServer(server, &hostileWatch{h: h})
	pb.RegisterMaintenanceServer(server, &hostileMaintenance{real: pb.NewMaintenanceClient(conn)})
	pb.RegisterClusterServer(server, &hostileCluster{address: l.Addr().String()})
	h.Address = l.Addr().String()
	go func() { _ = server.Serve(l) }()
	t.Cleanup(func() {
		server.Stop()
		_ = conn.Close()
	})
	return h
}

// call returns the error of Fail, if any, or else handles the request.
func (h *Hostile) call(
	ctx context.Context, request any, info *grpc.UnaryServerInfo, handle grpc.UnaryHandler,
) (any, error) {
	if h.Fail != nil {
		if err := h.Fail(info.FullMethod); err != nil {
			return nil, err
		}
	}
	return handle(ctx, request)
}

type hostileKV struct {
	pb.UnimplementedKVServer
	h    *Hostile
	real pb.KVClient
}

// Range implements pb.KVServer.
func (s *hostileKV) Range(ctx context.Context, r *pb.RangeRequest) (*pb.RangeResponse, error) {
	if s.h.Range != nil {
		if answer := s.h.Range(r); answer != nil {
			return answer, nil
		}
	}
	return s.real.Range(ctx, r)
}

type hostileWatch struct {
	pb.UnimplementedWatchServer
	h *Hostile
}

// Watch implements pb.WatchServer.
func (s *hostileWatch) Watch(stream pb.Watch_WatchServer) error {
	first, err := stream.Recv()
	if err != nil {
		return err
	}
	if s.h.Watch == nil {
		<-stream.Context().Done()
		return nil
	}
	return s.h.Watch(stream, first.GetCreateRequest())
}

type hostileMaintenance struct {
	pb.UnimplementedMaintenanceServer
	real pb.MaintenanceClient
}

// Status implements pb.MaintenanceServer.
func (s *hostileMaintenance) Status(ctx context.Context, r *pb.StatusRequest) (*pb.StatusResponse, error) {
	return s.real.Status(ctx, r)
}

type hostileCluster struct {
	pb.UnimplementedClusterServer
	address string
}

// MemberList implements pb.ClusterServer.
func (s *hostileCluster) MemberList(context.Context, *pb.MemberListRequest) (*pb.MemberListResponse, error) {
	return &pb.MemberListResponse{
		Members: []*pb.Member{{ID: 1, Name: "default", ClientURLs: []string{"http://" + s.address}}},
	}, nil
}

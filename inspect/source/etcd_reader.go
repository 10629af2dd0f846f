package source

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"kitescope/internal/redact"
)

// reader is the only access of this program to etcd. It has no method that writes, and nothing else holds a
// client. A test checks its method set.
type reader struct {
	client *clientv3.Client
	// stop ends all background work of the client.
	stop context.CancelFunc
	// timeout bounds one request.
	timeout time.Duration
	// serializable reads the state of a single member, without a quorum.
	serializable bool
}

// rangeRequest is a read of the keys in a range at a revision.
type rangeRequest struct {
	keys     Range
	limit    int64
	revision int64
	keysOnly bool
}

// Attempts per request. etcd returns "unavailable" during a leader election and when a member shuts down. The
// next attempt goes to another member.
const (
	readAttempts = 5
	readPause    = 100 * time.Millisecond
)

// rangePage reads one page. A read at a revision needs no quorum: the state of a revision is the same on each
// member that has it. A member that is behind is asked again, and then waits until it has caught up. So only the
// first read, which finds the revision, takes as long as a quorum does on slow disks.
func (r *reader) rangePage(ctx context.Context, q rangeRequest) (*page, error) {
	req := &pb.RangeRequest{
		Key: []byte(q.keys.From), RangeEnd: []byte(q.keys.To),
		Limit: q.limit, Revision: q.revision, KeysOnly: q.keysOnly, Serializable: r.serializable || q.revision > 0,
	}
	if q.keys.From == "" {
		req.Key = []byte{0}
	}
	if q.keys.To == "" {
		req.RangeEnd = []byte{0}
	}
	if q.keys.To == q.keys.From+"\x00" {
		// For a single key without a range end, etcd does not walk its index.
		req.RangeEnd = nil
	}
	for {
		var p *page
		err := r.retry(ctx, func(ctx context.Context) error {
			p = new(page)
			return r.client.ActiveConnection().Invoke(ctx, pb.KV_Range_FullMethodName, req, p,
				grpc.ForceCodecV2(wireCodec{}), grpc.WaitForReady(true), grpc.MaxCallRecvMsgSize(maxPageBytes))
		})
		if err == nil {
			return p, nil
		}
		if errors.Is(err, rpctypes.ErrFutureRev) && req.Serializable && !r.serializable {
			req.Serializable = false
			continue
		}
		if req.Limit <= 1 || status.Code(err) != codes.ResourceExhausted ||
			!strings.Contains(err.Error(), "larger than max") {
			return nil, err
		}
		req.Limit = max(1, req.Limit/pageShrink)
	}
}

// maxPageBytes bounds one response. etcd does not limit responses. Pages are limited by a number of keys, and a
// value has at most a few MiB (--max-request-bytes). If the values are so large that a page exceeds the bound,
// the request is repeated with fewer keys.
const (
	maxPageBytes = 256 << 20
	pageShrink   = 16
)

// retry runs one read with its own deadline. It repeats the read while etcd returns a temporary error.
func (r *reader) retry(ctx context.Context, call func(context.Context) error) error {
	var err error
	for attempt := range readAttempts {
		if attempt > 0 {
			if pauseErr := pause(ctx, readPause<<attempt); pauseErr != nil {
				return err
			}
		}
		err = r.once(ctx, call)
		if err == nil || ctx.Err() != nil || !worthRetry(err) {
			return err
		}
	}
	return err
}

func (r *reader) once(ctx context.Context, call func(context.Context) error) error {
	attempt, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	if !r.serializable {
		// A member without a leader then returns an error immediately.
		attempt = clientv3.WithRequireLeader(attempt)
	}
	err := rpctypes.Error(call(attempt))
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

func worthRetry(err error) bool {
	if known, ok := errors.AsType[rpctypes.EtcdError](err); ok {
		return known.Code() == codes.Unavailable
	}
	return status.Code(err) == codes.Unavailable
}

// pause waits for d or until ctx ends.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// memberStatus requests the status of the member at one endpoint.
func (r *reader) memberStatus(ctx context.Context, endpoint string) (*pb.StatusResponse, error) {
	ctx, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	resp, err := r.client.Maintenance.Status(ctx, endpoint)
	return (*pb.StatusResponse)(resp), err
}

// anyStatus requests the status of the member to which the connection leads.
func (r *reader) anyStatus(ctx context.Context) (*pb.StatusResponse, error) {
	ctx, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	return pb.NewMaintenanceClient(r.client.ActiveConnection()).Status(ctx, &pb.StatusRequest{})
}

// memberList returns the members of the cluster.
func (r *reader) memberList(ctx context.Context) ([]*pb.Member, error) {
	ctx, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	resp, err := r.client.Cluster.MemberList(ctx)
	if err != nil {
		return nil, err
	}
	return resp.Members, nil
}

// readable returns the ranges that the roles of user may read. Each account may request this for itself (etcd
// server/etcdserver/apply_auth.go, UserGet, RoleGet).
func (r *reader) readable(ctx context.Context, user string) ([]Range, error) {
	ctx, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	account, err := r.client.Auth.UserGet(ctx, user)
	if err != nil {
		return nil, err
	}
	var ranges []Range
	for _, name := range account.Roles {
		role, err := r.client.Auth.RoleGet(ctx, name)
		if err != nil {
			return nil, err
		}
		for _, perm := range role.Perm {
			if perm.PermType != clientv3.PermWrite {
				ranges = append(ranges, permittedRange(perm.Key, perm.RangeEnd))
			}
		}
	}
	return mergeRanges(ranges), nil
}

// permittedRange converts a permission of etcd to a Range. Without an end it is a single key; an end of one
// zero byte means no upper bound.
func permittedRange(key, end []byte) Range {
	r := Range{From: string(key), To: string(end)}
	switch r.To {
	case "":
		r.To = r.From + "\x00"
	case "\x00":
		r.To = ""
	}
	if r.From == "\x00" {
		r.From = ""
	}
	return r
}

// maxWatchBytes bounds one message of a watch. If fragmentation is requested, etcd splits responses at its
// --max-request-bytes (1.5 MiB).
const maxWatchBytes = 64 << 20

// watchRequest is a watch of the keys in a range, from a revision on.
type watchRequest struct {
	keys Range
	from int64
	// progressInterval is the interval of progress requests. 0 means no requests; etcd then reports progress every few
	// minutes.
	progressInterval time.Duration
}

// watch follows the requested keys until take returns an error or the watch ends. The error is never nil. It
// reads the next message after take has returned, so that a slow consumer slows down the server.
func (r *reader) watch(ctx context.Context, q watchRequest, take func(*watchMessage) error) error {
	ctx, cancel := context.WithCancel(clientv3.WithRequireLeader(ctx))
	var asking sync.WaitGroup
	defer asking.Wait()
	defer cancel()
	create := &pb.WatchCreateRequest{
		Key: []byte(q.keys.From), RangeEnd: []byte(q.keys.To), StartRevision: q.from, ProgressNotify: true,
		Fragment: true,
	}
	if q.keys.From == "" {
		create.Key = []byte{0}
	}
	if q.keys.To == "" {
		create.RangeEnd = []byte{0}
	}
	stream, err := r.client.ActiveConnection().NewStream(ctx,
		&grpc.StreamDesc{ServerStreams: true, ClientStreams: true},
		pb.Watch_Watch_FullMethodName, grpc.ForceCodecV2(wireCodec{}), grpc.WaitForReady(true),
		grpc.MaxCallRecvMsgSize(maxWatchBytes))
	if err != nil {
		return rpctypes.Error(err)
	}
	// If sending fails, RecvMsg returns the reason.
	_ = stream.SendMsg(&pb.WatchRequest{RequestUnion: &pb.WatchRequest_CreateRequest{CreateRequest: create}})
	if q.progressInterval > 0 {
		asking.Go(func() {
			progress := &pb.WatchRequest{
				RequestUnion: &pb.WatchRequest_ProgressRequest{ProgressRequest: &pb.WatchProgressRequest{}},
			}
			var err error
			for err == nil && pause(ctx, q.progressInterval) == nil {
				err = stream.SendMsg(progress)
			}
		})
	}
	for {
		m := new(watchMessage)
		if err := stream.RecvMsg(m); err != nil {
			if errors.Is(err, io.EOF) {
				return errWatchEnded
			}
			return rpctypes.Error(err)
		}
		switch {
		case m.compacted != 0:
			return &compactedError{m.compacted}
		case m.canceled && m.reason != "":
			return rpctypes.Error(errors.New(redact.Text(m.reason)))
		case m.canceled:
			return errWatchEnded
		}
		if err := take(m); err != nil {
			return err
		}
	}
}

func (r *reader) close() error {
	r.stop()
	err := r.client.Close()
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

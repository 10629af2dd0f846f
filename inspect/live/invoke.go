package live

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"kitescope/inspect/model"
)

// RawCodec passes messages through as bytes, or in the pieces that they arrived in. Callers decode, store or
// measure them.
type RawCodec struct{}

var _ encoding.CodecV2 = RawCodec{}

// Marshal implements encoding.CodecV2.
func (RawCodec) Marshal(v any) (mem.BufferSlice, error) {
	b, ok := v.([]byte)
	if !ok {
		return nil, fmt.Errorf("marshal %T: want bytes", v)
	}
	return mem.BufferSlice{mem.SliceBuffer(b)}, nil
}

// Unmarshal implements encoding.CodecV2.
func (RawCodec) Unmarshal(data mem.BufferSlice, v any) error {
	switch to := v.(type) {
	case *[]byte:
		*to = data.Materialize()
	case *mem.BufferSlice:
		data.Ref()
		*to = data
	default:
		return fmt.Errorf("unmarshal to %T: want bytes or pieces", v)
	}
	return nil
}

// Name implements encoding.CodecV2.
func (RawCodec) Name() string { return "proto" }

// gzipRejecter refuses responses that are compressed with gzip, because Milvus does not send them unrequested and
// their decompressed size is known too late.
type gzipRejecter struct{}

var _ grpc.Decompressor = gzipRejecter{} //nolint:staticcheck // as WithDecompressor (SA1019)

func (gzipRejecter) Do(io.Reader) ([]byte, error) {
	return nil, errors.New("the answer is packed, but packing was not requested")
}

func (gzipRejecter) Type() string { return "gzip" }

// grpcResponse is a gRPC response. done must be called after it has been decoded.
type grpcResponse struct {
	bytes []byte
	done  func()
}

// call makes one gRPC call to the session of node. It does not read the status inside the response. A response,
// which may be empty, has a done function; a failure has none.
func (l *link) call(
	ctx context.Context, node model.NodeID, method string, request []byte,
) (grpcResponse, time.Duration, error) {
	start := time.Now()
	var pieces mem.BufferSlice
	err := l.conn.Invoke(l.metadata(ctx, node), method, request, &pieces)
	took := time.Since(start)
	if err != nil {
		pieces.Free()
		return grpcResponse{}, took, l.callError(ctx, err)
	}
	size := int64(pieces.Len())
	a := grpcResponse{bytes: pieces.Materialize()}
	pieces.Free()
	a.done = func() { l.reservation.release(size) }
	return a, took, nil
}

func (l *link) callError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return l.timeoutFailure(ctx)
	}
	if gone := l.reservation.exceeded(); gone != nil {
		return gone
	}
	if broken, _, _ := l.state(); broken != nil && status.Code(err) == codes.Unavailable {
		return broken // the connection was lost and could not be reestablished
	}
	return callFailure(err, l.client.opts.Timeout, l.client.opts.MaxResponse)
}

// metadata adds the metadata that Milvus's own clients send: the target cluster and node
// (pkg/util/interceptor), and the user (internal/proxy/authentication_interceptor.go).
func (l *link) metadata(ctx context.Context, node model.NodeID) context.Context {
	pairs := []string{"ServerID", strconv.FormatInt(int64(node), 10)}
	if l.cluster != "" {
		pairs = append(pairs, "Cluster", l.cluster)
	}
	if o := &l.client.opts; o.Token != "" || o.User != "" {
		pairs = append(pairs, "authorization", o.authorization())
	}
	return metadata.AppendToOutgoingContext(ctx, pairs...)
}

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

// RawCodec hands messages through as bytes, or in the pieces that they came in: they are decoded, kept or measured elsewhere.
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

// packed refuses answers that are packed with gzip: Milvus does not do that unasked, and what
// such an answer becomes is known too late.
type packed struct{}

var _ grpc.Decompressor = packed{} //nolint:staticcheck // as WithDecompressor (SA1019)

func (packed) Do(io.Reader) ([]byte, error) {
	return nil, errors.New("the answer is packed, but packing was not requested")
}

func (packed) Type() string { return "gzip" }

// answered is an answer, and what is to be done when it has been decoded.
type answered struct {
	bytes []byte
	done  func()
}

// call makes one gRPC call as a session of node. The answer's own status is not read here.
// An answer, which may be empty, has something to be done; a failure has not.
func (l *link) call(ctx context.Context, node model.NodeID, method string, request []byte) (answered, time.Duration, error) {
	start := time.Now()
	var pieces mem.BufferSlice
	err := l.conn.Invoke(l.metadata(ctx, node), method, request, &pieces)
	took := time.Since(start)
	if err != nil {
		pieces.Free()
		return answered{}, took, l.whyFailed(ctx, err)
	}
	size := int64(pieces.Len())
	a := answered{bytes: pieces.Materialize()}
	pieces.Free()
	a.done = func() { l.tenant.give(size) }
	return a, took, nil
}

func (l *link) whyFailed(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return l.whyLate(ctx)
	}
	if gone := l.tenant.gone(); gone != nil {
		return gone
	}
	if broken, _, _ := l.state(); broken != nil && status.Code(err) == codes.Unavailable {
		return broken // the connection was lost, and could not be made again
	}
	return callFailure(err, l.client.opts.Timeout, l.client.opts.MaxAnswer)
}

// metadata is what Milvus's own clients send along: which cluster and which node are
// meant (pkg/util/interceptor), and who asks (internal/proxy/authentication_interceptor.go).
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

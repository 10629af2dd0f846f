package source

import (
	"context"
	"io"

	"google.golang.org/grpc"
	"google.golang.org/grpc/status"

	"kitescope/internal/redact"
)

// What an etcd, or what stands in its place, says of an error goes to terminals and tickets: it may be its own
// configuration. All its errors come through here, once and before anything is made of them.

// safeError is an error of a call without secrets in its words. Those that etcd is known to say have none and stay what they are.
func safeError(err error) error {
	s, ok := status.FromError(err)
	if !ok || err == nil || err == io.EOF { //nolint:errorlint // as grpc returns it
		return err
	}
	if safe := redact.Text(s.Message()); safe != s.Message() {
		return status.Error(s.Code(), safe)
	}
	return err
}

// safeWords are texts without secrets.
func safeWords(texts []string) []string {
	safe := make([]string, 0, len(texts))
	for _, text := range texts {
		safe = append(safe, redact.Text(text))
	}
	return safe
}

func safeCall(ctx context.Context, method string, request, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	return safeError(invoke(ctx, method, request, reply, conn, opts...))
}

func safeStream(ctx context.Context, desc *grpc.StreamDesc, conn *grpc.ClientConn, method string, open grpc.Streamer, opts ...grpc.CallOption) (grpc.ClientStream, error) {
	stream, err := open(ctx, desc, conn, method, opts...)
	if err != nil {
		return nil, safeError(err)
	}
	return &wordedStream{stream}, nil
}

// wordedStream is a stream of which the errors are safe.
type wordedStream struct{ grpc.ClientStream }

func (s *wordedStream) SendMsg(m any) error { return safeError(s.ClientStream.SendMsg(m)) }

func (s *wordedStream) RecvMsg(m any) error { return safeError(s.ClientStream.RecvMsg(m)) }

package source

import (
	"context"
	"io"

	"google.golang.org/grpc"
	"google.golang.org/grpc/status"

	"kitescope/internal/redact"
)

// Error texts of an etcd, or of a server in front of it, may contain the configuration of the server, and
// users paste them into tickets. Therefore all errors pass through this file once, before they are processed.

// safeError redacts secrets in the message of a gRPC error. Known errors of etcd have no secrets and are
// returned unchanged.
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

// safeTexts returns the texts with secrets redacted.
func safeTexts(texts []string) []string {
	safe := make([]string, 0, len(texts))
	for _, text := range texts {
		safe = append(safe, redact.Text(text))
	}
	return safe
}

func safeCall(
	ctx context.Context, method string, request, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker,
	opts ...grpc.CallOption,
) error {
	return safeError(invoke(ctx, method, request, reply, conn, opts...))
}

func safeStream(
	ctx context.Context, desc *grpc.StreamDesc, conn *grpc.ClientConn, method string, open grpc.Streamer,
	opts ...grpc.CallOption,
) (grpc.ClientStream, error) {
	stream, err := open(ctx, desc, conn, method, opts...)
	if err != nil {
		return nil, safeError(err)
	}
	return &safeStreamErrors{stream}, nil
}

// safeStreamErrors is a stream that redacts secrets in its errors.
type safeStreamErrors struct{ grpc.ClientStream }

func (s *safeStreamErrors) SendMsg(m any) error { return safeError(s.ClientStream.SendMsg(m)) }

func (s *safeStreamErrors) RecvMsg(m any) error { return safeError(s.ClientStream.RecvMsg(m)) }

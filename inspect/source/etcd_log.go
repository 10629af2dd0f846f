package source

import (
	"context"
	"fmt"
	"path"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc"

	"kitescope/internal/words"
)

// logCalls returns an interceptor that reports each call after it has ended: the target, the method, the duration
// and the result. It includes the request only for ranges, because other requests may hold a password.
func logCalls(log func(string)) grpc.UnaryClientInterceptor {
	return func(
		ctx context.Context, method string, request, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker,
		opts ...grpc.CallOption,
	) error {
		start := time.Now()
		err := invoke(ctx, method, request, reply, conn, opts...)
		line := "etcd " + path.Base(conn.CanonicalTarget()) + ": " + path.Base(method)
		if q, ok := request.(*pb.RangeRequest); ok {
			line += fmt.Sprintf(" %q to %q", q.Key, q.RangeEnd)
			if q.Revision > 0 {
				line += fmt.Sprintf(" at revision %d", q.Revision)
			}
		}
		if p, ok := reply.(*page); ok && err == nil {
			line += fmt.Sprintf(": %s, %s", words.Plural(p.keys, "key"), words.Bytes(int64(len(p.raw))))
		}
		log(line + outcome(err, time.Since(start)))
		return err
	}
}

// logStreams returns an interceptor that reports each opened stream, i.e. each watch.
func logStreams(log func(string)) grpc.StreamClientInterceptor {
	return func(
		ctx context.Context, desc *grpc.StreamDesc, conn *grpc.ClientConn, method string, open grpc.Streamer,
		opts ...grpc.CallOption,
	) (grpc.ClientStream, error) {
		start := time.Now()
		stream, err := open(ctx, desc, conn, method, opts...)
		log("etcd " + path.Base(conn.CanonicalTarget()) + ": " + path.Base(method) + " (stream)" +
			outcome(err, time.Since(start)))
		return stream, err
	}
}

func outcome(err error, took time.Duration) string {
	text := " in " + words.Span(took)
	if err != nil {
		text += ": " + words.Message(err.Error())
	}
	return text
}

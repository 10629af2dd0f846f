package live

import (
	"context"
	"net"
	"time"
)

// dialer makes all connections: to gRPC and HTTP servers and to brokers.
type dialer struct {
	routes   routes
	proxy    *proxy
	patience time.Duration
	// connect is for tests; nil: TCP.
	connect func(ctx context.Context, target string) (net.Conn, error)
}

// dial connects to an address of the cluster, by way of the address map and the proxy.
// An error is a *failure, unless ctx ended for a reason of the caller.
func (d *dialer) dial(ctx context.Context, address string, fixed bool) (net.Conn, error) {
	target, err := d.routes.target(address, fixed)
	if err != nil {
		return nil, err
	}
	var conn net.Conn
	switch {
	case d.connect != nil:
		conn, err = d.connect(ctx, target)
	case d.proxy != nil:
		conn, err = d.proxy.dial(ctx, target)
	default:
		conn, err = new(net.Dialer).DialContext(ctx, "tcp", target)
	}
	if err != nil {
		if ctx.Err() != nil && !isTimeout(context.Cause(ctx)) {
			return nil, context.Cause(ctx)
		}
		return nil, dialFailure(err, d.patience)
	}
	return conn, nil
}

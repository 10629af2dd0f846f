package live

import (
	"context"
	"net"
	"time"

	"kitescope/inspect/model"
)

// dialer makes all connections: to gRPC and HTTP servers and to brokers.
type dialer struct {
	routes   routes
	relay    *relay // nil: connections are made directly
	timeout  time.Duration
	resolver *net.Resolver // nil: the system's
	// connect is for tests; nil means TCP.
	connect func(ctx context.Context, target string) (net.Conn, error)
}

// dial connects to an address of the cluster through the address map and the proxy. It returns a *failure,
// unless the caller ended ctx.
func (d *dialer) dial(ctx context.Context, address string, fixed bool) (net.Conn, error) {
	target, err := d.routes.target(address, fixed)
	if err != nil {
		return nil, err
	}
	var conn net.Conn
	switch {
	case d.connect != nil:
		conn, err = d.connect(ctx, target)
	case d.relay != nil:
		conn, err = d.relay.dial(ctx, target)
	default:
		conn, err = (&net.Dialer{Resolver: d.resolver}).DialContext(ctx, "tcp", target)
	}
	switch {
	case err == nil:
		return conn, nil
	case canceled(ctx):
		return nil, context.Cause(ctx)
	case d.relay != nil && isTimeout(err):
		return nil, d.timeoutFailure()
	}
	return nil, dialFailure(err, d.timeout)
}

// Dial connects to host:port in the cluster's network like calls to processes: through the address map and the
// proxy, ignoring the environment. It is for HTTP requests of other packages. A connection error has a method
// Word, which returns the word of its model.Outcome.
func (c *Client) Dial(ctx context.Context, _, address string) (net.Conn, error) {
	return c.dialer.dial(ctx, address, false)
}

// Word returns the word of the outcome.
func (f *failure) Word() string { return f.outcome.String() }

// timeoutFailure returns the failure for a connection that timed out.
func (d *dialer) timeoutFailure() *failure {
	if d.relay != nil {
		return newFailure(model.Unreachable, "no connection through the proxy %s within %s", d.relay.address, d.timeout)
	}
	return newFailure(model.Unreachable, "no connection within %s", d.timeout)
}

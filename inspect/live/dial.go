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
	patience time.Duration
	resolver *net.Resolver // nil: the system's
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
	case d.relay != nil:
		conn, err = d.relay.dial(ctx, target)
	default:
		conn, err = (&net.Dialer{Resolver: d.resolver}).DialContext(ctx, "tcp", target)
	}
	switch {
	case err == nil:
		return conn, nil
	case givenUp(ctx):
		return nil, context.Cause(ctx)
	case d.relay != nil && isTimeout(err):
		return nil, d.late()
	}
	return nil, dialFailure(err, d.patience)
}

// Dial connects to host:port in the cluster's network as questions to processes do: by the address
// map and the proxy, and by nothing of the environment. It is for what others ask over HTTP. An error
// that is about the connection has a method Word: the word of its model.Outcome.
func (c *Client) Dial(ctx context.Context, _, address string) (net.Conn, error) {
	return c.dialer.dial(ctx, address, false)
}

// Word is the word of the outcome.
func (f *failure) Word() string { return f.outcome.String() }

// late says that no connection came about in time.
func (d *dialer) late() *failure {
	if d.relay != nil {
		return failed(model.Unreachable, "no connection through the proxy %s within %s", d.relay.address, d.patience)
	}
	return failed(model.Unreachable, "no connection within %s", d.patience)
}

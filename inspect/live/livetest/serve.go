package livetest

import (
	"net"
	"testing"

	"kitescope/inspect/live"
	"kitescope/inspect/live/recorded"
	"kitescope/inspect/model"
)

// Serve starts servers that return the recorded responses for the duration of a test. It returns the cluster
// with the addresses of these servers in its sessions.
func Serve(tb testing.TB, c *model.Cluster, records []live.Record, opts recorded.Options) *model.Cluster {
	tb.Helper()
	servers, err := recorded.Start(records, opts)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(servers.Close)
	return WithAddresses(c, func(s *model.Session) string {
		if at, ok := servers.Address(s.Address); ok {
			return at
		}
		return Refused(tb)
	})
}

// WithAddresses returns a cluster with its sessions at other addresses; "" keeps the address of a session.
func WithAddresses(c *model.Cluster, address func(*model.Session) string) *model.Cluster {
	parts := c.Parts
	parts.Sessions = make([]*model.Session, 0, len(c.Sessions))
	for _, s := range c.Sessions {
		moved := *s
		if to := address(s); to != "" {
			moved.Address = to
		}
		parts.Sessions = append(parts.Sessions, &moved)
	}
	return model.Build(parts)
}

// Replace returns a cluster with other addresses for some sessions, by name, e.g. "querynode-101".
func Replace(c *model.Cluster, addresses map[string]string) *model.Cluster {
	return WithAddresses(c, func(s *model.Session) string { return addresses[s.Name()] })
}

// Refused returns an address that refuses connections until the test ends.
func Refused(tb testing.TB) string {
	tb.Helper()
	address, release, err := recorded.Refused()
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(release)
	return address
}

func listen(tb testing.TB) net.Listener {
	tb.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // taking a port of loopback does not wait
	if err != nil {
		tb.Fatal(err)
	}
	return l
}

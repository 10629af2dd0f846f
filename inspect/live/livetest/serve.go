package livetest

import (
	"net"
	"testing"

	"kitescope/inspect/live"
	"kitescope/inspect/live/recorded"
	"kitescope/inspect/model"
)

// Serve starts servers that give the answers, for the time of a test, and returns the
// cluster with its sessions pointing at them.
func Serve(tb testing.TB, c *model.Cluster, records []live.Record, opts recorded.Options) *model.Cluster {
	tb.Helper()
	servers, err := recorded.Start(records, opts)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(servers.Close)
	return Moved(c, func(s *model.Session) string {
		if at, ok := servers.Address(s.Address); ok {
			return at
		}
		return Refused(tb)
	})
}

// Moved is a cluster whose sessions are at other addresses; "" leaves one where it is.
func Moved(c *model.Cluster, address func(*model.Session) string) *model.Cluster {
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

// Replace puts other addresses in the place of some sessions': by name, "querynode-101".
func Replace(c *model.Cluster, addresses map[string]string) *model.Cluster {
	return Moved(c, func(s *model.Session) string { return addresses[s.Name()] })
}

// Refused is an address at which nothing listens, nor can until the test ends.
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

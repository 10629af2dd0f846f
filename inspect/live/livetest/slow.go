package livetest

import (
	"net"
	"sync"
	"testing"
	"time"
)

// Gate leads to a server; pass is called before each piece of what a client sends goes on.
// Connections are accepted at once, as the kernel does for a process that is stopped.
func Gate(tb testing.TB, target string, pass func()) string {
	tb.Helper()
	return Each(tb, func(conn net.Conn) {
		defer conn.Close()
		server, err := net.Dial("tcp", target) //nolint:noctx // it ends with the connection
		if err != nil {
			return
		}
		defer server.Close()
		var back sync.WaitGroup
		back.Go(func() { forward(conn, server, func() {}) })
		forward(server, conn, pass)
		_ = server.Close()
		back.Wait()
	})
}

func forward(to, from net.Conn, pass func()) {
	piece := make([]byte, 64<<10)
	for {
		n, err := from.Read(piece)
		if n > 0 {
			pass()
			if _, err := to.Write(piece[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// DutyCycle leads to a server that runs for a while, is stopped for a while, and so on, as SIGSTOP and SIGCONT do it.
func DutyCycle(tb testing.TB, target string, runs, stops time.Duration) string {
	tb.Helper()
	begun := time.Now()
	return Gate(tb, target, func() {
		if at := time.Since(begun) % (runs + stops); at < stops {
			time.Sleep(stops - at)
		}
	})
}

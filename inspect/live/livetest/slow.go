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
	return between(tb, target, func(to, from net.Conn) { forward(to, from, pass) }, func(to, from net.Conn) { forward(to, from, func() {}) })
}

// Far leads to a server that is so long a way off: whatever is sent, there and back, takes half of that.
func Far(tb testing.TB, target string, way time.Duration) string {
	tb.Helper()
	later := func(to, from net.Conn) {
		type sent struct {
			at    time.Time
			piece []byte
		}
		line := make(chan sent, 1024)
		var wg sync.WaitGroup
		wg.Go(func() {
			for s := range line {
				time.Sleep(time.Until(s.at.Add(way / 2)))
				_, _ = to.Write(s.piece)
			}
		})
		for {
			piece := make([]byte, 16<<10)
			n, err := from.Read(piece)
			if line <- (sent{time.Now(), piece[:n]}); err != nil {
				break
			}
		}
		close(line)
		wg.Wait()
	}
	return between(tb, target, later, later)
}

// between leads to a server, and hands over to what there goes there and back.
func between(tb testing.TB, target string, there, back func(to, from net.Conn)) string {
	tb.Helper()
	return Each(tb, func(conn net.Conn) {
		defer conn.Close()
		server, err := net.Dial("tcp", target) //nolint:noctx // it ends with the connection
		if err != nil {
			return
		}
		defer server.Close()
		var wg sync.WaitGroup
		wg.Go(func() { back(conn, server) })
		there(server, conn)
		_ = server.Close()
		wg.Wait()
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

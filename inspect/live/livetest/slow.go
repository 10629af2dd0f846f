package livetest

import (
	"net"
	"sync"
	"testing"
	"time"
)

// Gate returns the address of a relay to a server. It calls pass before it forwards each piece from the client.
// It accepts connections immediately, as the kernel does for a stopped process.
func Gate(tb testing.TB, target string, pass func()) string {
	tb.Helper()
	return relay(tb, target, func(to, from net.Conn) { forward(to, from, pass) }, func(to, from net.Conn) {
		forward(to, from, func() {})
	})
}

// Delayed returns the address of a relay to a server with a round-trip time of rtt. Each direction is delayed by
// half of rtt.
func Delayed(tb testing.TB, target string, rtt time.Duration) string {
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
				time.Sleep(time.Until(s.at.Add(rtt / 2)))
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
	return relay(tb, target, later, later)
}

// relay returns the address of a relay to a server; there and back forward the bytes of the two directions.
func relay(tb testing.TB, target string, there, back func(to, from net.Conn)) string {
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

// DutyCycle returns the address of a relay to a server that runs and stops periodically, as with SIGSTOP and
// SIGCONT.
func DutyCycle(tb testing.TB, target string, runs, stops time.Duration) string {
	tb.Helper()
	begun := time.Now()
	return Gate(tb, target, func() {
		if at := time.Since(begun) % (runs + stops); at < stops {
			time.Sleep(stops - at)
		}
	})
}

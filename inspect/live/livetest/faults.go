package livetest

import (
	"bytes"
	"compress/gzip"
	"crypto/tls"
	"encoding/binary"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// Each starts a server for the duration of a test that calls f with each connection. It returns the address.
func Each(tb testing.TB, f func(net.Conn)) string {
	tb.Helper()
	l := listen(tb)
	var mu sync.Mutex
	var open []net.Conn
	closed := false
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			if open = append(open, conn); closed { // accepted between the two closes below
				_ = conn.Close()
			}
			mu.Unlock()
			wg.Go(func() { f(conn) })
		}
	})
	tb.Cleanup(func() {
		_ = l.Close()
		mu.Lock()
		closed = true
		for _, conn := range open {
			_ = conn.Close()
		}
		mu.Unlock()
		wg.Wait()
	})
	return l.Addr().String()
}

// Silent returns the address of a server that accepts and reads, but never responds.
func Silent(tb testing.TB) string {
	tb.Helper()
	return Each(tb, func(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) })
}

// Garbage returns the address of a server that responds to everything with the same text.
func Garbage(tb testing.TB, text string) string {
	tb.Helper()
	return Each(tb, func(conn net.Conn) {
		_, _ = io.WriteString(conn, text)
		_, _ = io.Copy(io.Discard, conn)
	})
}

// HangsUp returns the address of a server that closes connections immediately.
func HangsUp(tb testing.TB) string {
	tb.Helper()
	return Each(tb, func(conn net.Conn) { _ = conn.Close() })
}

// web serves HTTP/1 and plaintext HTTP/2, so that tests can write gRPC responses by hand.
func web(tb testing.TB, handler http.HandlerFunc) string {
	tb.Helper()
	l := listen(tb)
	server := &http.Server{Handler: handler, Protocols: new(http.Protocols)} //nolint:gosec // of a test
	server.Protocols.SetHTTP1(true)
	server.Protocols.SetUnencryptedHTTP2(true)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(l)
	}()
	tb.Cleanup(func() {
		_ = server.Close()
		<-done
	})
	return l.Addr().String()
}

// message writes the header of an uncompressed gRPC message of size bytes.
func message(w http.ResponseWriter, size uint32) {
	w.Header().Set("Content-Type", "application/grpc")
	head := make([]byte, 5)
	binary.BigEndian.PutUint32(head[1:], size)
	_, _ = w.Write(head)
	flush(w)
}

func flush(w http.ResponseWriter) {
	if f, ok := w.(http.Flusher); ok {
		f.Flush()
	}
}

// Huge returns the address of a server that responds to gRPC and HTTP with size bytes, as fast as the client
// reads them. sent returns the number of bytes written.
func Huge(tb testing.TB, size uint32) (address string, sent func() int64) {
	tb.Helper()
	var mu sync.Mutex
	var count int64
	address = web(tb, func(w http.ResponseWriter, r *http.Request) {
		if r.ProtoMajor == 2 {
			message(w, size)
		}
		block := make([]byte, 64<<10)
		for left := int64(size); left > 0; left -= int64(len(block)) {
			n, err := w.Write(block)
			mu.Lock()
			count += int64(n)
			mu.Unlock()
			if err != nil {
				return
			}
		}
	})
	return address, func() int64 {
		mu.Lock()
		defer mu.Unlock()
		return count
	}
}

// Flood responds to the gRPC calls of a method, or of all if it is "", and to HTTP requests with well-formed
// responses of the same bytes, which may be a valid message. If stuck, it withholds the last byte and never
// ends the response. Other methods are unimplemented.
func Flood(tb testing.TB, method string, response []byte, stuck bool) string {
	tb.Helper()
	return web(tb, func(w http.ResponseWriter, r *http.Request) {
		if r.ProtoMajor == 2 {
			if !strings.HasSuffix(r.URL.Path, method) {
				w.Header().Set("Content-Type", "application/grpc")
				w.Header().Set("Grpc-Status", "12") // unimplemented
				return
			}
			w.Header().Set("Trailer", "Grpc-Status")
			message(w, uint32(len(response)))
		}
		body := response
		if stuck {
			body = body[:len(body)-1]
		}
		inBlocks(w, body)
		if stuck {
			flush(w)
			<-r.Context().Done()
		}
		w.Header().Set("Grpc-Status", "0")
	})
}

// Compressed responds to gRPC calls with a compressed message, although no client requested compression.
func Compressed(tb testing.TB) string {
	tb.Helper()
	return web(tb, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Trailer", "Grpc-Status")
		w.Header().Set("Content-Type", "application/grpc")
		w.Header().Set("Grpc-Encoding", "gzip")
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		_, _ = z.Write(make([]byte, 1<<20))
		_ = z.Close()
		head := make([]byte, 5)
		head[0] = 1
		binary.BigEndian.PutUint32(head[1:], uint32(b.Len()))
		_, _ = w.Write(append(head, b.Bytes()...))
		w.Header().Set("Grpc-Status", "0")
	})
}

// inBlocks writes body in blocks, so that the server does not hold a copy of the whole body.
func inBlocks(w io.Writer, body []byte) {
	for block := range slices.Chunk(body, 64<<10) {
		if _, err := w.Write(block); err != nil {
			return
		}
	}
}

// CutOff starts a response and resets the stream in its middle.
func CutOff(tb testing.TB) string {
	tb.Helper()
	return web(tb, func(w http.ResponseWriter, r *http.Request) {
		if r.ProtoMajor == 2 {
			message(w, 1000)
		} else {
			w.Header().Set("Content-Length", "1000")
		}
		_, _ = w.Write([]byte("half of it"))
		flush(w)
		panic(http.ErrAbortHandler)
	})
}

// NoMessage responds to gRPC calls with well-formed responses whose bytes are not a valid message.
func NoMessage(tb testing.TB) string {
	tb.Helper()
	return web(tb, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Trailer", "Grpc-Status")
		message(w, 3)
		_, _ = w.Write([]byte{0xff, 0xff, 0xff})
		w.Header().Set("Grpc-Status", "0")
	})
}

// NotGRPC is a web server of another kind: it responds to everything with status 200 and a page.
func NotGRPC(tb testing.TB) string {
	tb.Helper()
	return web(tb, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, "<html>welcome</html>")
	})
}

// TLSOnly speaks TLS, and closes all other connections silently, as Go servers do.
func TLSOnly(tb testing.TB, config *tls.Config) string {
	tb.Helper()
	return Each(tb, func(conn net.Conn) {
		if tls.Server(conn, config).Handshake() == nil { //nolint:noctx // it ends with the connection
			_, _ = io.Copy(io.Discard, conn)
		}
		_ = conn.Close()
	})
}

// Page responds to every path with a code and a text, which may be compressed with gzip. It returns its port on
// 127.0.0.1.
func Page(tb testing.TB, code int, text []byte) int {
	tb.Helper()
	address := web(tb, func(w http.ResponseWriter, _ *http.Request) {
		if bytes.HasPrefix(text, []byte("\x1f\x8b")) {
			w.Header().Set("Content-Encoding", "gzip")
		}
		w.WriteHeader(code)
		inBlocks(w, text)
	})
	_, port, _ := net.SplitHostPort(address)
	n, err := strconv.Atoi(port)
	if err != nil {
		tb.Fatal(err)
	}
	return n
}

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

// Each accepts connections for the time of a test and hands them to f.
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
			if open = append(open, conn); closed { // it came between the two closes below
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

// Silent accepts, reads, and never answers.
func Silent(tb testing.TB) string {
	tb.Helper()
	return Each(tb, func(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) })
}

// Garbage answers whatever comes with the same text.
func Garbage(tb testing.TB, text string) string {
	tb.Helper()
	return Each(tb, func(conn net.Conn) {
		_, _ = io.WriteString(conn, text)
		_, _ = io.Copy(io.Discard, conn)
	})
}

// HangsUp accepts, and closes at once.
func HangsUp(tb testing.TB) string {
	tb.Helper()
	return Each(tb, func(conn net.Conn) { _ = conn.Close() })
}

// web serves HTTP/1 and plaintext HTTP/2, so that gRPC can be answered by hand.
func web(tb testing.TB, handler http.HandlerFunc) string {
	tb.Helper()
	l := listen(tb)
	server := &http.Server{Handler: handler, Protocols: new(http.Protocols)} //nolint:gosec // it lives as long as a test
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

// message writes the head of a gRPC message: not compressed, so many bytes.
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

// Huge answers gRPC and HTTP with so many bytes, as fast as they are read. Sent counts
// what went out.
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

// Flood answers the gRPC calls of a method, "" for all, and HTTP requests in form, with the same
// bytes, which may well be a message of the right kind. It withholds the last of them, and
// never comes to an end, if stuck. It knows no other method.
func Flood(tb testing.TB, method string, answer []byte, stuck bool) string {
	tb.Helper()
	return web(tb, func(w http.ResponseWriter, r *http.Request) {
		if r.ProtoMajor == 2 {
			if !strings.HasSuffix(r.URL.Path, method) {
				w.Header().Set("Content-Type", "application/grpc")
				w.Header().Set("Grpc-Status", "12") // unimplemented
				return
			}
			w.Header().Set("Trailer", "Grpc-Status")
			message(w, uint32(len(answer)))
		}
		body := answer
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

// Packed answers gRPC calls in form, with a message that is packed, which nobody asked for.
func Packed(tb testing.TB) string {
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

// inBlocks writes so that the server holds no copy of it all.
func inBlocks(w io.Writer, body []byte) {
	for block := range slices.Chunk(body, 64<<10) {
		if _, err := w.Write(block); err != nil {
			return
		}
	}
}

// CutOff begins an answer and resets the stream in its middle.
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

// NoMessage answers gRPC calls in form, with bytes that are no message.
func NoMessage(tb testing.TB) string {
	tb.Helper()
	return web(tb, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Trailer", "Grpc-Status")
		message(w, 3)
		_, _ = w.Write([]byte{0xff, 0xff, 0xff})
		w.Header().Set("Grpc-Status", "0")
	})
}

// NotGRPC is a web server of another kind: it answers 200 and a page to everything.
func NotGRPC(tb testing.TB) string {
	tb.Helper()
	return web(tb, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, "<html>welcome</html>")
	})
}

// TLSOnly speaks TLS, and hangs up on everything else without a word, as servers of Go do.
func TLSOnly(tb testing.TB, config *tls.Config) string {
	tb.Helper()
	return Each(tb, func(conn net.Conn) {
		if tls.Server(conn, config).Handshake() == nil { //nolint:noctx // it ends with the connection
			_, _ = io.Copy(io.Discard, conn)
		}
		_ = conn.Close()
	})
}

// Page answers every path with a code and a text, which may be packed with gzip, and returns
// its port on 127.0.0.1.
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

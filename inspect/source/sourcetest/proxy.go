package sourcetest

import (
	"net"
	"sync"
	"testing"
)

// Proxy forwards a loopback port to an address. While it is frozen, it accepts data and forwards nothing, like
// a server whose process is stopped.
type Proxy struct {
	// Address is host:port of the listener.
	Address string

	mu     sync.Mutex
	frozen chan struct{} // closed by Thaw; nil unless frozen
	conns  map[net.Conn]bool
}

// StartProxy forwards to an address until the test ends.
func StartProxy(t testing.TB, to string) *Proxy {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{Address: l.Addr().String(), conns: map[net.Conn]bool{}}
	t.Cleanup(func() {
		_ = l.Close()
		p.Thaw()
		p.CloseConnections()
	})
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			out, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", to)
			if err != nil {
				_ = in.Close()
				continue
			}
			p.mu.Lock()
			p.conns[in], p.conns[out] = true, true
			p.mu.Unlock()
			go p.copy(out, in)
			go p.copy(in, out)
		}
	}()
	return p
}

func (p *Proxy) copy(to, from net.Conn) {
	defer func() { _, _ = to.Close(), from.Close() }()
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		if err != nil {
			return
		}
		p.mu.Lock()
		frozen := p.frozen
		p.mu.Unlock()
		if frozen != nil {
			<-frozen
		}
		if _, err := to.Write(buf[:n]); err != nil {
			return
		}
	}
}

// Freeze stops forwarding until Thaw.
func (p *Proxy) Freeze() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.frozen == nil {
		p.frozen = make(chan struct{})
	}
}

// Thaw forwards the data received while frozen, and resumes.
func (p *Proxy) Thaw() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.frozen != nil {
		close(p.frozen)
		p.frozen = nil
	}
}

// CloseConnections closes the current connections.
func (p *Proxy) CloseConnections() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		_ = c.Close()
	}
	clear(p.conns)
}

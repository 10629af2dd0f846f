package sourcetest

import (
	"net"
	"sync"
	"testing"
)

// Proxy forwards a port of loopback to an address, until it is told to stand still: it then takes what comes and passes
// nothing on, as a server does whose process is stopped.
type Proxy struct {
	// Address is host:port of the listener.
	Address string

	mu     sync.Mutex
	frozen chan struct{} // closed when it goes on; nil while it does
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
		p.Cut()
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

// Freeze passes nothing on until Thaw.
func (p *Proxy) Freeze() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.frozen == nil {
		p.frozen = make(chan struct{})
	}
}

// Thaw passes on what came meanwhile, and goes on.
func (p *Proxy) Thaw() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.frozen != nil {
		close(p.frozen)
		p.frozen = nil
	}
}

// Cut breaks the connections of now.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		_ = c.Close()
	}
	clear(p.conns)
}

package recorded

import "net"

// Refused returns a loopback address that refuses connections until release is called. The port of a closed
// listener may be reused a moment later. An outgoing connection holds this port, so that the system assigns it
// to no listener.
func Refused() (address string, release func(), err error) {
	l, err := listen()
	if err != nil {
		return "", nil, err
	}
	conn, err := net.Dial("tcp", l.Addr().String()) //nolint:noctx // to ourselves on loopback
	if err != nil {
		_ = l.Close()
		return "", nil, err
	}
	return conn.LocalAddr().String(), func() { _, _ = conn.Close(), l.Close() }, nil
}

func listen() (net.Listener, error) {
	return net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // taking a port of loopback does not wait
}

// ports are ports at which nothing listens.
type ports struct{ releases []func() }

// take takes a loopback port, and listens on it unless dead is set.
func (p *ports) take(dead bool) (l net.Listener, address string, err error) {
	if !dead {
		if l, err = listen(); err != nil {
			return nil, "", err
		}
		return l, l.Addr().String(), nil
	}
	address, release, err := Refused()
	if err == nil {
		p.releases = append(p.releases, release)
	}
	return nil, address, err
}

func (p *ports) release() {
	for _, release := range p.releases {
		release()
	}
}

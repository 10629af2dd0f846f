package source

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"kitescope/internal/hints"
)

// probeTimeout bounds the probe of an endpoint.
const probeTimeout = 2 * time.Second

// probe opens a plain connection to each endpoint and returns the reason why none can work. It returns nil if
// one can work, or if this is uncertain. It sets connected when an endpoint accepts the connection.
func (s *Etcd) probe(ctx context.Context, config *tls.Config, connected *atomic.Bool) error {
	verdicts := make([]error, len(s.address.hosts))
	var wg sync.WaitGroup
	for i, host := range s.address.hosts {
		wg.Go(func() { verdicts[i] = probeEndpoint(ctx, host, config, connected) })
	}
	wg.Wait()
	for _, verdict := range verdicts {
		if verdict == nil {
			return nil
		}
	}
	if len(verdicts) == 1 {
		return verdicts[0]
	}
	lines := make([]string, len(verdicts))
	for i, verdict := range verdicts {
		lines[i] = verdict.Error()
	}
	return hints.Errorf(hints.Of(verdicts[0]), "none of %d endpoints responds: %s", len(lines),
		strings.Join(lines, "; "))
}

func probeEndpoint(ctx context.Context, host string, config *tls.Config, connected *atomic.Bool) error {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", host)
	if err != nil {
		return dialVerdict(ctx, host, err)
	}
	defer func() { _ = conn.Close() }()
	connected.Store(true)
	if deadline, ok := ctx.Deadline(); ok {
		_ = conn.SetDeadline(deadline)
	}
	if config == nil {
		return probePlain(ctx, conn, host)
	}
	return probeTLS(ctx, conn, host, config)
}

func dialVerdict(ctx context.Context, host string, err error) error {
	var op *net.OpError
	var dns *net.DNSError
	switch {
	case ctx.Err() != nil || errors.Is(err, os.ErrDeadlineExceeded):
		return nil //nolint:nilerr // no verdict: the client may still get through.
	case errors.As(err, &dns):
		return hints.Errorf("check the host name", "connect to %s: no such host", host)
	case errors.As(err, &op):
		err = op.Err
		if call, ok := errors.AsType[*os.SyscallError](err); ok {
			err = call.Err
		}
	}
	return hints.Errorf("check the address, and that etcd or a port-forward listens there", "connect to %s: %w", host,
		err)
}

// http2Greeting is the connection preface of a client, with an empty SETTINGS frame (RFC 9113, 3.4).
const http2Greeting = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00"

// probePlain sends the HTTP/2 preface in plaintext. etcd responds with a SETTINGS frame; a TLS server closes
// the connection or sends an alert.
func probePlain(ctx context.Context, conn net.Conn, host string) error {
	answer, err := greet(conn)
	switch {
	case isSettings(answer):
		return nil
	case strings.HasPrefix(answer, "HTTP/1"):
		return hints.Errorf("name etcd's client port (2379 unless configured otherwise)",
			"connect to %s: a web server responds there, not etcd", host)
	case err != nil && errors.Is(err, os.ErrDeadlineExceeded):
		return nil
	case speaksTLS(ctx, host):
		return hints.Errorf("use etcds://"+host+
			" (and --ca FILE if its certificate is not signed by a known authority)",
			"connect to %s: the server requires TLS", host)
	}
	return hints.Errorf("name etcd's client port (2379 unless configured otherwise)",
		"connect to %s: the server there is not etcd", host)
}

func greet(conn net.Conn) (string, error) {
	if _, err := io.WriteString(conn, http2Greeting); err != nil {
		return "", err
	}
	answer := make([]byte, 9)
	n, err := io.ReadAtLeast(conn, answer, 5)
	return string(answer[:n]), err
}

func isSettings(answer string) bool {
	return len(answer) >= 5 && answer[3:5] == "\x04\x00" && answer[0] == 0
}

// speaksTLS reports whether a TLS handshake succeeds. It accepts any certificate, because it only detects the
// protocol and sends no data.
func speaksTLS(ctx context.Context, host string) bool {
	dialer := tls.Dialer{
		Config: &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12},
	} //nolint:gosec // see above.
	conn, err := dialer.DialContext(ctx, "tcp", host)
	if err == nil {
		_ = conn.Close()
		return true
	}
	var alert tls.AlertError
	return errors.As(err, &alert) || strings.Contains(err.Error(), "remote error: tls")
}

// speaksPlain reports whether the host responds without TLS. It uses a separate connection, because etcd closes
// the connection after an unexpected handshake.
func speaksPlain(ctx context.Context, host string) bool {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", host)
	if err != nil {
		return false
	}
	defer func() { _ = conn.Close() }()
	if deadline, ok := ctx.Deadline(); ok {
		_ = conn.SetDeadline(deadline)
	}
	answer, _ := greet(conn)
	return isSettings(answer)
}

// probeTLS performs the same handshake as the client and sends the HTTP/2 preface, because a server that
// requires a client certificate reports this only after the handshake (TLS 1.3).
func probeTLS(ctx context.Context, conn net.Conn, host string, config *tls.Config) error {
	config = config.Clone()
	if config.ServerName == "" {
		config.ServerName, _, _ = net.SplitHostPort(host)
	}
	config.NextProtos = []string{"h2"}
	secure := tls.Client(conn, config)
	err := secure.HandshakeContext(ctx)
	if err == nil {
		_, err = greet(secure)
	}
	return tlsVerdict(ctx, host, secure, config, err)
}

func tlsVerdict(ctx context.Context, host string, secure *tls.Conn, config *tls.Config, err error) error {
	var record tls.RecordHeaderError
	var authority x509.UnknownAuthorityError
	var name x509.HostnameError
	var invalid x509.CertificateInvalidError
	wrap := func(advice string) error { return hints.Errorf(advice, "connect to %s: %w", host, err) }
	switch {
	case err == nil, ctx.Err() != nil, errors.Is(err, os.ErrDeadlineExceeded):
		return nil //nolint:nilerr // no verdict: the client may still get through.
	case errors.As(err, &record), !secure.ConnectionState().HandshakeComplete && speaksPlain(ctx, host):
		return hints.Errorf("use etcd://"+host, "connect to %s: the server does not speak TLS", host)
	case errors.As(err, &authority):
		err = errors.New("its certificate is signed by an authority unknown to this machine")
		return wrap("give the authority's certificate with --ca FILE")
	case errors.As(err, &name):
		err = fmt.Errorf("its certificate is not for %q", config.ServerName)
		return wrap("name the host that the certificate is for with --server-name")
	case errors.As(err, &invalid):
		return wrap("check the dates and the use of the server's certificate, and this machine's clock")
	case strings.Contains(err.Error(), "certificate required"), strings.Contains(err.Error(), "bad certificate"),
		strings.Contains(err.Error(), "unknown certificate authority"),
		errors.Is(err, io.EOF) && len(config.Certificates) == 0:
		return wrap("the server requires a client certificate that it trusts: --cert FILE --key FILE")
	}
	return wrap("check the TLS files and the address")
}

package source_test

import (
	"errors"
	"net/url"
	"strings"
	"testing"
	"time"

	"go.etcd.io/etcd/client/pkg/v3/transport"
	"go.etcd.io/etcd/server/v3/embed"

	"kitescope/inspect/source"
	"kitescope/inspect/source/sourcetest"
	"kitescope/internal/hints"
)

// tlsServer starts an etcd that requires TLS from its clients.
func tlsServer(t *testing.T, cert, key, clientCA string) *sourcetest.Server {
	t.Helper()
	return sourcetest.StartEtcd(t, func(c *embed.Config) {
		listen := url.URL{Scheme: "https", Host: "127.0.0.1:0"}
		c.ListenClientUrls, c.AdvertiseClientUrls = []url.URL{listen}, []url.URL{listen}
		c.ClientTLSInfo = transport.TLSInfo{
			CertFile: cert, KeyFile: key, ClientCertAuth: clientCA != "", TrustedCAFile: clientCA,
		}
	})
}

// pinError opens and pins a source, and returns the error.
func pinError(t *testing.T, from string, opts source.Options) error {
	t.Helper()
	if opts.DialTimeout == 0 {
		opts.DialTimeout = 3 * time.Second
	}
	src, err := source.Open(t.Context(), from, opts)
	if err != nil {
		return err
	}
	defer func() { _ = src.Close() }()
	_, err = src.Pin(t.Context())
	return err
}

// expectHint checks that the error is one line with inError and has a hint with inHint.
func expectHint(t *testing.T, err error, inError, inHint string) {
	t.Helper()
	if err == nil {
		t.Error("no error")
		return
	}
	if !strings.Contains(err.Error(), inError) || strings.Contains(err.Error(), "\n") {
		t.Errorf("error %q, want one line with %q", err, inError)
	}
	var h *hints.Error
	if !errors.As(err, &h) {
		t.Errorf("error %q has no hint", err)
		return
	}
	if !strings.Contains(h.Hint(), inHint) || h.Hint() == "" {
		t.Errorf("error %q has the hint %q, want %q in it", err, h.Hint(), inHint)
	}
}

func TestServerTLS(t *testing.T) {
	ca, stranger := newAuthority(t, "ours"), newAuthority(t, "strange")
	cert, key := ca.issue(t, "server", false, "127.0.0.1", "etcd.example")
	server := tlsServer(t, cert, key, "")
	address := "etcds://" + server.Address

	// The store is empty. An error about its content proves that it was read.
	for name, opts := range map[string]source.TLS{
		"authority":         {CAFile: ca.file},
		"other server name": {CAFile: ca.file, ServerName: "etcd.example"},
		"no verification":   {InsecureSkipVerify: true},
	} {
		var root *source.RootError
		if err := pinError(t, address, source.Options{TLS: opts}); !errors.As(err, &root) {
			t.Errorf("%s: %v, want a RootError", name, err)
		}
	}
	start := time.Now()
	expectHint(t, pinError(t, address, source.Options{}), "authority", "--ca")
	expectHint(t, pinError(t, address, source.Options{TLS: source.TLS{CAFile: stranger.file}}), "authority", "--ca")
	expectHint(t, pinError(t, address, source.Options{TLS: source.TLS{CAFile: ca.file, ServerName: "elsewhere"}}),
		`not for "elsewhere"`, "--server-name")
	expectHint(t, pinError(t, "etcd://"+server.Address, source.Options{}), "the server requires TLS", "etcds://")
	if took := time.Since(start); took > 3*time.Second {
		t.Errorf("four mistakes took %s to be told, not a moment each", took)
	}
}

func TestExpiredServerCertificate(t *testing.T) {
	ca := newAuthority(t, "ours")
	cert, key := ca.issue(t, "server", true, "127.0.0.1")
	server := tlsServer(t, cert, key, "")
	err := pinError(t, "etcds://"+server.Address, source.Options{TLS: source.TLS{CAFile: ca.file}})
	expectHint(t, err, "expired", "clock")
}

func TestMutualTLS(t *testing.T) {
	ca, stranger := newAuthority(t, "ours"), newAuthority(t, "strange")
	cert, key := ca.issue(t, "server", false, "127.0.0.1")
	clientCert, clientKey := ca.issue(t, "reader", false)
	strangeCert, strangeKey := stranger.issue(t, "reader", false)
	server := tlsServer(t, cert, key, ca.file)
	address := "etcds://" + server.Address

	var root *source.RootError
	good := source.TLS{CAFile: ca.file, CertFile: clientCert, KeyFile: clientKey}
	if err := pinError(t, address, source.Options{TLS: good}); !errors.As(err, &root) {
		t.Errorf("with a client certificate: %v, want a RootError", err)
	}
	expectHint(t, pinError(t, address, source.Options{TLS: source.TLS{CAFile: ca.file}}), "certificate required",
		"--cert")
	strange := source.TLS{CAFile: ca.file, CertFile: strangeCert, KeyFile: strangeKey}
	expectHint(t, pinError(t, address, source.Options{TLS: strange}), "certificate", "--cert")
	half := source.TLS{CAFile: ca.file, CertFile: clientCert}
	expectHint(t, pinError(t, address, source.Options{TLS: half}), "missing", "--key")
	noPEM := source.TLS{CAFile: clientKey}
	expectHint(t, pinError(t, address, source.Options{TLS: noPEM}), "no certificate", "PEM")
}

func TestTLSToPlainPort(t *testing.T) {
	server := sourcetest.StartEtcd(t, nil)
	expectHint(t, pinError(t, "etcds://"+server.Address, source.Options{}), "does not speak TLS",
		"use etcd://"+server.Address)
}

package livetest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Authority signs certificates for one test.
type Authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// NewAuthority returns a new authority that no other test trusts.
func NewAuthority(tb testing.TB) *Authority {
	tb.Helper()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "livetest"}, NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().Add(time.Hour),
		IsCA:     true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	a := &Authority{key: newKey(tb)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &a.key.PublicKey, a.key)
	if err != nil {
		tb.Fatal(err)
	}
	if a.cert, err = x509.ParseCertificate(der); err != nil {
		tb.Fatal(err)
	}
	return a
}

// File writes the authority's certificate to a PEM file and returns its path.
func (a *Authority) File(tb testing.TB) string {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "ca.pem")
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.cert.Raw}), 0o600); err !=
		nil {
		tb.Fatal(err)
	}
	return path
}

func newKey(tb testing.TB) *ecdsa.PrivateKey {
	tb.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		tb.Fatal(err)
	}
	return key
}

// Server returns the configuration of a server with the given names or addresses. It requires a client
// certificate only if clients is not nil.
func (a *Authority) Server(tb testing.TB, clients *Authority, names ...string) *tls.Config {
	tb.Helper()
	config := &tls.Config{
		Certificates: []tls.Certificate{a.issue(tb, names...)}, NextProtos: []string{"h2"},
		MinVersion: tls.VersionTLS12,
	}
	if clients != nil {
		config.ClientAuth, config.ClientCAs = tls.RequireAndVerifyClientCert, clients.pool()
	}
	return config
}

// Client returns the configuration of a client that trusts the authority. It has a certificate of its own if
// signer is not nil.
func (a *Authority) Client(tb testing.TB, signer *Authority) *tls.Config {
	tb.Helper()
	config := &tls.Config{RootCAs: a.pool(), MinVersion: tls.VersionTLS12}
	if signer != nil {
		config.Certificates = []tls.Certificate{signer.issue(tb, "client")}
	}
	return config
}

func (a *Authority) pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(a.cert)
	return pool
}

func (a *Authority) issue(tb testing.TB, names ...string) tls.Certificate {
	tb.Helper()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: names[0]},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	for _, name := range names {
		if ip := net.ParseIP(name); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, name)
		}
	}
	key := newKey(tb)
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, &key.PublicKey, a.key)
	if err != nil {
		tb.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

package source

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"kitescope/internal/hints"
	"kitescope/internal/interrupt"
)

// Options are the settings of Open. The zero value is usable.
type Options struct {
	// Root is the root path ("by-dev") or the root and the metadata sub path ("by-dev/meta"). If it is empty,
	// the root is detected. Root takes precedence over a root in the URI.
	Root string
	// Username and Password are the credentials for etcd. Neither appears in an Origin or an error.
	Username, Password string
	// TLS applies only to etcds:// addresses.
	TLS TLS
	// DialTimeout bounds connecting, RequestTimeout bounds one request. 0 means 5 and 30 seconds.
	DialTimeout, RequestTimeout time.Duration
	// StaleRead reads the state of a single etcd member without a quorum. It makes it possible to read an etcd
	// that has lost its leader.
	StaleRead bool
	// Stdin is the reader for "-".
	Stdin io.Reader
	// Salvage reads as much as possible of a damaged file; the rest becomes Gaps.
	Salvage bool
	// MemoryLimit bounds the memory for a piped or compressed file, in bytes; 0 means 2 GiB. A plain file is
	// read in place.
	MemoryLimit int64
	// Limits bounds one scan of an etcd, a backup or a bundle.
	Limits Limits
	// Now returns the current time; nil means time.Now.
	Now func() time.Time
	// Log receives a line for each call to etcd, from any goroutine. It may be nil.
	Log func(line string)
}

// TLS holds the file names of an encrypted connection. All are optional: without CAFile, the system's
// certificate authorities are used.
type TLS struct {
	CAFile, CertFile, KeyFile string
	// ServerName is the required name in the server certificate. If it is empty, the host of the endpoint is
	// required.
	ServerName string
	// InsecureSkipVerify accepts any server certificate.
	InsecureSkipVerify bool
}

func (o Options) dialTimeout() time.Duration { return cmp.Or(o.DialTimeout, 5*time.Second) }

func (o Options) requestTimeout() time.Duration { return cmp.Or(o.RequestTimeout, 30*time.Second) }

func (o Options) memoryLimit() int64 { return cmp.Or(o.MemoryLimit, 2<<30) }

// Open parses from and opens it as a Source:
//
//	etcd://host:port[,host:port][/root[/sub]]   a live etcd (etcds:// for TLS)
//	path, file://path                           a file, in a format detected by its first bytes
//	-                                           standard input, as a file
//
// Files may be compressed with gzip, up to three times. A compressed or piped etcd snapshot is decompressed
// in memory (Options.MemoryLimit), never to a temporary file. A directory is opened as the data directory of
// an etcd member, or as a recording.
func Open(ctx context.Context, from string, opts Options) (Source, error) {
	at, err := locate(from)
	switch {
	case err != nil:
		return nil, err
	case at.stdin:
		return openStdin(ctx, opts)
	case at.etcd != nil:
		return newEtcd(*at.etcd, opts), nil
	}
	return openPath(ctx, at.path, opts)
}

// Find returns the error that Open would return before it reads or connects, e.g. if from is a path and no such
// file exists.
func Find(from string) error {
	at, err := locate(from)
	if err == nil && at.path != "" {
		_, err = statPath(at.path)
	}
	return err
}

// origin is a parsed source argument. Exactly one field is set.
type origin struct {
	stdin bool
	etcd  *etcdAddress
	path  string
}

func locate(from string) (origin, error) {
	scheme, rest, hasScheme := strings.Cut(from, "://")
	switch {
	case from == "":
		return origin{},
			hints.Errorf("name one with --from: etcd://host:2379, a file, or - for standard input", "no source named")
	case from == "-":
		return origin{stdin: true}, nil
	case scheme == "etcd" && hasScheme, scheme == "etcds" && hasScheme:
		address, err := parseEtcd(from)
		return origin{etcd: &address}, err
	case scheme == "file" && hasScheme:
		return origin{path: filePath(rest)}, nil
	case scheme == "http" && hasScheme:
		return origin{},
			hints.Errorf("did you mean etcd://"+withoutUser(rest)+"?", "open %s: etcd is not read over http",
				redactAddress(from))
	case scheme == "https" && hasScheme:
		return origin{},
			hints.Errorf("did you mean etcds://"+withoutUser(rest)+"?", "open %s: etcd is not read over https",
				redactAddress(from))
	case hasScheme && len(scheme) > 1 && !strings.ContainsAny(scheme, `/\.`): // a single letter is a drive
		return origin{}, hints.Errorf("supported: etcd://, etcds:// and file://",
			"open %s: unknown scheme %q", redactAddress(from), scheme)
	}
	return origin{path: from}, nil
}

// redactAddress removes user info, which may include a password, from an address.
func redactAddress(from string) string {
	scheme, rest, ok := strings.Cut(from, "://")
	user, authority, path := cutAuthority(rest)
	if !ok || user == "" {
		return from
	}
	return scheme + "://" + authority + "/" + path
}

// withoutUser removes user info from the part of an address after the scheme.
func withoutUser(rest string) string {
	_, address, _ := strings.Cut(redactAddress("any://"+rest), "://")
	return address
}

// filePath returns the path of a file:// address. Browsers and file managers percent-encode the path, and on
// Windows they put a slash before the drive letter.
func filePath(rest string) string {
	if path, err := url.PathUnescape(rest); err == nil && path != rest {
		if _, err := os.Stat(rest); errors.Is(err, fs.ErrNotExist) {
			rest = path
		}
	}
	if len(rest) > 2 && rest[0] == '/' && rest[2] == ':' && filepath.Separator != '/' {
		rest = rest[1:]
	}
	return filepath.FromSlash(rest)
}

// statPath returns the FileInfo of a path, or an error with a hint.
func statPath(path string) (fs.FileInfo, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && looksLikeAddress(path):
		return nil, hints.Errorf("did you mean etcd://"+path+"?", "read %s: no such file", path)
	case errors.Is(err, fs.ErrNotExist):
		return nil, hints.Errorf("name a file, or etcd://host:port", "read %s: no such file", path)
	case err != nil:
		return nil, fmt.Errorf("open %s: %w", path, cause(err))
	}
	return info, nil
}

func openPath(ctx context.Context, path string, opts Options) (Source, error) {
	info, err := statPath(path)
	switch {
	case err != nil:
		return nil, err
	case info.IsDir():
		if db, ok := memberDB(path); ok {
			return openPath(ctx, db, opts)
		}
		return openRecording(ctx, path, opts)
	}
	if !info.Mode().IsRegular() {
		return openPipe(ctx, path, opts)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, cause(err))
	}
	return openInput(ctx, input{location: path, modified: info.ModTime(), file: f, ReaderAt: f, size: info.Size()},
		opts)
}

// openPipe opens a named pipe or /dev/stdin, which can be read only once and sequentially.
func openPipe(ctx context.Context, path string, opts Options) (Source, error) {
	in, err := interrupt.Wait(ctx, func() (input, error) {
		in := input{location: path}
		f, err := os.Open(path)
		if err != nil {
			return in, fmt.Errorf("open %s: %w", path, cause(err))
		}
		defer f.Close()
		return in, in.readAll(f, opts.memoryLimit())
	})
	if err != nil {
		return nil, err
	}
	return openInput(ctx, in, opts)
}

func openStdin(ctx context.Context, opts Options) (Source, error) {
	in := input{location: "-"}
	if opts.Stdin == nil {
		return nil, hints.Errorf("pipe a file into it", "open -: no standard input")
	}
	if err := in.readAll(opts.Stdin, opts.memoryLimit()); err != nil {
		return nil, err
	}
	return openInput(ctx, in, opts)
}

// memberDB returns the path of the database in a data directory of etcd.
func memberDB(dir string) (string, bool) {
	for _, inside := range []string{"member/snap/db", "snap/db", "db"} {
		path := filepath.Join(dir, filepath.FromSlash(inside))
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path, true
		}
	}
	return "", false
}

// cause removes the operation and the path from an os error, because callers add both.
func cause(err error) error {
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		return path.Err
	}
	return err
}

// Load reads the files into a client configuration. Hints refer to flags with the prefix flag.
func (t TLS) Load(flag string) (*tls.Config, error) {
	config := &tls.Config{
		ServerName: t.ServerName, MinVersion: tls.VersionTLS12,
		InsecureSkipVerify: t.InsecureSkipVerify, //nolint:gosec // the user asks for it by name.
	}
	if t.CAFile != "" {
		pemBytes, err := os.ReadFile(t.CAFile)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", t.CAFile, cause(err))
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(pemBytes) {
			return nil, hints.Errorf(flag+"ca needs a PEM file", "%s: no certificate in it", t.CAFile)
		}
	}
	if (t.CertFile == "") != (t.KeyFile == "") {
		return nil,
			hints.Errorf("a client certificate needs both "+flag+"cert and "+flag+"key",
				"client certificate: one of two files is missing")
	}
	if t.CertFile != "" {
		pair, err := tls.LoadX509KeyPair(t.CertFile, t.KeyFile)
		if err != nil {
			return nil, hints.Attach(fmt.Errorf("client certificate: %w", err), "check "+flag+"cert and "+flag+"key")
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return config, nil
}

// commonName returns the common name of the client certificate, or "" if it cannot be read.
func (t TLS) commonName() string {
	data, err := os.ReadFile(t.CertFile)
	if err != nil {
		return ""
	}
	block, _ := pem.Decode(data)
	if block == nil {
		return ""
	}
	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return ""
	}
	return cert.Subject.CommonName
}

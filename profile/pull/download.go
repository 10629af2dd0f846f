package pull

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// partName is the prefix of incomplete files.
const partName = ".pull-"

// attempt requests the profile once. It returns an error only for local problems, e.g. if a file cannot be written.
func (p *puller) attempt(ctx context.Context, w *processConn, e *Entry) (*failure, error) {
	switch cause := context.Cause(ctx); {
	case isTimeout(cause):
		return newFailure(NotAsked, "not started within the %s for this process", p.opts.Total), nil
	case cause != nil:
		return newFailure(Interrupted, "stopped before the request was sent"), nil
	}
	part, err := os.CreateTemp(p.dir, partName+"*")
	if err != nil {
		return nil, fmt.Errorf("save the profiles: %w", err)
	}
	defer os.Remove(part.Name()) // already renamed on success
	got, f, err := p.receive(ctx, w, e, part)
	if closeErr := part.Close(); err == nil && closeErr != nil {
		err = closeErr
	}
	if f == nil && err == nil {
		f, err = p.verify(ctx, part.Name(), e, got)
	}
	if err != nil {
		return nil, fmt.Errorf("save the profile of %s: %w", e.Node, err)
	}
	if f != nil {
		return f, nil
	}
	e.Bytes, e.SHA256 = got.bytes, hex.EncodeToString(got.sum.Sum(nil))
	e.File = p.files.reserve(fileName(e.Node, e.Kind, got.packed))
	if err := os.Rename(part.Name(), filepath.Join(p.dir, e.File)); err != nil {
		return nil, fmt.Errorf("save the profile of %s: %w", e.Node, err)
	}
	return nil, nil
}

// download is a received response.
type download struct {
	contentType string
	bytes       int64
	sum         hash.Hash
	head        []byte
	// packed is true if the body begins like gzip.
	packed bool
	took   time.Duration
}

// sniffLen is how many leading bytes are used to detect the content of a response.
const sniffLen = 512

// receive requests the profile and writes the response to a file. It returns an error only if writing fails.
func (p *puller) receive(ctx context.Context, w *processConn, e *Entry, to *os.File) (*download, *failure, error) {
	u, window := w.target.urlOf(e.Kind, p.opts.Seconds)
	patience := remainingTimeout(ctx, p.opts.Timeout+time.Duration(window)*time.Second)
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	header := p.header(w.target)
	request := (&http.Request{
		Method: http.MethodGet, URL: u, Host: cmp.Or(header.Get("Host"), u.Host), Header: header,
	}).WithContext(ctx)
	start := time.Now()
	e.From = p.clock().UTC()
	response, err := w.client.Do(request)
	e.To = p.clock().UTC()
	if err != nil {
		f := responseFailure(p.cause(ctx, err), patience)
		f.retryable = f.outcome == CutOff && time.Since(start) < time.Second // servers may close waiting connections
		return nil, f, nil
	}
	defer response.Body.Close()
	if f := p.judge(w.target, response); f != nil {
		return nil, f, nil
	}
	got := &download{contentType: response.Header.Get("Content-Type"), sum: sha256.New()}
	if response.ContentLength > p.opts.MaxBytes {
		return nil,
			newFailure(TooLarge, "%d bytes, more than the limit of %d", response.ContentLength, p.opts.MaxBytes), nil
	}
	body := &source{r: io.LimitReader(response.Body, p.opts.MaxBytes+1)}
	got.bytes, err = io.Copy(io.MultiWriter(to, got.sum, got), body)
	e.To, got.took = p.clock().UTC(), time.Since(start)
	switch {
	case body.err != nil:
		return nil, responseFailure(p.cause(ctx, body.err), patience), nil
	case err != nil:
		return nil, nil, err
	case got.bytes > p.opts.MaxBytes:
		return nil, newFailure(TooLarge, "more than the limit of %d bytes", p.opts.MaxBytes), nil
	}
	got.packed = len(got.head) > 1 && got.head[0] == 0x1f && got.head[1] == 0x8b
	return got, nil, nil
}

// cause returns err, or the cancellation that caused it.
func (p *puller) cause(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); errors.Is(cause, context.Canceled) {
		return cause
	}
	if own, ok := errors.AsType[*url.Error](err); ok {
		return own.Err // without *url.Error, which repeats the whole URL
	}
	return err
}

func (p *puller) header(t *Target) http.Header {
	h := http.Header{"Accept": {"application/octet-stream, */*;q=0.1"}, "User-Agent": {"kitescope"}}
	maps.Copy(h, p.opts.Header)
	if t.authorization != "" { // the credentials of a target take precedence over those for all targets
		h.Set("Authorization", t.authorization)
	}
	return h
}

// source records read errors, to distinguish them from write errors.
type source struct {
	r   io.Reader
	err error
}

func (s *source) Read(b []byte) (int, error) {
	n, err := s.r.Read(b)
	if err != nil && !errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		s.err = err
	}
	return n, err
}

// maxErrorBody is how many bytes of an error response are read.
const maxErrorBody = 4 << 10

// judge returns the failure for an error response, or nil for success.
func (p *puller) judge(t *Target, r *http.Response) *failure {
	if r.StatusCode == http.StatusOK {
		return nil
	}
	said := p.errorText(t, r)
	if f := milvusFailure(t, r, said); f != nil {
		return f
	}
	switch code := r.StatusCode; {
	case code >= 300 && code < 400:
		return redirected(r)
	case code == http.StatusUnauthorized, code == http.StatusForbidden, code == http.StatusProxyAuthRequired:
		return newFailure(Denied, "%s%s", r.Status, said).
			withHint("give user and password in the URL, or a token (see the help)")
	case code == http.StatusNotFound && strings.Contains(said, "Unknown profile"):
		// from net/http/pprof: the path is right
		return newFailure(NotFound, "%s%s", r.Status, said)
	case code == http.StatusNotFound, code == http.StatusMethodNotAllowed, code == http.StatusNotImplemented:
		return newFailure(NotFound, "%s%s", r.Status, said).
			withHint("name the path where the service has its profiles: http://host:port/path/debug/pprof")
	case strings.Contains(said, "HTTP request to an HTTPS server"): // net/http, server.go
		return newFailure(Denied, "%s%s", r.Status, said).withHint("use https:// instead of http://")
	case isBusy(said):
		return newFailure(Busy, "another profile of the process is being taken%s", said)
	// net/http/pprof of older Go: durationExceedsWriteTimeout (golang/go#62358).
	case strings.Contains(said, "exceeds server's WriteTimeout"):
		return newFailure(Failed, "%s%s", r.Status, said).
			withHint("the server's write timeout is shorter: use fewer --seconds")
	default:
		return newFailure(Failed, "%s%s", r.Status, said)
	}
}

// isBusy reports whether the server refuses because another profile is running and it allows only one at a
// time. The messages are those of Go's runtime/pprof (StartCPUProfile) and runtime/trace (Start), and of
// servers that use the same wording.
func isBusy(message string) bool {
	return slices.ContainsFunc([]string{
		"profiling already in use", "tracing is already enabled", "profiler already running",
	}, func(words string) bool { return strings.Contains(message, words) })
}

// errorText returns the text of an error response as ": text", or "" if it is empty or HTML. Sent credentials are
// removed before truncation, because a truncated secret would not be recognized.
func (p *puller) errorText(t *Target, r *http.Response) string {
	if kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); strings.Contains(kind, "html") {
		return ""
	}
	body, _ := io.ReadAll(io.LimitReader(r.Body, maxErrorBody)) // a partial body is enough
	text := strings.TrimSpace(string(body))
	if text == "" || strings.HasPrefix(text, "<") {
		return ""
	}
	return ": " + p.redactedReason(t, text)
}

func redirected(r *http.Response) *failure {
	to, err := r.Location()
	if err != nil {
		return newFailure(Redirected, "%s", r.Status)
	}
	to.User, to.RawQuery, to.Fragment = nil, "", ""
	return newFailure(Redirected, "%s: to %s", r.Status, to).
		withHint("redirects are not followed: name the address that serves profiles")
}

// Write keeps the first bytes.
func (a *download) Write(b []byte) (int, error) {
	if room := sniffLen - len(a.head); room > 0 {
		a.head = append(a.head, b[:min(room, len(b))]...)
	}
	return len(b), nil
}

package live

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
)

// openSearchReads asks an OpenSearch. These are all paths that this package can ask for: what the server is, a mapping, a search.
type openSearchReads struct {
	client         *http.Client
	base, host     string
	user, password string
	deadline       time.Duration
}

// newOpenSearchReads prepares connections; nothing is dialed.
func newOpenSearchReads(a *address, o *Options, secure *tls.Config) openSearchReads {
	transport := &http.Transport{
		DialContext: o.Dial, TLSClientConfig: secure, TLSHandshakeTimeout: o.Deadline, MaxIdleConnsPerHost: 4096, IdleConnTimeout: time.Minute,
		DisableCompression: true, MaxResponseHeaderBytes: largestHeader,
	}
	r := openSearchReads{host: a.host, base: "http://" + a.host, user: a.user, password: a.password, deadline: o.Deadline}
	if secure != nil {
		r.base = "https://" + a.host
	}
	r.client = &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse // whoever redirects would be given credentials
	}}
	return r
}

// readsOnly are the ends of paths that change nothing.
func readsOnly(method, path string) bool {
	path, _, _ = strings.Cut(path, "?")
	if method == http.MethodPost {
		return strings.HasSuffix(path, "/_search")
	}
	return method == http.MethodGet && (path == "/" || path == "/_cluster/health" || strings.HasSuffix(path, "/_mapping"))
}

// ask has the server answer, and decodes what it says. An error is a *FaultError, or that of ctx.
func (r *openSearchReads) ask(ctx context.Context, method, path string, body []byte, most int64, into any) error {
	if !readsOnly(method, path) {
		return fault(Failed, "not sent: it is not a read", "")
	}
	bounded, cancel := context.WithTimeout(ctx, r.deadline)
	defer cancel()
	request, err := http.NewRequestWithContext(bounded, method, r.base+path, bytes.NewReader(body))
	if err != nil {
		return fault(Mismatch, "the target's address does not parse", "write opensearch://[user:password@]host:port/index")
	}
	request.Header.Set("User-Agent", "kitescope")
	request.Header.Set("Accept", "application/json")
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	if r.user != "" {
		request.SetBasicAuth(r.user, r.password)
	}
	response, err := r.client.Do(request)
	if err != nil {
		return r.fault(ctx, err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, most+1))
	switch {
	case err != nil:
		return r.fault(ctx, err)
	case int64(len(text)) > most:
		return faultf(Garbled, "give the port of an OpenSearch, 9200 by default", "%s sent more than an answer can have", r.host)
	case response.StatusCode != http.StatusOK:
		return r.refusal(response.StatusCode, text)
	}
	if err := json.Unmarshal(text, into); err != nil {
		return r.stranger()
	}
	return nil
}

func (r *openSearchReads) stranger() *FaultError {
	return faultf(Garbled, "give the port of an OpenSearch, 9200 by default", "%s does not answer like OpenSearch", r.host)
}

// fault says why there was no answer, without the words of net/http, which repeat the address.
func (r *openSearchReads) fault(ctx context.Context, err error) error {
	if gone := ended(ctx); gone != nil {
		return gone
	}
	var timeout net.Error
	switch f := tlsFault(err.Error(), r.host); {
	case f != nil:
		return f
	case strings.Contains(err.Error(), "server gave HTTP response to HTTPS client"):
		return faultf(Denied, "turn TLS off, or use the TLS port", "%s does not speak TLS", r.host)
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		f := late(ctx, r.deadline)
		f.Advice += "; check that OpenSearch listens at " + r.host
		return f
	}
	if f := dialFault(err, r.host); f != nil {
		return f
	}
	switch text := err.Error(); {
	case strings.Contains(text, "malformed HTTP"), strings.Contains(text, "server's response headers exceeded"):
		return r.stranger()
	case strings.Contains(text, "EOF"), strings.Contains(text, "connection reset"), strings.Contains(text, "broken pipe"), strings.Contains(text, "closed"):
		return faultf(Unreachable, "check that it is OpenSearch and still running; with TLS the address ends in ?tls=true", "%s closed the connection", r.host)
	}
	return faultf(Unreachable, "check the address, and that the server is running", "no connection with %s", r.host)
}

// refusal sorts what the server says with another status than 200: {"error": {"type", "reason", "root_cause": []}, "status"}, or a text.
func (r *openSearchReads) refusal(status int, text []byte) *FaultError {
	var answer struct {
		Error json.RawMessage `json:"error"`
	}
	type cause struct {
		Type, Reason string
	}
	var why struct {
		cause
		Roots []cause `json:"root_cause"`
	}
	first := why.cause
	if json.Unmarshal(text, &answer) == nil && json.Unmarshal(answer.Error, &why) == nil {
		first = why.cause
		if len(why.Roots) > 0 {
			first = why.Roots[0]
		}
	} else {
		_ = json.Unmarshal(answer.Error, &first.Reason) // some errors are a text
	}
	reason := said(first.Reason)
	if reason == "" {
		reason = "HTTP " + http.StatusText(status)
	}
	switch {
	case status == http.StatusUnauthorized:
		return faultf(Denied, "give the user in the address, and the password in KITESCOPE_TARGET_PASSWORD", "%s does not accept the credentials", r.host)
	case status == http.StatusForbidden:
		return fault(Denied, "denied: "+reason, "grant the user to read the index and its mapping")
	case first.Type == "index_not_found_exception":
		return fault(NotFound, "not found: "+reason, "check the index's name")
	case status == http.StatusTooManyRequests:
		return fault(Limited, "limited: "+reason, "use fewer sessions, or raise the server's limits")
	case status == http.StatusRequestTimeout, status == http.StatusGatewayTimeout:
		return fault(TimedOut, "the server gave up: "+reason, "raise the deadline to wait longer")
	case status == http.StatusServiceUnavailable, status == http.StatusBadGateway:
		return fault(Unreachable, "unavailable: "+reason, "check that the index's shards are assigned, and the server is healthy")
	case status >= 300 && status < 400:
		return faultf(Garbled, "give the address of the OpenSearch itself", "%s redirects to another place, which is not followed", r.host)
	case first.Type == "" && status == http.StatusNotFound:
		return r.stranger()
	}
	return fault(Failed, "refused: "+reason, "")
}

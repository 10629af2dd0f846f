package live

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/milvus-io/milvus/pkg/v2/proto/internalpb"
	"google.golang.org/protobuf/proto"

	"kitescope/inspect/model"
)

// scrapes are the HTTP servers that were asked already: a process may hold many sessions
// and has one.
type scrapes struct {
	mu    sync.Mutex
	begun map[string]bool
	// known are the processes, by ServerID, that told their port; unknown are sessions that did not.
	known   map[model.NodeID]bool
	unknown []*session
}

// begin reports whether address is still to be asked.
func (s *scrapes) begin(address string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	first := !s.begun[address]
	s.begun[address] = true
	return first
}

// learn reads out of a session's configuration whom else to ask: the process's own
// HTTP server, and the message queue.
func (a *asking) learn(ctx context.Context, s *session, response []byte) {
	config := new(internalpb.ShowConfigurationsResponse)
	if proto.Unmarshal(response, config) != nil {
		return // the Decoder says so
	}
	values := make(map[string]string, len(config.GetConfiguations()))
	for _, pair := range config.GetConfiguations() {
		values[model.FoldConfigKey(pair.GetKey())] = pair.GetValue()
	}
	a.queue.Do(func() { a.askQueue(values) })
	port, err := strconv.ParseUint(values["commonmetricsport"], 10, 16)
	if err != nil || port == 0 {
		a.scrapeElsewhere(ctx, s)
		return
	}
	a.scrapes.mu.Lock()
	a.scrapes.known[s.Node] = true
	a.scrapes.mu.Unlock()
	a.scrape(ctx, s, int(port))
}

// tellsPort reports whether a session of the same process is asked for its configuration.
// ServerIDs are unique in a cluster, and one process's since 2.3.
func (p *plan) tellsPort(s *session) bool {
	return slices.ContainsFunc(p.sessionsOf[s.Node], func(x *session) bool {
		return slices.ContainsFunc(x.inquiries, func(q inquiry) bool { return lastPart(q.method) == "ShowConfigurations" })
	})
}

// scrapeElsewhere asks the HTTP server of a process that does not tell its configuration
// where the user says that it is.
func (a *asking) scrapeElsewhere(ctx context.Context, s *session) {
	if a.client.opts.MetricsPort > 0 {
		a.scrape(ctx, s, a.client.opts.MetricsPort)
		return
	}
	a.scrapes.mu.Lock()
	defer a.scrapes.mu.Unlock()
	a.scrapes.unknown = append(a.scrapes.unknown, s)
}

// unscraped says whose metrics are unknown because nothing tells their port.
func (a *asking) unscraped() {
	for _, s := range a.scrapes.unknown {
		if !a.scrapes.known[s.Node] {
			a.skip("metrics of "+s.Name(), "its metrics port is unknown, as it did not tell its configuration: name the port")
		}
	}
}

// scrape asks a process's HTTP server, once.
func (a *asking) scrape(ctx context.Context, s *session, port int) {
	host, _, err := net.SplitHostPort(s.Address)
	if err != nil {
		return
	}
	address := net.JoinHostPort(host, strconv.Itoa(port))
	if !a.scrapes.begin(address) {
		return
	}
	web := a.client.web(address)
	f := a.get(ctx, web, s, address, "/metrics")
	if ctx.Err() == nil && (f == nil || f.outcome != model.Unreachable && f.outcome != model.Refused) {
		_ = a.get(ctx, web, s, address, "/healthz")
	}
	web.CloseIdleConnections()
	if f != nil || a.client.opts.Window <= 0 {
		return
	}
	again := context.WithoutCancel(ctx) // the deadline is over by then; the caller's end is not
	a.helpers.Go(func() { a.scrapeAgain(again, s, address) })
}

// scrapeAgain asks for /metrics a second time, for rates.
func (a *asking) scrapeAgain(ctx context.Context, s *session, address string) {
	ctx, cancel := context.WithTimeout(ctx, a.client.opts.Window+a.client.opts.Timeout)
	defer cancel()
	stop := context.AfterFunc(a.ctx, cancel)
	defer stop()
	select {
	case <-time.After(a.client.opts.Window):
	case <-ctx.Done():
		return
	}
	web := a.client.web(address)
	defer web.CloseIdleConnections()
	_ = a.get(ctx, web, s, address, "/metrics")
}

// maxHeader bounds the header of an HTTP answer.
const maxHeader = 64 << 10

// web makes an HTTP client for one address that takes nothing from the environment.
func (c *Client) web(address string) *http.Client {
	return &http.Client{
		Transport: &http.Transport{
			DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
				return c.dialer.dial(ctx, address, false)
			},
			MaxResponseHeaderBytes: maxHeader,
			MaxIdleConnsPerHost:    1,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// get asks for one path and records how it ended.
func (a *asking) get(ctx context.Context, web *http.Client, s *session, address, path string) *failure {
	start := time.Now()
	body, f := a.client.fetch(ctx, web, "http://"+address+path)
	if givenUp(ctx) {
		return failed(model.NotAsked, "given up")
	}
	r := Record{
		Role: s.Role, Node: s.Node, Address: address, Method: "GET " + path, Response: body,
		Outcome: model.Answered.String(), Took: time.Since(start),
	}
	if f != nil {
		r.Outcome, r.Error = f.outcome.String(), f.reason
	}
	a.keep(r)
	return f
}

// fetch reads an answer over HTTP, up to the limit. An answer that is an error may have
// a body that says more: it is returned as well.
func (c *Client) fetch(ctx context.Context, web *http.Client, url string) ([]byte, *failure) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return nil, failed(model.Unreachable, "%v", err)
	}
	request.Header.Set("Accept", "text/plain")
	request.Header.Set("User-Agent", "kitescope")
	response, err := web.Do(request)
	if err != nil {
		return nil, c.httpFailure(err)
	}
	defer response.Body.Close()
	if response.ContentLength > c.opts.MaxAnswer {
		return nil, tooLarge(response.ContentLength, c.opts.MaxAnswer)
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, c.opts.MaxAnswer+1))
	switch {
	case err != nil:
		return nil, c.httpFailure(err)
	case int64(len(body)) > c.opts.MaxAnswer:
		return nil, tooLarge(0, c.opts.MaxAnswer)
	}
	switch code := response.StatusCode; {
	case code == http.StatusOK:
		return body, nil
	case code == http.StatusUnauthorized, code == http.StatusForbidden:
		return nil, failed(model.Denied, "%s", response.Status)
	case code == http.StatusNotFound:
		return nil, failed(model.Unimplemented, "%s", response.Status)
	case code >= http.StatusInternalServerError:
		return body, failed(model.NotReady, "%s: %s", response.Status, body)
	default:
		return nil, failed(model.Failed, "%s", response.Status)
	}
}

// httpFailure says why there is no answer over HTTP.
func (c *Client) httpFailure(err error) *failure {
	var f *failure
	switch {
	case errors.As(err, &f):
		return f
	case isTimeout(err):
		return failed(model.TimedOut, "connected, and no answer within %s", c.opts.Timeout)
	case isCut(err):
		return failed(model.CutOff, "the server closed the connection")
	case strings.Contains(err.Error(), "malformed"):
		return failed(model.Garbled, "this is no HTTP server: %v", err)
	}
	return failed(model.Garbled, "%s", strings.TrimPrefix(fmt.Sprint(err), "Get "))
}

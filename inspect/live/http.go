package live

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"kitescope/inspect/model"
)

// scrape queries the HTTP server of a process, once.
func (a *askState) scrape(ctx context.Context, s *session, port int) {
	host, _, err := fullAddress(s.Address)
	if err != nil {
		return // it could not be queried at all
	}
	address := net.JoinHostPort(host, strconv.Itoa(port))
	if !a.ports.begin(address) {
		return
	}
	web := a.client.web(address)
	defer web.CloseIdleConnections()
	p := a.get(ctx, web, s, address, methodMetrics)
	if canceled(ctx) {
		p.done()
		return
	}
	a.keep(p.Record)
	p.done()
	if f := p.failure; f == nil ||
		f.outcome != model.Unreachable && f.outcome != model.Refused && f.outcome != model.NotAsked {
		if f == nil {
			a.scrapeLater(ctx, s, address) // it waits on its own, and pages may take long
		}
		a.fetchPages(ctx, web, s, address)
	}
}

// fetchPages requests the pages other than /metrics.
func (a *askState) fetchPages(ctx context.Context, web *http.Client, s *session, address string) {
	a.fetchPage(ctx, web, s, address, methodHealthz)
	if coordinator := a.plan.keysMixCoord(s); coordinator != nil {
		a.fetchPage(ctx, web, coordinator, address, "GET "+configGetURI())
		a.fetchPage(ctx, web, coordinator, address, methodCollector)
		a.fetchPage(ctx, web, coordinator, address, methodWALBalance)
		a.fetchPage(ctx, web, coordinator, address, methodWALNodes)
	}
	if proxy := a.plan.slowQueriesProxy(s); proxy != nil {
		a.fetchProxyPages(ctx, web, proxy, address)
	}
	if a.client.opts.Levels {
		a.fetchPage(ctx, web, s, address, methodLevel)
	}
}

// fetchProxyPages requests the most informative pages first, and the slowest page last.
func (a *askState) fetchProxyPages(ctx context.Context, web *http.Client, proxy *session, address string) {
	a.fetchPage(ctx, web, proxy, address, methodSlow)
	if proxy == a.plan.clientsProxy() {
		a.fetchPage(ctx, web, proxy, address, methodClients)
	}
	queue := ""
	if proxy == a.plan.configsProxy() {
		for _, r := range a.fetchPage(ctx, web, proxy, address, methodConfigs) {
			queue = queueOf(r.Response)
		}
	}
	if a.client.opts.ProxyReports {
		a.fetchReports(ctx, web, proxy, address, queue)
	}
}

// reportsInterval is the minimum interval at which a Client queries a proxy for its clients and dependencies,
// because the proxy opens connections of its own for the latter.
const reportsInterval = time.Minute

// fetchReports requests the clients and dependencies of a proxy, or uses the recent responses.
func (a *askState) fetchReports(ctx context.Context, web *http.Client, proxy *session, address, queue string) {
	a.client.mu.Lock()
	last := a.client.reports[address]
	a.client.mu.Unlock()
	if len(last) > 0 && a.client.opts.Now().Sub(last[0].At) < reportsInterval {
		for _, r := range last {
			a.keepStamped(r)
		}
		return
	}
	list := a.fetchPage(ctx, web, proxy, address, methodConnections)
	if proxy == a.plan.dependenciesProxy() {
		if why := a.plan.queue.writesToPulsar(queue); why != "" {
			a.skip("dependencies reported by "+proxy.Name(), why)
		} else {
			list = append(list, a.fetchPage(ctx, web, proxy, address, methodDependencies)...)
		}
	}
	a.client.mu.Lock()
	defer a.client.mu.Unlock()
	if a.client.reports == nil {
		a.client.reports = map[string][]Record{}
	}
	a.client.reports[address] = list
}

// fetchPage requests one page for a session, stores the outcome and returns its records. It returns nil if no time
// is left.
func (a *askState) fetchPage(ctx context.Context, web *http.Client, s *session, address, method string) []Record {
	if ctx.Err() != nil {
		return nil
	}
	p := a.get(ctx, web, s, address, method)
	defer p.done()
	if canceled(ctx) {
		return nil
	}
	r := a.stamp(p.Record)
	a.keepStamped(r)
	return []Record{r}
}

// scrapeLater requests /metrics a second time, for rates, in the time that is left for the process.
func (a *askState) scrapeLater(ctx context.Context, s *session, address string) {
	window := a.client.opts.Window
	if window <= 0 {
		return
	}
	until, _ := ctx.Deadline()
	until = until.Add(a.client.opts.extraTime())
	a.helpers.Go(func() {
		ctx, cancel := context.WithDeadline(a.ctx, until)
		defer cancel()
		wait := time.NewTimer(window)
		defer wait.Stop()
		select {
		case <-wait.C:
		case <-ctx.Done():
			return
		}
		web := a.client.web(address)
		defer web.CloseIdleConnections()
		p := a.get(ctx, web, s, address, methodMetrics)
		defer p.done()
		if !canceled(ctx) {
			a.keep(p.Record)
		}
	})
}

// maxHeader bounds the header of an HTTP response, in bytes.
const maxHeader = 64 << 10

// web returns an HTTP client for one address that ignores the environment.
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

// page is an HTTP response. done must be called after it has been decoded.
type page struct {
	Record
	failure *failure
	done    func()
}

// get requests one page.
func (a *askState) get(ctx context.Context, web *http.Client, s *session, address, method string) page {
	start := time.Now()
	p := page{
		Record: Record{Role: s.Role, Node: s.Node, Address: address, Method: method, Outcome: model.Answered.String()},
	}
	tenant := a.client.budget.newReservation()
	p.done = tenant.releaseAll
	p.Response, p.failure = a.client.fetch(ctx, web, address, strings.TrimPrefix(method, "GET "), tenant)
	p.Took = time.Since(start)
	if gone := tenant.exceeded(); gone != nil {
		p.Response, p.failure = nil, gone
	}
	if f := p.failure; f != nil {
		p.Outcome, p.Error = f.outcome.String(), f.reason
	}
	return p
}

// maxTrouble bounds the body that is read of an error response, in bytes.
const maxTrouble = 4 << 10

// fetch requests a listed page of a process and reads it up to the limit. It refuses pages that are not listed.
// For an error response it returns the body too, which may hold details.
func (c *Client) fetch(
	ctx context.Context, web *http.Client, address, path string, memory *reservation,
) ([]byte, *failure) {
	e, ok := endpointOf(path)
	if !ok {
		return nil, newFailure(model.NotAsked, "%s is not a page that kitescope requests", path)
	}
	path, query, _ := strings.Cut(path, "?")
	question := httpGet{url: url.URL{Scheme: "http", Host: address, Path: path, RawQuery: query}, accept: "text/plain"}
	if own := c.opts.credentials(); own != "" && e.gated {
		question.authorization = own
	}
	if e.body {
		question.limit = c.opts.MaxResponse
	}
	answer, f := c.send(ctx, web, question, memory)
	if f != nil || answer.code == http.StatusOK {
		return answer.body, f
	}
	if f = c.refusal(&e, answer.status, answer.code, answer.body); f.outcome != model.NotReady {
		answer.body = nil
	}
	return answer.body, f
}

// httpGet is an HTTP request.
type httpGet struct {
	url                   url.URL
	accept, authorization string
	// limit bounds the body of a success, in bytes. 0 means that the body need not be read whole. The body of an
	// error need never be read whole.
	limit int64
}

// httpResponse is the response to an httpGet.
type httpResponse struct {
	status string // "404 Not Found"
	code   int
	body   []byte
}

// send is the only function that makes HTTP requests. Its callers, fetch and pulsar, restrict the paths to
// their lists.
func (c *Client) send(
	ctx context.Context, web *http.Client, get httpGet, memory *reservation,
) (answer httpResponse, f *failure) {
	request := (&http.Request{
		Method: http.MethodGet, URL: &get.url, Host: get.url.Host,
		Header: http.Header{"Accept": {get.accept}, "User-Agent": {"kitescope"}},
	}).WithContext(ctx)
	if get.authorization != "" {
		request.Header.Set("Authorization", get.authorization)
	}
	response, err := web.Do(request)
	if err != nil {
		return httpResponse{}, c.httpFailure(err)
	}
	defer response.Body.Close()
	answer = httpResponse{status: response.Status, code: response.StatusCode}
	limit, whole := get.limit, get.limit > 0 && answer.code == http.StatusOK
	if !whole {
		limit = maxTrouble
	}
	if whole && response.ContentLength > limit {
		return answer, tooLarge(response.ContentLength, limit)
	}
	body, err := io.ReadAll(io.LimitReader(&countedBody{response.Body, memory}, limit+1))
	more := int64(len(body)) > limit
	switch {
	case err != nil:
		return answer, c.httpFailure(err)
	case more && whole:
		return answer, tooLarge(0, limit)
	}
	answer.body = body[:min(int64(len(body)), limit)]
	return answer, nil
}

// httpFailure returns the failure for an HTTP request without a response.
func (c *Client) httpFailure(err error) *failure {
	var f *failure
	switch {
	case errors.As(err, &f):
		return f
	case isTimeout(err):
		return newFailure(model.TimedOut, "connected, but no response within %s", c.opts.Timeout)
	case isCut(err):
		return newFailure(model.CutOff, "the server closed the connection")
	case strings.Contains(err.Error(), "malformed"):
		return newFailure(model.Garbled, "not an HTTP server: %v", err)
	}
	return newFailure(model.Garbled, "%s", strings.TrimPrefix(fmt.Sprint(err), "Get "))
}

package live

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"net"
	"slices"
	"strconv"
	"sync"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"kitescope/inspect/model"
)

// ports holds the known ports of the processes' HTTP servers. A process may hold many sessions and has one HTTP
// server.
type ports struct {
	mu sync.Mutex
	// begun holds the addresses that were already queried.
	begun map[string]bool
	// known holds the ServerIDs of the processes that reported their port. reported holds the ports.
	known    map[model.NodeID]bool
	reported map[int]bool
	// portless holds the sessions of processes that did not report it, and the result of the search for them.
	portless []*portlessSession
}

// portlessSession is a session whose process does not report the port of its HTTP server.
type portlessSession struct {
	*session
	found bool
	why   string // why it was not found, or "" if there was no search
}

func newPorts() ports {
	return ports{begun: map[string]bool{}, known: map[model.NodeID]bool{}, reported: map[int]bool{}}
}

// begin reports whether address was not queried yet, and marks it as queried.
func (p *ports) begin(address string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	first := !p.begun[address]
	p.begun[address] = true
	return first
}

// add stores the port that a process reported.
func (p *ports) add(node model.NodeID, port int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.known[node], p.reported[port] = true, true
}

// common returns the port that all reporting processes share, or 0 if they differ, and the sessions of the
// other processes.
func (p *ports) common() (port int, silent []*portlessSession) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if told := slices.Collect(maps.Keys(p.reported)); len(told) == 1 {
		port = told[0]
	}
	for _, s := range p.portless {
		if !p.known[s.Node] {
			silent = append(silent, s)
		}
	}
	return port, silent
}

// findEndpoints reads from a session's configuration which further endpoints to query: the process's own HTTP server
// and the message queue.
func (a *askState) findEndpoints(s *session, response []byte) func(context.Context) {
	values := settings(response, append(queueSettings(), configMetricsPort))
	a.queue.Do(func() { a.askQueue(values) })
	port, err := strconv.ParseUint(values[configMetricsPort], 10, 16)
	if err != nil || port == 0 {
		return func(ctx context.Context) { a.scrapeMetricsPort(ctx, s) }
	}
	a.ports.add(s.Node, int(port))
	return func(ctx context.Context) { a.scrape(ctx, s, int(port)) }
}

// settings reads some keys, folded, from an encoded ShowConfigurationsResponse. It decodes nothing else,
// because many responses are read at a time, before the Decoder has checked their decoded size.
func settings(response []byte, wanted []string) map[string]string {
	values := map[string]string{}
	_ = eachField(response, func(number protowire.Number, pair []byte) {
		const configuations = 2 // KeyValuePair: the key is 1, the value 2
		var key, value string
		if number != configuations || len(pair) > maxProse {
			return
		}
		_ = eachField(pair, func(number protowire.Number, text []byte) {
			switch number {
			case 1:
				key = string(text)
			case 2:
				value = string(text)
			}
		})
		folded := model.FoldConfigKey(key)
		if _, known := values[folded]; slices.Contains(wanted, folded) && (!known || key == folded) {
			values[folded] = value // Milvus looks up the folded key
		}
	})
	return values
}

// reportsPort reports whether a session of the same process is queried for its configuration. ServerIDs are
// unique in a cluster, and belong to one process since 2.3.
func (p *plan) reportsPort(s *session) bool {
	return slices.ContainsFunc(p.sessionsOf[s.Node], func(x *session) bool {
		return slices.ContainsFunc(x.inquiries, func(q inquiry) bool {
			return lastPart(q.method) == "ShowConfigurations"
		})
	})
}

// scrapeMetricsPort queries the HTTP server of a process without a configuration at Options.MetricsPort.
func (a *askState) scrapeMetricsPort(ctx context.Context, s *session) {
	if a.client.opts.MetricsPort > 0 {
		a.scrape(ctx, s, a.client.opts.MetricsPort)
		return
	}
	a.ports.mu.Lock()
	defer a.ports.mu.Unlock()
	a.ports.portless = append(a.ports.portless, &portlessSession{session: s})
}

// maxScrapes bounds the processes that are searched for in parallel.
const maxScrapes = 64

// scrapeAtCommonPort tries the processes that do not report their port at the port of all others, because on
// Kubernetes every pod has the same. It starts after all servers were queried, or at three quarters of the
// timeout, so that dead servers do not prevent it.
func (a *askState) scrapeAtCommonPort(ctx context.Context, asked <-chan struct{}) {
	patience := a.client.opts.Timeout
	late := time.NewTimer(patience * 3 / 4)
	defer late.Stop()
	select {
	case <-asked:
	case <-late.C:
	case <-ctx.Done():
		return
	}
	port, silent := a.ports.common()
	if port == 0 {
		return
	}
	ctx, cancel := context.WithDeadline(ctx, latest(a.start.Add(patience), time.Now().Add(minQueryTime)))
	defer cancel()
	free := make(chan struct{}, maxScrapes)
	var wg sync.WaitGroup
	for _, s := range silent {
		free <- struct{}{}
		wg.Go(func() {
			defer func() { <-free }()
			a.scrapeIfNamed(ctx, s, port)
		})
	}
	wg.Wait()
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// scrapeIfNamed queries a guessed port, and accepts the response only if the metrics name the session.
func (a *askState) scrapeIfNamed(ctx context.Context, s *portlessSession, port int) {
	host, _, err := fullAddress(s.Address)
	if err != nil {
		return
	}
	address := net.JoinHostPort(host, strconv.Itoa(port))
	if !a.ports.begin(address) {
		s.why = "another process has it" // its metrics name the session if they are from the same process
		return
	}
	web := a.client.web(address)
	defer web.CloseIdleConnections()
	p := a.get(ctx, web, s.session, address, methodMetrics)
	switch {
	case canceled(ctx):
	case p.failure != nil:
		s.why = p.failure.outcome.String() + " (" + p.failure.reason + ")"
	case !a.nameSession(p.Response, s.session):
		s.why = "the process there does not name this session"
	default:
		s.found = true
		a.keep(p.Record)
	}
	p.done()
	if !s.found {
		return
	}
	a.fetchPages(ctx, web, s.session, address)
	a.scrapeLater(ctx, s.session, address)
}

// nameSession reports whether metrics are from a session's process. They are parsed one at a time, like
// everything that is decoded.
func (a *askState) nameSession(metrics []byte, s *session) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	m, err := NewDecoder().parseMetrics(bytes.NewReader(metrics), time.Time{})
	return err == nil && ownSessions(m)[sessionKey{s.Role, s.Node}]
}

// recordUnscraped records the processes without metrics because their port is unknown.
func (a *askState) recordUnscraped() {
	port, silent := a.ports.common()
	slices.SortFunc(silent, func(a, b *portlessSession) int { return cmp.Compare(a.Name(), b.Name()) })
	for _, s := range silent {
		if s.found || a.decoder.namedByMetrics(sessionKey{s.Role, s.Node}) {
			continue
		}
		reason := "metrics port unknown: name the port"
		if s.why != "" {
			reason = fmt.Sprintf("metrics port unknown, and not %d like the others: %s: name the port", port, s.why)
		}
		a.skip("metrics of "+s.Name(), reason)
	}
}

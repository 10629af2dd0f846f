package live

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"kitescope/inspect/model"
)

// Limits of concurrency.
const (
	maxServers = 512 // servers queried in parallel
	maxCalls   = 8   // calls on one connection
)

// minRateWindow is the minimum interval between two scrapes from which rates are computed, because processor
// time is counted in hundredths of a second.
const minRateWindow = time.Second

// NobodyRegistered is the reason in Runtime.Skipped if no process was queried.
const NobodyRegistered = "no process is registered in etcd"

// asking is the state of an Ask.
type asking struct {
	ctx    context.Context // of the whole Ask, without the deadlines of single processes
	start  time.Time
	client *Client
	plan   *plan
	// cluster is the cluster name sent with each call, or "" for none.
	cluster string
	names   clusterNames

	mu      sync.Mutex // guards the decoder and calls of Keep
	decoder *Decoder

	ports   ports
	queue   sync.Once
	helpers sync.WaitGroup // work in parallel with the servers: the message queue and the response times
	// suspects is set after a process responded late.
	suspects atomic.Bool

	progress sync.Mutex
	done     int
}

// ErrNoSessions is returned by Ask if the sessions of the cluster are unknown.
var ErrNoSessions = errors.New("the sessions of the cluster were not read: no process to query")

// Ask queries every process that has a session. The Runtime records the calls that failed. It has no sessions
// if no process is registered. Ask returns an error if the sessions are unknown or ctx ended.
func (c *Client) Ask(ctx context.Context, cluster *model.Cluster) (*model.Runtime, error) {
	if !cluster.Loaded.Has(model.PartSessions) {
		return nil, ErrNoSessions
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	a := &asking{
		ctx: ctx, start: time.Now(), client: c, plan: newPlan(cluster), decoder: NewDecoder(), names: newNames(), ports: newPorts(),
	}
	a.cluster = a.plan.cluster
	if c.opts.Tasks || c.opts.Targets {
		c.askTold(a.plan, a.decoder)
	}
	a.decoder.limit = keepable(cluster, len(a.plan.servers))
	for _, s := range a.plan.skipped {
		a.skip(s.What, s.Reason)
	}
	if len(cluster.Sessions) == 0 {
		a.skip("processes", NobodyRegistered)
	} else {
		a.everything(ctx)
	}
	if err := context.Cause(ctx); err != nil {
		return nil, fmt.Errorf("query the processes: %w", err)
	}
	a.decoder.ClusterKey(a.cluster)
	c.rememberTold(a.decoder)
	runtime := a.decoder.Runtime("live", "")
	c.remember(runtime)
	return runtime, nil
}

// everything queries all servers and the further endpoints that they report.
func (a *asking) everything(ctx context.Context) {
	asked := make(chan struct{})
	a.helpers.Go(func() { a.scrapeAtCommonPort(ctx, asked) })
	a.servers(ctx, a.plan.servers)
	if again := a.settleNames(); len(again) > 0 && ctx.Err() == nil {
		a.servers(ctx, again)
	}
	close(asked)
	a.queue.Do(func() { a.skip(skippedQueue, "no process reported its configuration") })
	a.helpers.Wait()
	a.unscraped()
}

// servers queries servers, each with its own deadline, and returns after the last is done.
func (a *asking) servers(ctx context.Context, list []*server) {
	free := make(chan struct{}, maxServers)
	var wg sync.WaitGroup
	for _, s := range list {
		select {
		case free <- struct{}{}:
		case <-ctx.Done():
		}
		if ctx.Err() != nil {
			break
		}
		wg.Go(func() {
			defer func() { <-free }()
			a.server(ctx, s)
			if a.cluster == "" || !a.names.refusedBy(s) {
				a.advance()
			}
		})
	}
	wg.Wait()
}

func (a *asking) advance() {
	if a.client.opts.Progress == nil {
		return
	}
	a.progress.Lock()
	defer a.progress.Unlock()
	a.done++
	a.client.opts.Progress(a.done, len(a.plan.servers))
}

// server queries the sessions at one address: all calls over one connection, and none after the connection
// turns out to be broken. The response times are measured in parallel with the other servers.
func (a *asking) server(ctx context.Context, s *server) {
	ctx, cancel := context.WithDeadline(ctx, s.deadline(a.client.opts.Timeout))
	begun := time.Now()
	l, err := a.client.connect(s.address, a.cluster)
	if err != nil {
		cancel()
		a.broken(s, err, 0)
		return
	}
	err = l.ready(ctx)
	connected := time.Since(begun)
	if err == nil {
		a.calls(ctx, l, s)
	}
	s.spent += time.Since(begun)
	if err != nil {
		l.close()
		cancel()
		a.broken(s, err, connected)
		return
	}
	a.helpers.Go(func() {
		defer cancel()
		defer l.close()
		a.paced(ctx, l, s, begun, connected)
	})
}

// calls makes all calls to a server.
func (a *asking) calls(ctx context.Context, l *link, s *server) {
	free := make(chan struct{}, maxCalls)
	var wg sync.WaitGroup
	defer wg.Wait()
	call := func(f func()) {
		free <- struct{}{}
		wg.Go(func() {
			defer func() { <-free }()
			f()
		})
	}
	for i, round := range s.rounds() {
		for _, x := range round {
			if i > 0 && a.cluster != "" && a.names.refusedBy(s) {
				return // it would refuse every other call too
			}
			// After the deadline the remaining calls fail at once, each with its own record.
			call(func() { a.put(ctx, l, x.session, x.inquiry) })
		}
	}
	for _, x := range s.sessions {
		if !a.plan.tellsPort(x) {
			call(func() { a.scrapeElsewhere(ctx, x) })
		}
	}
}

// deadline returns the deadline of a server whose query starts now. The time spent on it earlier is subtracted.
func (s *server) deadline(timeout time.Duration) time.Time {
	return time.Now().Add(max(timeout-s.spent, min(timeout, grace)))
}

// broken records a connection failure once per session of the server.
func (a *asking) broken(s *server, err error, took time.Duration) {
	var f *failure
	if !errors.As(err, &f) {
		return // the caller canceled
	}
	for _, session := range s.sessions {
		a.record(session, session.inquiries[0], nil, f, took)
	}
}

type turn struct {
	session *session
	inquiry inquiry
}

// rounds orders the inquiries to a server: the first of every session, then the second, and so on. A deadline
// therefore cuts the least informative ones.
func (s *server) rounds() [][]turn {
	var rounds [][]turn
	for i := 0; ; i++ {
		var round []turn
		for _, session := range s.sessions {
			if i < len(session.inquiries) {
				round = append(round, turn{session, session.inquiries[i]})
			}
		}
		if round == nil {
			return rounds
		}
		rounds = append(rounds, round)
	}
}

// put makes one call and records its outcome. It retries with the other names of the method while the name is
// unimplemented.
func (a *asking) put(ctx context.Context, l *link, s *session, q inquiry) {
	if isTimeout(context.Cause(ctx)) {
		a.record(s, q, nil, failed(model.NotAsked, "not sent within the %s for this process", a.client.opts.Timeout), 0)
		return
	}
	response, took, f := a.call(ctx, l, s, q)
	for _, other := range q.others {
		if f == nil || f.outcome != model.Unimplemented {
			break
		}
		response.done()
		q.method = other
		response, took, f = a.call(ctx, l, s, q)
	}
	if givenUp(ctx) {
		response.done()
		return
	}
	if f != nil && f.outcome == model.Failed {
		if halves := q.halves(s.Node); halves != nil {
			response.done()
			for _, half := range halves {
				a.put(ctx, l, s, half)
			}
			return
		}
	}
	a.record(s, q, response.bytes, f, took)
	follow := a.follows(s, q, response.bytes, f)
	response.done()
	follow(ctx)
}

// follows returns the work that follows a call: a configuration names the HTTP server of the process and the
// message queue.
func (a *asking) follows(s *session, q inquiry, response []byte, f *failure) func(context.Context) {
	switch {
	case lastPart(q.method) != "ShowConfigurations":
	case f == nil:
		return a.learn(s, response)
	case f.outcome == model.Unimplemented:
		return func(ctx context.Context) { a.scrapeElsewhere(ctx, s) }
	}
	return func(context.Context) {}
}

// givenUp reports whether the caller canceled, as opposed to a timeout.
func givenUp(ctx context.Context) bool {
	cause := context.Cause(ctx)
	return cause != nil && !isTimeout(cause)
}

// call makes one call. It returns both a response and a failure if the response's own status holds an error.
func (a *asking) call(ctx context.Context, l *link, s *session, q inquiry) (answered, time.Duration, *failure) {
	response, took, err := l.call(ctx, s.Node, q.method, q.request)
	if err == nil {
		return response, took, judge(q.method, response.bytes)
	}
	var f *failure
	if !errors.As(err, &f) {
		f = failed(model.NotAsked, "%v", err) // the caller canceled: not recorded
	}
	return answered{done: func() {}}, took, f
}

// record records the outcome of a call. The Decoder reads the status inside the response.
func (a *asking) record(s *session, q inquiry, response []byte, f *failure, took time.Duration) {
	r := Record{
		Role: s.Role, Node: s.Node, Address: s.Address, Method: q.method, Request: q.request, Response: response,
		Outcome: model.Answered.String(), Took: took,
	}
	if f != nil && response == nil {
		r.Outcome, r.Error = f.outcome.String(), f.reason
	}
	if !a.heed(s, &r, f) {
		a.keep(r)
	}
}

// skip records that something was left out, and the reason.
func (a *asking) skip(what, reason string) {
	a.keep(Record{Method: what, Outcome: model.NotAsked.String(), Error: oneLine(reason)})
}

// keep stamps a record, decodes it and passes it to Options.Keep. Its bytes are not retained.
func (a *asking) keep(r Record) { a.take(a.stamp(r)) }

// stamp sets the time of a record and removes the credentials from it.
func (a *asking) stamp(r Record) Record {
	r.At = a.client.opts.Now()
	if r.Method == methodMetrics {
		r.At = a.client.opts.Counters()
	}
	r.Error = a.client.opts.conceal(r.Error)
	r.Response = a.client.opts.concealBytes(r.Response)
	return r
}

// take is like keep, for a record that is already stamped.
func (a *asking) take(r Record) {
	if tell := a.client.opts.Tell; tell != nil {
		tell(r.line())
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.client.opts.Keep != nil {
		a.client.opts.Keep(Redact(r))
	}
	if a.client.opts.KeepOnly {
		a.decoder.addNames(r)
		return
	}
	a.decoder.Add(r)
}

// scraped holds the newest scrape of a process and the one before, and the storage counters of two rounds that
// are at least a minute apart.
type scraped struct{ newest, before, mark, old *model.Metrics }

// markEvery is the minimum interval between the rounds whose storage counters are retained.
const markEvery = time.Minute

// remember stores the scrapes for the next Ask, and adds the scrapes of the previous Ask to the Runtime.
func (c *Client) remember(r *model.Runtime) {
	c.mu.Lock()
	defer c.mu.Unlock()
	next := make(map[string]scraped, len(r.Processes))
	for _, p := range r.Processes {
		if p.Metrics == nil {
			continue
		}
		last := c.last[p.Address]
		switch {
		case last.newest == nil || !sameProcess(last.newest, p.Metrics):
			last = scraped{newest: p.Metrics}
		case p.Metrics.At.Sub(last.newest.At) >= minRateWindow:
			last.newest, last.before = p.Metrics, last.newest
		}
		p.Before, p.Earlier = cmp.Or(p.Before, last.before), cmp.Or(last.old, last.mark)
		if last.mark == nil || p.Metrics.At.Sub(last.mark.At) >= markEvery {
			last.old, last.mark = last.mark, p.Metrics.StorageCounters()
		}
		next[p.Address] = last
	}
	c.last = next
	c.rememberPaces(r)
}

const startTime = "process_start_time_seconds"

// sameProcess reports whether two scrapes are from one process. A process that replaced it at the same address
// has a later start time.
func sameProcess(before, now *model.Metrics) bool {
	a, knownA := before.Sum(startTime)
	b, knownB := now.Sum(startTime)
	return knownA && knownB && a == b && now.At.After(before.At)
}

// restarted reports whether two scrapes are known to be from different processes.
func restarted(before, now *model.Metrics) bool {
	a, knownA := before.Sum(startTime)
	b, knownB := now.Sum(startTime)
	return knownA && knownB && a != b
}

package pull

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// batch takes the profiles of some processes over the same window.
func (p *puller) batch(ctx context.Context, stop context.CancelCauseFunc, targets []Target) {
	g := newGate(len(targets), min(p.opts.Timeout, gateTimeout, cmp.Or(p.opts.Total/4, gateTimeout)))
	var wg sync.WaitGroup
	for i := range targets {
		wg.Go(func() {
			t := &targets[i]
			if t.URL == nil {
				g.arrive(1)
				p.fail(t, p.opts.Kinds, newFailure(NotAsked, "%s", t.Unknown))
				return
			}
			p.report(t.Node, "", Connecting, "")
			w := p.newProcessConn(t)
			defer w.close()
			ctx, cancel := p.withTimeout(ctx, t)
			defer cancel()
			f := w.connect(ctx)
			g.arrive(1)
			if f != nil {
				p.fail(t, p.kindsOf(t), f)
				return
			}
			g.wait(ctx)
			if err := p.process(ctx, w); err != nil {
				p.abort(err, stop)
			}
		})
	}
	wg.Wait()
}

// withTimeout returns a context that ends when the time for a process is over: Total plus its windows. Windows of
// CPU profiles and of traces are added up, but deltas run at the same time.
func (p *puller) withTimeout(ctx context.Context, t *Target) (context.Context, context.CancelFunc) {
	if p.opts.Total == 0 {
		return context.WithCancel(ctx)
	}
	alone, beside := 0, 0
	for _, k := range p.kindsOf(t) {
		_, window := t.urlOf(k, p.opts.Seconds)
		if s, known := specOf(k); k == Trace || s.exclusive || !known {
			alone += window
		} else {
			beside = max(beside, window)
		}
	}
	return context.WithTimeout(ctx, p.opts.Total+time.Duration(max(alone, beside))*time.Second)
}

// abort stops all pulls after a local error, e.g. a full disk.
func (p *puller) abort(err error, stop context.CancelCauseFunc) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.broken == nil {
		p.broken = err
	}
	stop(err)
}

// fail records the same failure for several kinds.
func (p *puller) fail(t *Target, kinds []Kind, f *failure) {
	for _, k := range kinds {
		e := p.entry(t, k)
		p.setOutcome(t, &e, f)
		p.add(e)
	}
}

// process takes all profiles of a process. Deltas share the window of the CPU profile, because they are taken
// only at its two ends. Execution traces and then instantaneous profiles follow, because both cost CPU.
func (p *puller) process(ctx context.Context, w *processConn) error {
	var first, traces, atOnce, deltas []Kind
	for _, k := range p.kindsOf(w.target) {
		switch s, known := specOf(k); {
		case k == Trace:
			traces = append(traces, k)
		case s.exclusive || !known:
			first = append(first, k)
		case s.windowed:
			deltas = append(deltas, k)
		default:
			atOnce = append(atOnce, k)
		}
	}
	var side sync.WaitGroup
	errs := make([]error, len(deltas)+1)
	for i, k := range deltas {
		side.Go(func() { errs[i] = p.pull(ctx, w, k) })
	}
	for _, k := range first {
		errs[len(deltas)] = errors.Join(errs[len(deltas)], p.pull(ctx, w, k))
	}
	side.Wait()
	for _, k := range append(traces, atOnce...) {
		errs[len(deltas)] = errors.Join(errs[len(deltas)], p.pull(ctx, w, k))
	}
	return errors.Join(errs...)
}

// busyInterval is the time between two requests to a process whose profiler is in use.
const busyInterval = 500 * time.Millisecond

// pull takes one profile. It returns an error only for local problems.
func (p *puller) pull(ctx context.Context, w *processConn, k Kind) error {
	e := p.entry(w.target, k)
	begun := time.Now()
	for {
		e.Attempts++
		p.report(e.Node, k, Sampling, "")
		f, err := p.attempt(ctx, w, &e)
		if err != nil {
			return err
		}
		switch {
		case f != nil && f.retryable && e.Attempts == 1:
			continue
		case f != nil && f.outcome == Busy && time.Since(begun) < p.opts.BusyWait:
			p.report(e.Node, k, Waiting, p.redactedReason(w.target, f.reason))
			if !sleep(ctx, busyInterval) {
				if !isTimeout(context.Cause(ctx)) { // after a timeout the failure remains Busy
					f = newFailure(Interrupted, "stopped while waiting for another profile of the process")
				}
				break
			}
			continue
		}
		p.setOutcome(w.target, &e, f)
		p.add(e)
		return nil
	}
}

// sleep reports whether it slept for all of d.
func sleep(ctx context.Context, d time.Duration) bool {
	if ctx.Err() != nil {
		return false // even if d is 0
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// entry returns a new Entry for a pull.
func (p *puller) entry(t *Target, k Kind) Entry {
	e := Entry{Node: t.Node, Roles: t.Roles, NodeIDs: t.NodeIDs, MilvusVersion: t.Version, Kind: k}
	if t.URL != nil {
		u, window := t.urlOf(k, p.opts.Seconds)
		e.Address, e.URL, e.Seconds = address(t.URL), redactURL(u), window
	}
	return e
}

// setOutcome sets the outcome of a pull.
func (p *puller) setOutcome(t *Target, e *Entry, f *failure) {
	e.Outcome = OK
	if f != nil {
		e.Outcome, e.Error, e.Hint = f.outcome, p.redactedReason(t, f.reason), f.hint
	}
}

// maxReason is the maximum length of a saved reason, in bytes.
const maxReason = 300

func oneLine(text string) string {
	text = strings.ToValidUTF8(strings.Join(strings.Fields(text), " "), "?")
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 {
			return '?'
		}
		return r
	}, text)
	if len(text) > maxReason {
		text = strings.ToValidUTF8(text[:maxReason], "") + "…"
	}
	return text
}

// processConn holds the connection to a process: the first one is made in advance, and others on demand.
type processConn struct {
	target *Target
	opts   *Options
	client *http.Client

	mu    sync.Mutex
	ready net.Conn // nil once used
}

// maxHeader is the maximum size of a response header, in bytes.
const maxHeader = 64 << 10

func (p *puller) newProcessConn(t *Target) *processConn {
	w := &processConn{target: t, opts: &p.opts}
	w.client = &http.Client{
		Transport: &http.Transport{
			DialContext: w.dial, DialTLSContext: w.dial,
			MaxResponseHeaderBytes: maxHeader,
			DisableCompression:     true, // profiles are compressed, and saved as received
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return w
}

func (w *processConn) close() {
	w.client.CloseIdleConnections()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ready != nil {
		_ = w.ready.Close()
	}
}

// connect makes the first connection.
func (w *processConn) connect(ctx context.Context) *failure {
	patience := remainingTimeout(ctx, w.opts.Timeout)
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	conn, err := w.open(ctx)
	if err != nil {
		if cause := context.Cause(ctx); errors.Is(cause, context.Canceled) {
			err = cause
		}
		return connectFailure(err, patience)
	}
	w.ready = conn
	return nil
}

// remainingTimeout returns timeout, or the remaining time for the process if that is less.
func remainingTimeout(ctx context.Context, timeout time.Duration) time.Duration {
	if until, ok := ctx.Deadline(); ok {
		return max(0, min(timeout, time.Until(until).Round(100*time.Millisecond)))
	}
	return timeout
}

// dial is the dial function of the transport.
func (w *processConn) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	w.mu.Lock()
	conn := w.ready
	w.ready = nil
	w.mu.Unlock()
	if conn != nil {
		return conn, nil
	}
	patience := remainingTimeout(ctx, w.opts.Timeout)
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	conn, err := w.open(ctx)
	if err != nil {
		return nil, connectFailure(err, patience)
	}
	return conn, nil
}

func (w *processConn) open(ctx context.Context) (net.Conn, error) {
	u := w.target.URL
	conn, err := w.opts.Dial(ctx, "tcp", address(u))
	if err != nil || u.Scheme != "https" {
		return conn, err
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if w.opts.TLS != nil {
		config = w.opts.TLS.Clone()
	}
	if config.ServerName == "" {
		config.ServerName = u.Hostname()
	}
	config.NextProtos = []string{"http/1.1"}
	secure := tls.Client(conn, config)
	if err := secure.HandshakeContext(ctx); err != nil {
		_ = conn.Close()
		return nil, err
	}
	return secure, nil
}

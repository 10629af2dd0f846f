package trial

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"kitescope/profile/pull"
)

// perform executes a run. It returns an error only for a failure of kitescope itself, or ctx's error.
func (t *trial) perform(ctx context.Context, r *run) (result, error) {
	if err := r.prepare(); err != nil {
		return result{}, err
	}
	if r.serve == nil {
		return r.load.run(ctx)
	}
	s, err := t.startService(ctx, r.serve)
	if err != nil {
		return result{}, err
	}
	got, err := t.serveLoad(ctx, r, s)
	last, lastErr := s.end()
	got.use = last.use
	return got, cmp.Or(ctx.Err(), err, lastErr)
}

// service is a running service.
type service struct {
	process *process
	ended   chan struct{}
	result  result // result and err are valid once ended is closed
	err     error
}

func (t *trial) startService(ctx context.Context, c *command) (*service, error) {
	if responds(ctx, t.plan.Ready) {
		return nil, planError("stop it, or let the service listen elsewhere",
			"something responds at %s before the service is started", redactWord(t.plan.Ready))
	}
	p, err := c.start(ctx)
	if err != nil {
		return nil, fmt.Errorf("run %s: %w", c.words[0], err)
	}
	p.gracePeriod = exitTimeout
	s := &service{process: p, ended: make(chan struct{})}
	go func() {
		defer close(s.ended)
		s.result, s.err = p.wait()
	}()
	return s, nil
}

// end sends SIGTERM to the service, and SIGKILL if it does not exit within patience.
func (s *service) end() (result, error) {
	select {
	case <-s.ended:
		return s.result, s.err
	default:
	}
	terminateGroup(s.process.cmd)
	force := time.AfterFunc(exitTimeout, func() { killGroup(s.process.cmd) })
	defer force.Stop()
	<-s.ended
	return s.result, s.err
}

// exitFailure returns a failure if the service exited on its own, "" while it runs.
func (s *service) exitFailure() string {
	select {
	case <-s.ended:
		if s.result.failed == "" {
			return "the service ended before the load did"
		}
		return "the service ended before the load did: " + s.result.failed
	default:
		return ""
	}
}

// serveLoad waits until the service is up and runs the load, with a profile if window is set.
func (t *trial) serveLoad(ctx context.Context, r *run, s *service) (result, error) {
	if failed := t.awaitReady(ctx, s); failed != "" || ctx.Err() != nil {
		return result{failed: failed}, ctx.Err()
	}
	var got result
	var err error
	if r.window > 0 {
		got, err = t.pullUnderLoad(ctx, r)
	} else {
		got, err = r.load.run(ctx)
	}
	if got.failed != "" {
		// If a service dies, its connections break a moment before its exit is known.
		select {
		case <-s.ended:
		case <-time.After(time.Second / 2):
		}
	}
	if gone := s.exitFailure(); gone != "" && err == nil {
		got.failed = gone
	}
	return got, err
}

// awaitReady polls the service until it responds. It returns the reason if it does not.
func (t *trial) awaitReady(ctx context.Context, s *service) (failed string) {
	const pause = 20 * time.Millisecond
	ctx, stop := context.WithTimeout(ctx, t.plan.ReadyTimeout)
	defer stop()
	for {
		if responds(ctx, t.plan.Ready) {
			return ""
		}
		select {
		case <-s.ended:
			return s.exitFailure()
		case <-ctx.Done():
			return fmt.Sprintf("the service was not up after %s: no response at %s", t.plan.ReadyTimeout,
				redactWord(t.plan.Ready))
		case <-time.After(pause):
		}
	}
}

// responds reports whether an address responds: a URL with a status below 400, a host:port with a connection.
func responds(ctx context.Context, address string) bool {
	const patient = 2 * time.Second
	ctx, stop := context.WithTimeout(ctx, patient)
	defer stop()
	if !strings.Contains(address, "://") {
		conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
		if err != nil {
			return false
		}
		_ = conn.Close()
		return true
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return false
	}
	// A separate client: no proxy from the environment, no kept-alive connections, no redirects.
	client := &http.Client{
		Transport:     &http.Transport{DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	answer, err := client.Do(request)
	if err != nil {
		return false
	}
	_ = answer.Body.Close()
	return answer.StatusCode < http.StatusBadRequest
}

// pullUnderLoad takes a profile of the service while the load runs. It repeats the load if it is shorter than the
// window.
func (t *trial) pullUnderLoad(ctx context.Context, r *run) (result, error) {
	target, err := pull.ParseTarget(t.plan.PProf, "")
	if err != nil {
		return result{}, planError("for example: --pprof http://127.0.0.1:6060", "--pprof: %w", err)
	}
	dir := filepath.Join(r.scratch, "pull")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return result{}, err
	}
	loading, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan result, 1)
	go func() {
		var last result
		for loading.Err() == nil {
			got, err := r.load.run(loading)
			if loading.Err() != nil {
				break // the window has passed
			}
			if last = got; err != nil || got.failed != "" {
				if err != nil {
					last.failed = err.Error()
				}
				break
			}
		}
		ended <- last
	}()
	began := time.Now()
	m, err := pull.Run(ctx, []pull.Target{target}, pull.Options{Seconds: t.plan.Seconds, Tool: t.plan.Tool}, dir)
	stop()
	last := <-ended
	last.wall = time.Since(began)
	if err != nil {
		return last, err
	}
	entry := &m.Profiles[0]
	switch {
	case last.failed != "":
	case m.Failed() > 0:
		last.failed = fmt.Sprintf("no profile could be taken: %s: %s", entry.Outcome, entry.Error)
	default:
		err = os.Rename(filepath.Join(dir, entry.File), r.profile)
	}
	return last, err
}

// Package pull takes profiles of many processes over HTTP, all over the same window, and saves them with a manifest.
//
// Targets come from the sessions of a cluster (package session) or from URLs. RunTo writes profiles and a Manifest to a
// folder, ToFolder does so to a new folder, and Rolling writes a folder for each round. Read returns each as a Record.
//
//  1. All processes (at most Options.Parallel per window) are connected first, and requests are sent at the same moment
//     (gate.go).
//  2. For each process, the CPU profile is taken first. Differences of cumulative profiles share its window. Execution
//     traces follow, then instantaneous profiles (process.go).
//  3. A response is streamed to a file with a size limit. Its status, its form, whether it decodes and its kind are
//     checked (download.go, verify.go).
//  4. A failure is an Entry with an Outcome and a reason, never a file (outcome.go).
//  5. A folder appears only when it is complete (folder.go, rolling.go).
//
// Endpoints and responses are those of net/http/pprof. The package uses no proxy from the environment, does not follow
// redirects, and never saves or reports credentials.
package pull

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"kitescope/internal/redact"
	"kitescope/internal/words"
	"kitescope/profile"
)

// Options control which profiles are pulled and how. The zero value takes 10 s of CPU.
type Options struct {
	// Kinds are the kinds to take from each process; nil means CPU.
	Kinds []Kind
	// Seconds is the window; 0 means 10.
	Seconds int
	// Timeout limits the time of a connection, and of a response beyond its window; 0 means 5 s.
	Timeout time.Duration
	// Total limits the time for a process beyond its windows, including connecting, waiting, and all responses; 0
	// means no limit.
	Total time.Duration
	// BusyWait is how long requests are repeated while the profiler of a process is in use. 0 means 35 s,
	// enough for a profile with the default of net/http/pprof, 30 s. A negative value means no repetition.
	BusyWait time.Duration
	// MaxBytes is the maximum size of a profile; 0 means 256 MiB.
	MaxBytes int64
	// Limits bound the decoded profile. Profiles are decoded to check them.
	Limits profile.Limits
	// Parallel is the number of processes that are profiled over the same window; 0 means 512. Further
	// processes follow in later windows.
	Parallel int
	// Dial connects to host:port; nil means TCP. The Word method of an error, if it has one, returns its Outcome.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// TLS is the configuration for https.
	TLS *tls.Config
	// Header is sent with each request. Its values are secrets.
	Header http.Header
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// Progress is called with one Event at a time; it may be nil.
	Progress func(Event)
	// Tool is the version of the program and Command its command line without secrets, both for the manifest.
	Tool, Command string
	// Root is the root path of the cluster; "" without a cluster.
	Root string
}

const (
	defaultSeconds  = 10
	defaultTimeout  = 5 * time.Second
	defaultBusyWait = 35 * time.Second
	defaultMaxBytes = 256 << 20
	defaultParallel = 512
	maxSeconds      = 24 * 60 * 60
)

// State is the state of a pull.
type State uint8

// The states.
const (
	// Connecting to the process.
	Connecting State = iota
	// Sampling: the request was sent.
	Sampling
	// Waiting until another profile of the same process has ended.
	Waiting
	// Done, with an Outcome.
	Done
)

// Event reports progress on a single profile of a process.
type Event struct {
	Node    string
	Kind    Kind
	State   State
	Outcome Outcome
	// Reason is the reason for the state, or "".
	Reason string
	// Done is the number of finished profiles, and All the number of requested ones.
	Done, All int
}

// puller holds the state of a Run.
type puller struct {
	opts  Options
	dir   string
	clock func() time.Time
	// decoding limits how many profiles are held in memory.
	decoding chan struct{}
	files    names

	mu      sync.Mutex
	entries []Entry
	total   int
	broken  error // a local error, e.g. of the disk
}

// Run takes profiles and writes them to an existing folder, without a manifest file. It returns an error for
// local problems or if ctx ends. If ctx ends, the Manifest holds the complete profiles.
func Run(ctx context.Context, targets []Target, opts Options, dir string) (*Manifest, error) {
	if err := opts.validate(); err != nil {
		return nil, err
	}
	if len(targets) == 0 {
		return nil, errors.New("pull profiles: no process given")
	}
	p := &puller{
		opts: opts, dir: dir, clock: monotonicClock(opts.Now), decoding: make(chan struct{}, runtime.GOMAXPROCS(0)),
	}
	targets = distinct(targets)
	for i := range targets {
		p.total += len(p.kindsOf(&targets[i]))
	}
	m := &Manifest{
		Format: Format, Version: Version, Kitescope: opts.Tool, Command: opts.Command, Root: opts.Root,
		Started: p.clock().UTC(), Seconds: opts.Seconds,
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	for batch := range slices.Chunk(targets, opts.Parallel) {
		p.batch(ctx, stop, batch)
	}
	m.Ended = p.clock().UTC()
	m.Profiles = p.entries
	slices.SortStableFunc(m.Profiles, func(a, b Entry) int {
		return cmp.Or(words.CompareNatural(a.Node, b.Node), cmp.Compare(a.Kind, b.Kind))
	})
	return m, cmp.Or(p.broken, context.Cause(ctx))
}

func (o *Options) validate() error {
	switch {
	case o.Seconds < 0 || o.Seconds > maxSeconds:
		return errors.New("pull profiles: the window must be 1 second to 24 hours")
	case o.Timeout < 0 || o.Total < 0 || o.MaxBytes < 0 || o.Parallel < 0:
		return errors.New("pull profiles: timeout, limit and parallel processes cannot be negative")
	}
	o.Seconds, o.Timeout = cmp.Or(o.Seconds, defaultSeconds), cmp.Or(o.Timeout, defaultTimeout)
	o.BusyWait, o.MaxBytes, o.Parallel = cmp.Or(o.BusyWait, defaultBusyWait), cmp.Or(o.MaxBytes, defaultMaxBytes),
		cmp.Or(o.Parallel, defaultParallel)
	if len(o.Kinds) == 0 {
		o.Kinds = []Kind{CPU}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Dial == nil {
		o.Dial = new(net.Dialer).DialContext
	}
	return nil
}

// monotonicClock returns a clock that starts at now and advances with the monotonic clock, so a window keeps its length
// if the system clock is set meanwhile.
func monotonicClock(now func() time.Time) func() time.Time {
	base, start := now().Round(0), time.Now()
	return func() time.Time { return base.Add(time.Since(start)) }
}

// distinct removes duplicate targets, and makes the names of nodes unique.
func distinct(targets []Target) []Target {
	seen := map[string]bool{}
	var kept []Target
	used := map[string]int{}
	for _, t := range targets {
		if t.URL != nil {
			key := t.URL.String()
			if seen[key] {
				continue
			}
			seen[key] = true
		}
		kept = append(kept, t)
	}
	hosts := map[string]map[string]bool{}
	for _, t := range kept {
		if hosts[t.Node] == nil {
			hosts[t.Node] = map[string]bool{}
		}
		hosts[t.Node][t.hostPort()] = true
	}
	for i := range kept {
		t := &kept[i]
		if len(hosts[t.Node]) > 1 { // different processes with the same name
			t.Node += "@" + t.hostPort()
		}
		key := t.Node + " " + string(t.Only)
		if used[key]++; used[key] > 1 { // several routes to one process
			t.Node += fmt.Sprintf("#%d", used[key])
		}
	}
	return kept
}

// hostPort returns the address of a process, or "" if it is unknown.
func (t *Target) hostPort() string {
	if t.URL == nil {
		return ""
	}
	return address(t.URL)
}

// kindsOf returns the kinds to take from a target.
func (p *puller) kindsOf(t *Target) []Kind {
	if t.Only != "" {
		return []Kind{t.Only}
	}
	return p.opts.Kinds
}

// add records the result of a pull.
func (p *puller) add(e Entry) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.entries = append(p.entries, e)
	p.emit(Event{Node: e.Node, Kind: e.Kind, State: Done, Outcome: e.Outcome, Reason: e.Error})
}

// report sends a progress event for a pull that is not done.
func (p *puller) report(node string, k Kind, s State, reason string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.emit(Event{Node: node, Kind: k, State: s, Reason: reason})
}

func (p *puller) emit(e Event) {
	if p.opts.Progress != nil {
		e.Done, e.All = len(p.entries), p.total
		p.opts.Progress(e)
	}
}

// redact removes sent credentials from text.
func (p *puller) redact(t *Target, text string) string {
	for _, s := range t.secrets {
		text = replaceSecret(text, s)
	}
	for _, values := range p.opts.Header {
		for _, v := range values {
			text = replaceSecret(text, v)
			if _, own, ok := strings.Cut(v, " "); ok { // "Bearer x"
				text = replaceSecret(text, own)
			}
		}
	}
	return text
}

// redactedReason returns a reason in one line, without sent credentials and without secrets of the server. Both are
// removed before truncation, because a truncated secret would not be recognized.
func (p *puller) redactedReason(t *Target, reason string) string {
	return oneLine(redact.Text(p.redact(t, reason)))
}

func replaceSecret(text, secret string) string {
	if secret == "" {
		return text
	}
	return strings.ReplaceAll(text, secret, redact.Redacted)
}

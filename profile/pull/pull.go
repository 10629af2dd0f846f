// Package pull takes profiles of many processes over HTTP, all over the same window, and keeps
// them with a manifest that says what each is of.
//
// What enters are Targets, from the sessions of a cluster or from URLs; what leaves is a folder of
// profiles with a Manifest, or a rolling record of such folders; Read reads both again.
//
//  1. All processes are connected to, and then asked at the same moment (gate.go).
//  2. Of a process, what lasts a window comes first, one profile of the CPU at a time, then what
//     is taken at once (process.go).
//  3. An answer is written to a file as it comes, bounded, and checked: status, form, whether it
//     decodes, whether it is of the kind that was asked for (ask.go, verify.go).
//  4. Whatever went wrong is an Entry with an Outcome and a reason, never a file (outcome.go).
//  5. A folder appears when it is complete (folder.go, rolling.go).
//
// Endpoints and their answers are those of net/http/pprof. Nothing is taken from the environment,
// redirects are not followed, and credentials stand in nothing that is kept or said.
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

// Options say what is pulled and how. The zero Options take 10 s of CPU.
type Options struct {
	// Kinds are those of each process; nil: CPU.
	Kinds []Kind
	// Seconds is the window; 0: 10.
	Seconds int
	// Timeout is how long a connection may take, and an answer beyond its window; 0: 5 s.
	Timeout time.Duration
	// Total is how long all of a process may take beyond its windows: connecting, waiting, and every answer; 0: no limit.
	Total time.Duration
	// BusyWait is how long a process is asked again whose profiler is in use; 0: 35 s, what a
	// profile of net/http/pprof's default of 30 s needs. Negative: not at all.
	BusyWait time.Duration
	// MaxBytes bounds one profile; 0: 256 MiB.
	MaxBytes int64
	// Limits bound what one becomes when it is decoded, which is how it is checked.
	Limits profile.Limits
	// Parallel is how many processes are profiled over the same window; 0: 512. Others follow.
	Parallel int
	// Dial connects to host:port; nil: TCP. An error with a method Word says its Outcome.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// TLS is for https.
	TLS *tls.Config
	// Header is sent along with each request. Its values are secrets.
	Header http.Header
	// Now is the clock; nil: time.Now.
	Now func() time.Time
	// Progress hears what happens, one Event at a time; nil: nobody listens.
	Progress func(Event)
	// Tool and Command are for the manifest: the program's version and its command line, without secrets.
	Tool, Command string
	// Root is the cluster's, "" where there is none.
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

// State is what a pull is doing.
type State uint8

// The states.
const (
	// Connecting to the process.
	Connecting State = iota
	// Sampling: the process was asked.
	Sampling
	// Waiting until another profile of the same process has ended.
	Waiting
	// Done, with an Outcome.
	Done
)

// Event is progress: one profile of one process.
type Event struct {
	Node    string
	Kind    Kind
	State   State
	Outcome Outcome
	// Reason says more, "" if there is nothing to say.
	Reason string
	// Done of All profiles are done.
	Done, All int
}

// puller is one Run.
type puller struct {
	opts  Options
	dir   string
	clock func() time.Time
	// decoding bounds how many profiles are held in memory.
	decoding chan struct{}
	files    names

	mu      sync.Mutex
	entries []Entry
	all     int
	broken  error // our own disk, not the processes
}

// Run takes profiles and writes them into a folder that exists, without a manifest file. An error is about
// this side, or that ctx ended: the Manifest then holds what was complete.
func Run(ctx context.Context, targets []Target, opts Options, dir string) (*Manifest, error) {
	if err := opts.settle(); err != nil {
		return nil, err
	}
	if len(targets) == 0 {
		return nil, errors.New("pull profiles: no process is named")
	}
	p := &puller{opts: opts, dir: dir, clock: steady(opts.Now), decoding: make(chan struct{}, runtime.GOMAXPROCS(0))}
	targets = distinct(targets)
	for i := range targets {
		p.all += len(p.kindsOf(&targets[i]))
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

func (o *Options) settle() error {
	switch {
	case o.Seconds < 0 || o.Seconds > maxSeconds:
		return errors.New("pull profiles: a window is 1 second to 24 hours")
	case o.Timeout < 0 || o.Total < 0 || o.MaxBytes < 0 || o.Parallel < 0:
		return errors.New("pull profiles: timeout, limit and parallel processes cannot be negative")
	}
	o.Seconds, o.Timeout = cmp.Or(o.Seconds, defaultSeconds), cmp.Or(o.Timeout, defaultTimeout)
	o.BusyWait, o.MaxBytes, o.Parallel = cmp.Or(o.BusyWait, defaultBusyWait), cmp.Or(o.MaxBytes, defaultMaxBytes), cmp.Or(o.Parallel, defaultParallel)
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

// steady is a clock that starts at what another says and goes on by the machine's own: a
// window keeps its length when the clock is set meanwhile.
func steady(now func() time.Time) func() time.Time {
	base, start := now().Round(0), time.Now()
	return func() time.Time { return base.Add(time.Since(start)) }
}

// distinct leaves out targets that were named twice, and makes the names of nodes unique.
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
		hosts[t.Node][t.place()] = true
	}
	for i := range kept {
		t := &kept[i]
		if len(hosts[t.Node]) > 1 { // two processes of one name
			t.Node += "@" + t.place()
		}
		key := t.Node + " " + string(t.Only)
		if used[key]++; used[key] > 1 { // two routes of one process
			t.Node += fmt.Sprintf("#%d", used[key])
		}
	}
	return kept
}

// place is the address of a process.
func (t *Target) place() string {
	if t.URL == nil {
		return ""
	}
	return address(t.URL)
}

// kindsOf are the kinds to take of a target.
func (p *puller) kindsOf(t *Target) []Kind {
	if t.Only != "" {
		return []Kind{t.Only}
	}
	return p.opts.Kinds
}

// add keeps what came of one pull.
func (p *puller) add(e Entry) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.entries = append(p.entries, e)
	p.tell(Event{Node: e.Node, Kind: e.Kind, State: Done, Outcome: e.Outcome, Reason: e.Error})
}

// report tells of a pull that goes on.
func (p *puller) report(node string, k Kind, s State, reason string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tell(Event{Node: node, Kind: k, State: s, Reason: reason})
}

func (p *puller) tell(e Event) {
	if p.opts.Progress != nil {
		e.Done, e.All = len(p.entries), p.all
		p.opts.Progress(e)
	}
}

// conceal takes out of a text what was sent along.
func (p *puller) conceal(t *Target, text string) string {
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

// told is a reason in one line, without what was sent along and without what a server says of secrets of its own. Both are
// taken out before anything is cut off: half of a secret would not be found any more.
func (p *puller) told(t *Target, reason string) string {
	return oneLine(redact.Text(p.conceal(t, reason)))
}

func replaceSecret(text, own string) string {
	if own == "" {
		return text
	}
	return strings.ReplaceAll(text, own, redact.Redacted)
}

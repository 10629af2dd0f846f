package record

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/model"
	"kitescope/inspect/session"
	"kitescope/profile/pull"
)

// Profiles pulls profiles of the processes concerned when a finding appears. It writes each pull into its own
// folder below the recording, in the layout of "profile pull".
type Profiles struct {
	// Bar is the minimum severity of a finding.
	Bar    check.Severity
	Checks []*check.Check
	// Pull holds the options of the pulls.
	Pull pull.Options
	// Pause is the minimum time between two pulls; 0 means 5 minutes. Most is the maximum number of processes in a
	// pull; 0 means 16.
	Pause time.Duration
	Most  int

	dir     string
	judging check.Judge
	mu      sync.Mutex // guards the fields below
	known   map[string]bool
	judged  time.Time
	pulled  time.Time
	pulling sync.WaitGroup
}

const (
	profilePause = 5 * time.Minute
	mostProfiled = 16
	// maxPulls is the maximum number of pulls kept.
	maxPulls = 200
)

// judge runs the checks, at most once per interval, and starts a pull if there are new findings.
func (p *Profiles) judge(ctx context.Context, r *Recorder, c *model.Cluster) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := r.o.Now()
	if c.Runtime == nil || now.Sub(p.judged) < r.o.Every {
		return
	}
	p.judged = now
	p.dir = filepath.Join(r.o.Dir, session.PullsFolder)
	report := p.judging.Run(c, now, p.Checks)
	known, appeared := map[string]bool{}, []*check.Finding(nil)
	for _, f := range report.Findings {
		if f.Severity < p.Bar {
			continue
		}
		known[f.Key()] = true
		if !p.known[f.Key()] {
			appeared = append(appeared, f)
		}
	}
	pause := cmp.Or(p.Pause, profilePause)
	if len(appeared) == 0 || !p.pulled.IsZero() && now.Sub(p.pulled) < pause {
		if len(appeared) == 0 { // otherwise a finding stays new until profiles are pulled
			p.known = known
		}
		return
	}
	p.known, p.pulled = known, now
	list := concerned(session.ProfileTargets(c), appeared, cmp.Or(p.Most, mostProfiled))
	if len(list) == 0 {
		return
	}
	path := filepath.Join(p.dir, session.PullName(now, appeared[0].Check))
	options := p.Pull
	options.Root = c.Origin.Root
	p.pulling.Go(func() {
		if err := os.MkdirAll(path, 0o700); err != nil {
			r.o.Say(fmt.Sprintf("no profiles are taken: %v", err))
			return
		}
		m, err := pull.RunTo(ctx, list, options, path)
		if err != nil {
			r.o.Say(fmt.Sprintf("no profiles are taken: %v", err))
			_ = os.RemoveAll(path)
			return
		}
		r.o.Say(fmt.Sprintf("%s: %s: %d profiles in %s", appeared[0].Check, appeared[0].Message, len(m.Profiles)-m.Failed(), path))
	})
}

// concerned returns the processes that the findings name, up to most. If they name no process, it selects from all.
// Processes without a URL are skipped.
func concerned(all []pull.Target, findings []*check.Finding, most int) []pull.Target {
	named := func(t pull.Target) bool {
		return slices.ContainsFunc(findings, func(f *check.Finding) bool {
			return slices.ContainsFunc(append([]model.Ref{f.Object}, f.Objects...), func(o model.Ref) bool {
				return o.Resource == "nodes" && (o.ID == t.Node || slices.Contains(t.NodeIDs, o.ID[strings.LastIndexByte(o.ID, '-')+1:]))
			})
		})
	}
	var list, rest []pull.Target
	for _, t := range all {
		switch {
		case t.URL == nil:
		case named(t):
			list = append(list, t)
		default:
			rest = append(rest, t)
		}
	}
	if len(list) == 0 {
		list = rest
	}
	return list[:min(len(list), most)]
}

// wait waits for running pulls. They end when the context of judge is done.
func (p *Profiles) wait() { p.pulling.Wait() }

// prune removes the oldest pulls beyond age, size in bytes and maxPulls. It returns the size of the others in
// bytes. The newest pull is kept regardless of its size, unless it is too old.
func (p *Profiles) prune(now time.Time, age time.Duration, size int64) int64 {
	p.mu.Lock()
	dir := p.dir
	p.mu.Unlock()
	entries, err := os.ReadDir(dir)
	if dir == "" || err != nil {
		return 0
	}
	total := int64(0)
	for i, e := range slices.Backward(entries) { // newest first, because names begin with the time
		path := filepath.Join(dir, e.Name())
		took := session.FilesSize(path)
		info, err := e.Info()
		old := err == nil && age > 0 && now.Sub(info.ModTime()) > age
		if total += took; old || len(entries)-i > maxPulls || size > 0 && total > size && i < len(entries)-1 {
			_ = os.RemoveAll(path)
			total -= took
		}
	}
	return total
}

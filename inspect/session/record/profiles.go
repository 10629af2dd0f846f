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
	// MinSeverity is the minimum severity of a finding.
	MinSeverity check.Severity
	Checks      []*check.Check
	// Pull holds the options of the pulls.
	Pull pull.Options
	// Pause is the minimum time between two pulls; 0 means 5 minutes. MaxProcesses is the maximum number of processes
	// in a pull; 0 means 16.
	Pause        time.Duration
	MaxProcesses int

	dir       string
	checker   check.Judge
	mu        sync.Mutex // guards the fields below
	known     map[string]bool
	lastCheck time.Time
	lastPull  time.Time
	pulling   sync.WaitGroup
}

const (
	profilePause        = 5 * time.Minute
	defaultMaxProcesses = 16
	// maxPulls is the maximum number of pulls kept.
	maxPulls = 200
)

// checkFindings runs the checks, at most once per interval, and starts a pull if there are new findings.
func (p *Profiles) checkFindings(ctx context.Context, r *Recorder, c *model.Cluster) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := r.o.Now()
	if c.Runtime == nil || now.Sub(p.lastCheck) < r.o.Every {
		return
	}
	p.lastCheck = now
	p.dir = filepath.Join(r.o.Dir, session.PullsFolder)
	report := p.checker.Run(c, now, p.Checks)
	known, appeared := map[string]bool{}, []*check.Finding(nil)
	for _, f := range report.Findings {
		if f.Severity < p.MinSeverity {
			continue
		}
		known[f.Key()] = true
		if !p.known[f.Key()] {
			appeared = append(appeared, f)
		}
	}
	pause := cmp.Or(p.Pause, profilePause)
	if len(appeared) == 0 || !p.lastPull.IsZero() && now.Sub(p.lastPull) < pause {
		if len(appeared) == 0 { // otherwise a finding stays new until profiles are pulled
			p.known = known
		}
		return
	}
	p.known, p.lastPull = known, now
	list := selectTargets(session.ProfileTargets(c), appeared, cmp.Or(p.MaxProcesses, defaultMaxProcesses))
	if len(list) == 0 {
		return
	}
	path := filepath.Join(p.dir, session.PullName(now, appeared[0].Check))
	options := p.Pull
	options.Root = c.Origin.Root
	p.pulling.Go(func() {
		if err := os.MkdirAll(path, 0o700); err != nil {
			r.o.Log(fmt.Sprintf("no profiles are taken: %v", err))
			return
		}
		m, err := pull.RunTo(ctx, list, options, path)
		if err != nil {
			r.o.Log(fmt.Sprintf("no profiles are taken: %v", err))
			_ = os.RemoveAll(path)
			return
		}
		r.o.Log(fmt.Sprintf("%s: %s: %d profiles in %s", appeared[0].Check, appeared[0].Message,
			len(m.Profiles)-m.Failed(), path))
	})
}

// selectTargets returns the processes that the findings name, up to limit. If they name no process, it selects from
// all. Processes without a URL are skipped.
func selectTargets(all []pull.Target, findings []*check.Finding, limit int) []pull.Target {
	named := func(t pull.Target) bool {
		return slices.ContainsFunc(findings, func(f *check.Finding) bool {
			return slices.ContainsFunc(append([]model.Ref{f.Object}, f.Objects...), func(o model.Ref) bool {
				return o.Resource == "nodes" &&
					(o.ID == t.Node || slices.Contains(t.NodeIDs, o.ID[strings.LastIndexByte(o.ID, '-')+1:]))
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
	return list[:min(len(list), limit)]
}

// wait waits for running pulls. They end when the context of checkFindings is done.
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

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

// Profiles takes profiles of the processes that a finding is about, when it appears. They go into folders of their own below the
// recording, as profile pull makes them.
type Profiles struct {
	// Bar is how bad a finding must be.
	Bar    check.Severity
	Checks []*check.Check
	// Pull says how profiles are taken.
	Pull pull.Options
	// Pause is between two pulls at least; 0: 5 minutes. Most is of how many processes they are taken at once; 0: 16.
	Pause time.Duration
	Most  int

	dir     string
	judging check.Judge
	mu      sync.Mutex // guards what follows
	known   map[string]bool
	judged  time.Time
	pulled  time.Time
	pulling sync.WaitGroup
}

const (
	profilePause = 5 * time.Minute
	mostProfiled = 16
	// maxPulls is how many pulls are kept.
	maxPulls = 200
)

// judge looks for findings that were not there before, at most once an interval.
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
		if len(appeared) == 0 { // else it is new as long as nothing was taken of it
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

// concerned are the processes that findings name; all of them where they name none.
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

// wait waits for profiles that are being taken; they end with the context.
func (p *Profiles) wait() { p.pulling.Wait() }

// prune removes the oldest pulls beyond the bounds, and returns what the others take.
func (p *Profiles) prune(now time.Time, age time.Duration, size int64) int64 {
	p.mu.Lock()
	dir := p.dir
	p.mu.Unlock()
	entries, err := os.ReadDir(dir)
	if dir == "" || err != nil {
		return 0
	}
	total := int64(0)
	for i, e := range slices.Backward(entries) { // the newest first: names begin with the time
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

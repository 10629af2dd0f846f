package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"kitescope/tools/e2e/lab"
)

// Step is a step of a fix, as printed by diagnose -o json.
type Step struct {
	Command  string  `json:"command"`
	Language string  `json:"language"`
	Changes  bool    `json:"changes"`
	Within   float64 `json:"within_seconds"`
	Text     string  `json:"text"`
}

// Finding is the part of a finding that a play needs.
type Finding struct {
	Check   string     `json:"check"`
	Message string     `json:"message"`
	Object  lab.Object `json:"object"`
	Fix     []Step     `json:"fix"`
}

// Play is the test of one fix.
type Play struct {
	Name  string
	Check string
	// About is a part of the finding's message or of its object's name or id.
	About string
	// Steps lists how the sentences of the executed steps begin, in order.
	Steps []string
	// Wait is the maximum time until the finding appears.
	Wait time.Duration
	// Storage makes diagnose check the storage.
	Storage bool
	// Cluster is set if single processes have to be stopped and started.
	Cluster bool
	Inject  func(ctx context.Context, w *World) error
	// Follow does the action of a step that has no command.
	Follow func(ctx context.Context, w *World, s *Step) error
	// Recovered returns an error unless the fault is gone according to other means than kitescope.
	Recovered func(ctx context.Context, w *World) error
	Heal      func(ctx context.Context, w *World) error
}

// Outcome is the result of a play.
type Outcome struct {
	Play   *Play
	Steps  []*Step       // executed steps
	Took   time.Duration // from the first step until the finding was gone
	Broken error         // the fault could not be injected
	Failed error         // the fix did not work
}

// within returns the time that the last step prints, in seconds.
func (o *Outcome) within() float64 { return o.Steps[len(o.Steps)-1].Within }

// World is the cluster and how to reach it.
type World struct {
	*lab.Lab
	kitescope            *lab.Kitescope
	etcd, proxy, storage string
	log                  func(format string, words ...any)
}

func (w *World) python(ctx context.Context, code string) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Minute) // longer than the time of any step
	defer cancel()
	_, err := w.Output(ctx, w.Python(), "-W", "ignore", w.Script, w.proxy, code)
	return err
}

// shell runs a command like a user in a terminal whose environment points kitescope and etcdctl to the
// cluster.
func (w *World) shell(ctx context.Context, command string) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	words := []string{"env", "KITESCOPE_FROM=" + w.source(), "KITESCOPE=" + w.kitescope.File}
	if !strings.Contains(command, "--endpoints") {
		words = append(words, "ETCDCTL_ENDPOINTS="+w.etcd)
	}
	_, err := w.Output(ctx, words[0], append(words[1:], "sh", "-c", command)...)
	return err
}

func (w *World) source() string { return "etcd://" + w.etcd + "/by-dev" }

// diagnose returns the findings of a play's check.
func (w *World) diagnose(ctx context.Context, p *Play) ([]*Finding, error) {
	var all []*Finding
	words := []string{"diagnose", "--only", p.Check}
	if p.Storage {
		words = append(words, "--storage", w.storage)
	}
	if err := w.kitescope.Ask(ctx, w.Lab, w.source(), filepath.Join(w.Out, "look.json"), &all, words...); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(all, func(f *Finding) bool {
		return f.Check != p.Check || !strings.Contains(f.Message+" "+f.Object.Name+" "+f.Object.ID, p.About)
	}), nil
}

// play injects a fault, waits for its finding, executes the printed steps, and waits until the finding is
// gone.
func (w *World) play(ctx context.Context, p *Play) *Outcome {
	o := &Outcome{Play: p}
	if p.Heal != nil {
		defer func() {
			if err := p.Heal(context.WithoutCancel(ctx), w); err != nil {
				w.log("heal %s: %v", p.Name, err)
			}
		}()
	}
	defer w.UndoAll()
	if o.Broken = p.Inject(ctx, w); o.Broken != nil {
		return o
	}
	var found *Finding
	o.Broken = w.until(ctx, p, p.Wait, func(all []*Finding) bool {
		if len(all) > 0 {
			found = all[0]
		}
		return found != nil
	})
	if o.Broken != nil {
		return o
	}
	w.log("found: %s: %s", found.Check, found.Message)
	began := time.Now()
	for _, begin := range p.Steps {
		at := slices.IndexFunc(found.Fix, func(s Step) bool { return strings.HasPrefix(s.Text, begin) })
		if at < 0 {
			o.Broken = fmt.Errorf("no step begins with %q: %+v", begin, found.Fix)
			return o
		}
		step := &found.Fix[at]
		o.Steps = append(o.Steps, step)
		w.log("follow: %s: %s", step.Command, step.Text)
		if o.Failed = w.follow(ctx, p, step); o.Failed != nil {
			return o
		}
	}
	within := time.Duration(o.within() * float64(time.Second))
	if within == 0 {
		o.Failed = errors.New("it prints no duration")
		return o
	}
	o.Failed = w.until(ctx, p, within-time.Since(began), func(all []*Finding) bool { return len(all) == 0 })
	for {
		o.Took = time.Since(began)
		if o.Failed != nil || p.Recovered == nil {
			return o
		}
		err := p.Recovered(ctx, w)
		if err == nil {
			return o
		}
		w.log("not yet: %v", err)
		if time.Since(began) > within || lab.Sleep(ctx, time.Second) != nil {
			o.Failed = fmt.Errorf("the finding is gone, but not the fault: %w", err)
		}
	}
}

func (w *World) follow(ctx context.Context, p *Play, s *Step) error {
	switch {
	case s.Language == "python":
		return w.python(ctx, s.Command)
	case s.Command != "":
		return w.shell(ctx, s.Command)
	case p.Follow != nil:
		return p.Follow(ctx, w, s)
	}
	return errors.New("the step has no command")
}

// until runs diagnose until is returns true, at most for the duration limit.
func (w *World) until(ctx context.Context, p *Play, limit time.Duration, is func(all []*Finding) bool) error {
	for end := time.Now().Add(limit); ; {
		all, err := w.diagnose(ctx, p)
		if err == nil && is(all) {
			return nil
		}
		if time.Now().After(end) {
			return errors.Join(fmt.Errorf("not within %s, with %d findings of %s", limit.Round(time.Second), len(all),
				p.Check), err)
		}
		if err := lab.Sleep(ctx, 2*time.Second); err != nil {
			return err
		}
	}
}

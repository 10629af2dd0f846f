package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"kitescope/tools/e2e/lab"
)

const (
	warmup = 5 * time.Second  // load before a window
	limit  = 25 * time.Minute // maximum time of a situation, including its setup and cure
)

// runner plays situations.
type runner struct {
	lab       *lab.Lab
	kitescope *lab.Kitescope
	window    time.Duration
	out       string
	log       func(format string, words ...any)
}

// play plays one situation on a healthy cluster. Failures of the run itself are in the result's Broken.
func (r *runner) play(ctx context.Context, s *Situation) *Result {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	result := &Result{At: time.Now().UTC().Truncate(time.Second), Name: s.Name}
	dir := filepath.Join(r.out, s.Name)
	err := os.RemoveAll(dir)
	if err == nil {
		err = r.steps(ctx, s, dir, result)
	}
	r.lab.UndoAll()
	if s.Restore != nil {
		err = errors.Join(err, s.Restore(ctx, r.lab))
	}
	if err != nil {
		result.Broken = err.Error()
	}
	return result
}

func (r *runner) steps(ctx context.Context, s *Situation, dir string, result *Result) error {
	if err := r.lab.WaitQuiet(ctx); err != nil {
		return err
	}
	if s.Set != nil {
		if err := s.Set(ctx, r.lab); err != nil {
			return fmt.Errorf("inject it: %w", err)
		}
	}
	names, err := r.names(ctx)
	if err != nil {
		return err
	}
	cause := filepath.Join(dir, "cause")
	look, err := r.measureWindow(ctx, s.Load, s.During, cause)
	err = errors.Join(err, saveNames(cause, names))
	if err != nil {
		return err
	}
	result.Before, result.Sum = look.client[0], look.sum
	result.judge(s, look, names)
	r.log("%s: client %.1f ms (p99 %.1f, %d requests, %d errors); %s; why: %s", s.Name, result.Before.MeanMS,
		result.Before.P99MS, result.Before.Count, result.Before.Errors, result.sumText(), result.whyText())
	if !s.hasCure() {
		return nil
	}
	if s.Mend != nil {
		if err := s.Mend(ctx, r.lab); err != nil {
			return fmt.Errorf("apply the fix: %w", err)
		}
	}
	streams := s.FixedLoad
	if streams == nil {
		streams = s.Load
	}
	if look, err = r.measureWindow(ctx, streams, nil, filepath.Join(dir, "cured")); err != nil {
		return err
	}
	result.After, result.SumAfter = &look.client[0], look.sum
	r.log("%s: fixed %.1f ms; gain %.1f ms, predicted %s", s.Name, result.After.MeanMS, result.gain(),
		result.gainText())
	return nil
}

// measurement is the result of one window.
type measurement struct {
	client   []Measured
	sum      *Sum
	verdicts []Verdict
	errs     error // errors of kitescope
}

// measureWindow sends requests for a window, in which kitescope queries all processes twice. It does not judge the
// results.
func (r *runner) measureWindow(
	ctx context.Context, streams []lab.Stream, during action, dir string,
) (*measurement, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	d, err := r.lab.StartLoad(ctx, streams, filepath.Join(dir, "samples.jsonl"))
	if err != nil {
		return nil, err
	}
	defer r.lab.UndoTo(r.lab.UndoCount())
	if during != nil {
		err = during(ctx, r.lab)
	}
	err = errors.Join(err, lab.Sleep(ctx, warmup))
	from, scraped := scrape(ctx, filepath.Join(dir, "before"))
	bundle := filepath.Join(dir, "look.kite")
	asked := r.bundle(ctx, bundle)
	to, scrapedAgain := scrape(ctx, filepath.Join(dir, "after"))
	samples, ended := d.End()
	if err := errors.Join(err, scraped, scrapedAgain, ended); err != nil {
		return nil, err
	}
	l := &measurement{errs: asked}
	for i := range streams {
		l.client = append(l.client, measure(i, &streams[i], samples, from, to))
	}
	if err := saveMeasured(dir, from, to, l.client); err != nil {
		return nil, err
	}
	if l.client[0].Count == 0 {
		return nil, fmt.Errorf("no request of the client succeeded: %s", l.client[0].Error)
	}
	if asked == nil {
		l.analyze(ctx, r, bundle, dir)
	}
	return l, nil
}

// analyze runs kitescope's latency and why on the bundle and stores the results for the first stream.
func (l *measurement) analyze(ctx context.Context, r *runner, bundle, dir string) {
	m := &l.client[0]
	var items []Item
	if err := r.kitescope.Ask(ctx, r.lab, bundle, filepath.Join(dir, "latency.json"), &items, "latency"); err != nil {
		l.errs = err
	} else if sum, ok := add(items, m.Collection, m.Request, m.MeanMS); ok {
		l.sum = &sum
	}
	if err := r.kitescope.Ask(ctx, r.lab, bundle, filepath.Join(dir, "why.json"), &l.verdicts, "why"); err != nil {
		l.errs = errors.Join(l.errs, err)
	}
}

// names returns the names of each process: its session and its address.
func (r *runner) names(ctx context.Context) (map[string][]string, error) {
	sessions, err := r.lab.Sessions(ctx)
	if err != nil {
		return nil, err
	}
	names := map[string][]string{}
	for process, s := range sessions {
		names[process] = []string{fmt.Sprintf("%s-%d", s.Role, s.ID), fmt.Sprintf("%s %d", s.Role, s.ID), s.Address}
	}
	return names, nil
}

// load1 returns the machine's load average of the last minute, or "" if it is unknown.
func load1() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return ""
	}
	word, _, _ := strings.Cut(string(text), " ")
	return word
}

package main

import (
	"slices"

	"kitescope/tools/e2e/lab"
)

// Finding is a finding of "diagnose -o json".
type Finding = lab.Finding

// wanted holds the expected findings of one injected action, with names resolved for this cluster.
type wanted struct {
	Want
	now [][]string // names that have to appear now
	all [][]string // names that may appear, including processes whose work others have taken over
}

func (w *wanted) about(f *Finding) bool {
	if !slices.Contains(w.Checks, f.Check) {
		return false
	}
	return len(w.all) == 0 || slices.ContainsFunc(w.all, func(n []string) bool { return lab.Mentions(f.Text(), n) })
}

// explains reports whether a finding is about the injected action, true because of it, or caused by it
// according to kitescope.
func (w *wanted) explains(f *Finding) bool {
	return w.about(f) || slices.Contains(w.Follow, f.Check) ||
		f.Cause != nil && slices.Contains(w.Checks, f.Cause.Check)
}

// place returns the place, from 1 on, of the first finding that names the cause. It also returns the guilty
// that the first two findings leave out. Findings about another action of the round are not counted.
func (w *wanted) place(findings []Finding, others []*wanted) (place int, left [][]string) {
	left = slices.Clone(w.now)
	at := 0
	for i := range findings {
		f := &findings[i]
		mine := w.about(f)
		if !mine && slices.ContainsFunc(others, func(o *wanted) bool { return o != w && o.explains(f) }) {
			continue
		}
		at++
		if !mine {
			continue
		}
		if place == 0 {
			place = at
		}
		// Findings of one check are listed together. Three dead nodes are three lines with one cause.
		if at <= 2 || place <= 2 && f.Check == findings[i-1].Check {
			left = slices.DeleteFunc(left, func(n []string) bool { return lab.Mentions(f.Text(), n) })
		}
	}
	return place, left
}

// alarms returns the findings of severity warning or above that no injected action explains.
func alarms(findings []Finding, all []*wanted) []Finding {
	explained := map[string]bool{}
	for i := range findings {
		for _, w := range all {
			if f := &findings[i]; w.about(f) || slices.Contains(w.Follow, f.Check) {
				explained[f.Check] = true
			}
		}
	}
	for grown := true; grown; {
		grown = false
		for _, f := range findings {
			if f.Cause != nil && explained[f.Cause.Check] && !explained[f.Check] {
				explained[f.Check], grown = true, true
			}
		}
	}
	var out []Finding
	for i := range findings {
		f := &findings[i]
		wrong := slices.ContainsFunc(all, func(w *wanted) bool { return slices.Contains(w.Checks, f.Check) }) &&
			!slices.ContainsFunc(all, func(w *wanted) bool { return w.about(f) || slices.Contains(w.Follow, f.Check) })
		if f.IsAlert() && (!explained[f.Check] || wrong) && (f.Cause == nil || !explained[f.Cause.Check]) {
			out = append(out, *f)
		}
	}
	return out
}

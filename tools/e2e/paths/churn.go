package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"kitescope/tools/e2e/lab"
)

// churn keeps clients busy on a cluster that is well, half of the time on a host whose processors others use, and
// counts what is reported: any warning or error is false but about the host once it is starved, and about requests
// while the client feels something.
func churn(ctx context.Context, l *Lab, span time.Duration, log func(string, ...any)) error {
	watch, err := l.kitescope.Watch(ctx, l.Lab, l.Out)
	if err != nil {
		return err
	}
	defer watch.End()
	file := filepath.Join(l.Out, "requests.jsonl")
	end, err := l.startProbe(ctx, file)
	if err != nil {
		return err
	}
	defer end()
	if err := l.StartClient(ctx, "churn", fmt.Sprint(span.Seconds())); err != nil {
		return err
	}
	defer l.EndBackground(false)
	looks, began, starved := 0, time.Now(), false
	count := map[string]int{}
	for time.Since(began) < span {
		if !starved && time.Since(began) > span/2 {
			starved = true
			log("%d busy programs next to the cluster", starvingPrograms)
			if err := l.startBurners(ctx, starvingPrograms); err != nil {
				return err
			}
		}
		look, err := l.kitescope.Diagnose(ctx, l.Lab, filepath.Join(l.Out, "look.json"), began)
		if err != nil {
			return err
		}
		looks++
		for _, f := range look.Findings {
			if !f.IsAlert() || f.Cause != nil {
				continue
			}
			if why := trueReason(&f, file, began, time.Now(), starved); why != "" {
				log("TRUE (%s) %s", why, f.String())
				continue
			}
			count[f.Severity]++
			log("FALSE %s", f.String())
		}
		if err := lab.Sleep(ctx, 20*time.Second); err != nil {
			return err
		}
	}
	l.UndoAll()
	events := watch.Events()
	loud := slices.DeleteFunc(lab.Appeared(events, began, time.Now()), func(f lab.Finding) bool {
		return !f.IsAlert() || trueReason(&f, file, began, f.Time(), f.Time().Sub(began) > span/2) != ""
	})
	for _, f := range loud {
		log("FALSE --watch %s %s", f.At, f.String())
	}
	log("%s of healthy churn, half of it starved: %d looks with %d errors and %d warnings; --watch %d lines, %d of "+
		"them warnings or errors, still running: %v",
		time.Since(began).Round(time.Second), looks, count["error"], count["warning"], len(events), len(loud),
		watch.Alive())
	return nil
}

// trueReason returns why a warning or error at a time is true, "" if it is false.
func trueReason(f *lab.Finding, file string, began, at time.Time, starved bool) string {
	switch {
	case f.Check == "host-starved" && starved:
		return "the host is starved"
	case strings.HasPrefix(f.Check, "requests-"):
		return symptomText(symptomsAt(file, began, at))
	}
	return ""
}

// symptomsAt returns what the client felt in the half minute before a time, against all that it had sent until then.
func symptomsAt(file string, began, at time.Time) []Symptom {
	const recent = 30 * time.Second
	all := readRequests(file)
	usual, _ := baseline(all, began, at.Add(-recent))
	return symptomsOf(all, usual, at.Add(-recent), at)
}

// starvingPrograms is how many programs starve a host of two processors so that all of the cluster is late, and nothing
// fails.
const starvingPrograms = 16

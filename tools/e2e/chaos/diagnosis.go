package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"kitescope/tools/e2e/lab"
)

// Diagnosis is one run of diagnose.
type Diagnosis struct {
	*lab.Diagnosis
	Seen []Observation
}

// diagnose runs diagnose once as a user would. The only flags besides more are --from and --metrics-port.
func (l *Lab) diagnose(ctx context.Context, name string, since time.Time, more ...string) (*Diagnosis, error) {
	look, err := l.kitescope.Diagnose(ctx, l.Lab, filepath.Join(l.Out, name+".json"), since, more...)
	return &Diagnosis{Diagnosis: look}, err
}

// hasFlag reports whether the binary has a flag. Older binaries can be scored as well.
func (l *Lab) hasFlag(ctx context.Context, flag string) bool {
	help, err := l.Output(ctx, l.kitescope.File, "diagnose", "--help")
	return err == nil && strings.Contains(string(help), flag)
}

// bundle saves a bundle of the current state, for the analysis of a miss.
func (l *Lab) bundle(ctx context.Context, name string) {
	if err := l.kitescope.Bundle(ctx, l.Lab, filepath.Join(l.Out, name+".kite")); err != nil {
		fmt.Fprintln(os.Stderr, "chaos:", err)
	}
}

func key(f *Finding) string { return f.Check + "\n" + f.Object.Resource + "\n" + f.Object.ID }

// openFindings returns the findings that have appeared by a time and not ended.
func openFindings(events []Finding, at time.Time) []Finding {
	now := map[string]Finding{}
	var order []string
	for _, f := range events {
		if f.Time().After(at) {
			break
		}
		if f.Change == "gone" || f.Change == "lost" {
			delete(now, key(&f))
			continue
		}
		if _, there := now[key(&f)]; !there {
			order = append(order, key(&f))
		}
		now[key(&f)] = f
	}
	var out []Finding
	for _, k := range order {
		if f, there := now[k]; there {
			out = append(out, f)
			delete(now, k)
		}
	}
	return out
}

// searchStats returns the number of searches that a client ran in a span of time, their errors and the slowest
// time in seconds.
func (l *Lab) searchStats(from, to time.Time) (searches, errs int, worst float64) {
	text, err := os.ReadFile(filepath.Join(l.Out, "probe.jsonl"))
	if err != nil {
		return 0, 0, 0
	}
	for line := range strings.Lines(string(text)) {
		var p struct {
			At, Seconds float64
			Error       string
		}
		if json.Unmarshal([]byte(line), &p) != nil || p.At < float64(from.UnixMilli())/1000 ||
			p.At > float64(to.UnixMilli())/1000 {
			continue
		}
		searches++
		worst = max(worst, p.Seconds)
		if p.Error != "" {
			errs++
		}
	}
	return searches, errs, worst
}

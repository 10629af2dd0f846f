package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

const namesFile = "names.json"

// saveNames writes the names of the processes, taken from etcd, next to a bundle.
func saveNames(dir string, names map[string][]string) error {
	text, err := json.Marshal(names)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, namesFile), text, 0o644)
}

// rerun runs another kitescope on the bundles of an earlier run, without a cluster. The client's measurements
// stay unchanged.
func (r *runner) rerun(ctx context.Context, results []*Result, all []*Situation) error {
	by := map[string]*Situation{}
	for _, s := range all {
		by[s.Name] = s
	}
	for _, result := range results {
		s := by[result.Name]
		if s == nil || result.Before.Count == 0 {
			continue
		}
		dir := filepath.Join(r.out, s.Name)
		text, err := os.ReadFile(filepath.Join(dir, "cause", namesFile))
		if err != nil {
			return err
		}
		var names map[string][]string
		if err := json.Unmarshal(text, &names); err != nil {
			return fmt.Errorf("%s: %w", namesFile, err)
		}
		look := &measurement{client: []Measured{result.Before}}
		look.analyze(ctx, r, filepath.Join(dir, "cause", "look.kite"), filepath.Join(dir, "cause"))
		result.Sum, result.FirstVerdict, result.Missed, result.WhyError = look.sum, nil, "", ""
		result.judge(s, look, names)
		if result.After != nil {
			look = &measurement{client: []Measured{*result.After}}
			look.analyze(ctx, r, filepath.Join(dir, "cured", "look.kite"), filepath.Join(dir, "cured"))
			result.SumAfter = look.sum
		}
		r.log("%s: %s; why: %s", s.Name, result.sumText(), result.whyText())
	}
	return nil
}

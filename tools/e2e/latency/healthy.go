package main

import (
	"context"
	"fmt"
	"path/filepath"
	"time"
)

// Finding is the counted part of a finding of "diagnose -o json".
type Finding struct {
	Check    string `json:"check"`
	Severity string `json:"severity"`
	Message  string `json:"message"`
}

// alerts returns the warnings and errors, for which an operator would be paged.
func alerts(all []Finding) []Finding {
	var some []Finding
	for _, f := range all {
		if f.Severity == "warning" || f.Severity == "error" {
			some = append(some, f)
		}
	}
	return some
}

// churn keeps clients busy on a healthy cluster and counts the findings of "why" and "diagnose". Warnings are
// false. Findings that are the first verdict of "why" are counted separately, because the load may justify
// one.
func (r *runner) churn(ctx context.Context, span time.Duration) error {
	began, looks, found, told := time.Now(), 0, 0, 0
	healthy := situations()[:2]
	for ; time.Since(began) < span && ctx.Err() == nil; looks++ {
		s := healthy[looks%len(healthy)]
		dir := filepath.Join(r.out, fmt.Sprintf("healthy-%d", looks))
		look, err := r.measureWindow(ctx, s.Load, nil, dir)
		if err == nil {
			err = look.errs
		}
		if err != nil {
			return err
		}
		var findings []Finding
		if err := r.kitescope.Ask(ctx, r.lab, filepath.Join(dir, "look.kite"), filepath.Join(dir, "diagnose.json"),
			&findings, "diagnose"); err != nil {
			return err
		}
		for _, f := range alerts(findings) {
			found++
			r.log("FALSE %s %s: %s (load %s)", f.Severity, f.Check, f.Message, load1())
		}
		for i := range look.verdicts {
			if v := &look.verdicts[i]; v.isOwnFinding() {
				told++
				r.log("ranked first, %s: %s", v.Finding, v.Verdict)
			}
		}
	}
	r.log("%s of a healthy cluster under clients: %d warnings in %d looks, infos ranked first in %d",
		time.Since(began).Round(time.Second), found, looks, told)
	return ctx.Err()
}

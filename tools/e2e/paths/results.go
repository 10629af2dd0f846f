package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"kitescope/tools/e2e/lab"
)

// score adds up rounds.
type score struct {
	rounds, broken                int
	withSymptoms, silent, ended   int
	kinds, right                  int
	first, second, exact1, exact2 int
	checks, causes                int
	quiet, errors, falseErrors    int
	warnings, noEffect            int
	watch                         []float64
	took                          []float64
}

func (s *score) add(r *Result) {
	s.rounds++
	if r.Broken != "" {
		s.broken++
		return
	}
	s.took = append(s.took, r.Took)
	if !slices.ContainsFunc(r.Actions, func(a Played) bool { return a.Present }) {
		s.noEffect++
	}
	if len(r.Symptoms) == 0 {
		s.quiet++
		s.errors += min(1, len(r.Errors))
		s.falseErrors += min(1, r.False)
		s.warnings += min(1, len(r.Warnings))
		return
	}
	if r.allEnded() {
		s.ended++
		return
	}
	s.withSymptoms++
	if !r.Alerting {
		s.silent++
	}
	for _, i := range r.Impact {
		if i.State == "" || r.kindEnded(i.Kind) { // "": etcd refused, and with it who there is to ask
			continue
		}
		s.kinds++
		if i.Right {
			s.right++
		}
	}
	count := func(place, most int) int {
		if place > 0 && place <= most {
			return 1
		}
		return 0
	}
	s.first, s.second = s.first+count(r.Next, 1), s.second+count(r.Next, 2)
	s.checks, s.causes = s.checks+r.Checks, s.causes+r.Causes
	s.exact1, s.exact2 = s.exact1+count(r.Place, 1), s.exact2+count(r.Place, 2)
	if r.Watch > 0 {
		s.watch = append(s.watch, r.Watch)
	}
}

// allEnded reports whether all that was felt was over before diagnose looked, kindEnded whether that of a kind of
// request was.
func (r *Result) allEnded() bool {
	return !slices.ContainsFunc(r.Symptoms, func(f Symptom) bool { return !f.Ended })
}

func (r *Result) kindEnded(kind string) bool {
	return slices.ContainsFunc(r.Symptoms, func(f Symptom) bool { return f.Kind == kind && f.Ended })
}

func (s *score) row(name string) string {
	rounds := strconv.Itoa(s.rounds)
	if s.broken > 0 {
		rounds += fmt.Sprintf(", %d failed", s.broken)
	}
	impact := "-"
	if s.kinds > 0 {
		impact = share(s.right, s.kinds)
	}
	return fmt.Sprintf("| %s | %s | %d | %d | %d | %s | %s, %s | %s, %s | %s | %d of %d, %d, %d | %s | %s |\n", name,
		rounds, s.ended, s.withSymptoms, s.silent, impact,
		share(s.first, s.withSymptoms), share(s.second, s.withSymptoms), share(s.exact1, s.withSymptoms),
		share(s.exact2, s.withSymptoms), share(s.causes, s.checks), s.errors, s.quiet, s.falseErrors, s.warnings,
		times(s.watch), times(s.took))
}

func share(n, of int) string {
	if of == 0 {
		return "-"
	}
	return fmt.Sprintf("%d of %d (%.0f%%)", n, of, 100*float64(n)/float64(of))
}

func times(all []float64) string {
	if len(all) == 0 {
		return "-"
	}
	slices.Sort(all)
	return fmt.Sprintf("%.0f s, %.0f s", quantile(all, 0.5), quantile(all, 0.95))
}

// report is the generated part of docs/evidence/diagnosis.md: each seed and all of them, then what was silent, wrong or
// false.
func report(results []*Result) string {
	var b strings.Builder
	b.WriteString("| seed | rounds | felt, but over before the look | felt at the look | silent | correct impact, by " +
		"kind of request | injected " +
		"component or a neighbor ranked first, first or second | injected component ranked first, first or second | " +
		"cause named, if a check covers it | not felt: with errors, with errors about something else, with " +
		"warnings | " +
		"`--watch` delay: median, p95 | run time: median, p95 |\n|---|---|---|---|---|---|---|---|---|---|---|---|\n")
	type row struct {
		seed    uint64
		mending bool
	}
	var rows []row
	by := map[row]*score{}
	var fresh, mending score
	for _, r := range results {
		k := row{r.Seed, r.Mending}
		if by[k] == nil {
			by[k] = &score{}
			rows = append(rows, k)
		}
		by[k].add(r)
		if r.Mending {
			mending.add(r)
		} else {
			fresh.add(r)
		}
	}
	for _, k := range rows {
		name := strconv.FormatUint(k.seed, 10)
		if k.mending {
			name += ", used during development"
		}
		b.WriteString(by[k].row(name))
	}
	if mending.rounds > 0 {
		b.WriteString(mending.row("**all seeds used during development**"))
	}
	b.WriteString(fresh.row("**all fresh seeds**"))
	b.WriteString("\nSilent, incorrect and false results, by seed and round:\n\n")
	b.WriteString(misses(results))
	return b.String()
}

func misses(results []*Result) string {
	var b strings.Builder
	for _, r := range results {
		at := fmt.Sprintf("- %d/%d %s", r.Seed, r.Round, r.what())
		first := "nothing"
		if len(r.Findings) > 0 {
			first = lab.Clean(r.Findings[0])
		}
		switch {
		case r.Broken != "":
			fmt.Fprintf(&b, "%s: the round failed: %s\n", at, lab.Clean(r.Broken))
		case len(r.Symptoms) == 0 && len(r.Errors) > len(r.PreExisting):
			fmt.Fprintf(&b, "%s: not felt, but an error: %s\n", at, lab.Clean(r.Errors[0]))
		case len(r.PreExisting) > 0:
			fmt.Fprintf(&b, "%s: not felt, but an error from before the injection: %s\n", at,
				lab.Clean(r.PreExisting[0]))
		case len(r.Symptoms) == 0:
		case r.allEnded():
			fmt.Fprintf(&b, "%s: over before the look; felt: %s\n", at, symptomText(r.Symptoms))
			continue
		case !r.Alerting:
			fmt.Fprintf(&b, "%s: silent; felt: %s; first finding: %s\n", at, symptomText(r.Symptoms), first)
		case r.Next == 0 || r.Next > 2:
			fmt.Fprintf(&b, "%s: neither the component nor a neighbor ranked first or second; felt: %s; first "+
				"finding: %s\n", at, symptomText(r.Symptoms), first)
		}
		for _, i := range r.Impact {
			if i.State != "" && !i.Right && !r.kindEnded(i.Kind) {
				fmt.Fprintf(&b, "%s: impact of %s is %s\n", at, i.Kind, i.State)
			}
		}
	}
	if b.Len() == 0 {
		return "Nothing.\n"
	}
	return b.String()
}

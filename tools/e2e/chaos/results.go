package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"

	"kitescope/tools/e2e/lab"
)

const (
	begin = "<!-- generated faults: begin (written by make e2e-chaos) -->"
	end   = "<!-- generated faults: end -->"
)

func readResults(file string) ([]Result, error) {
	f, err := os.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var all []Result
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var r Result
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		all = append(all, r)
	}
	return all, lines.Err()
}

// score adds up rounds.
type score struct {
	rounds, broken, faults, named, decoys, silent int
	before, during, after                         int
	seconds                                       []float64
}

func (s *score) add(r *Result) {
	s.rounds++
	if r.Broken != "" {
		s.broken++
	}
	for _, o := range r.Faults {
		switch {
		case o.Decoy:
			s.decoys++
			if len(r.During) == 0 {
				s.silent++
			}
		case o.Present:
			s.faults++
			if o.Missed == "" {
				s.named++
				s.seconds = append(s.seconds, o.Seconds)
			}
		}
	}
	s.before, s.during, s.after = s.before+len(r.Before), s.during+len(r.During), s.after+len(r.After)
}

func (s *score) row(name string) string {
	times := "-"
	if len(s.seconds) > 0 {
		slices.Sort(s.seconds)
		times = fmt.Sprintf("%.0f s, %.0f s", s.seconds[len(s.seconds)/2], s.seconds[len(s.seconds)-1])
	}
	share := ""
	if s.faults > 0 {
		share = fmt.Sprintf(" (%.0f%%)", 100*float64(s.named)/float64(s.faults))
	}
	rounds := strconv.Itoa(s.rounds)
	if s.broken > 0 {
		rounds += fmt.Sprintf(", %d failed", s.broken)
	}
	return fmt.Sprintf("| %s | %s | %d of %d%s | %s | %d of %d | %d, %d, %d |\n", name, rounds, s.named, s.faults,
		share, times, s.silent, s.decoys, s.before, s.during, s.after)
}

// report returns the generated part of docs/evidence/diagnosis.md: a row for each seed and for all, then the
// misses.
func report(results []Result) string {
	var b strings.Builder
	b.WriteString("| seed | rounds | faults ranked first or second | time until ranked: median, max | silent decoys " +
		"| false findings: before, during, after |\n|---|---|---|---|---|---|\n")
	var fresh, mending score
	type row struct {
		seed    uint64
		mending bool
	}
	var rows []row
	by := map[row]*score{}
	for i := range results {
		r := &results[i]
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
	b.WriteString("\nMisses and false findings, by seed and round:\n\n")
	b.WriteString(misses(results))
	return b.String()
}

func misses(results []Result) string {
	var b strings.Builder
	for i := range results {
		r := &results[i]
		for _, o := range r.Faults {
			if o.Missed != "" && o.Present {
				fmt.Fprintf(&b, "- %d/%d `%s`: %s (%s)\n", r.Seed, r.Round, strings.TrimSpace(o.Kind+" "+o.Args),
					o.Missed, lab.Clean(o.Seen))
			}
			if !o.Present && !o.Decoy {
				fmt.Fprintf(&b, "- %d/%d `%s`: not counted, because the fault took no effect (%s)\n", r.Seed, r.Round,
					strings.TrimSpace(o.Kind+" "+o.Args), lab.Clean(o.Seen))
			}
		}
		for _, of := range []struct {
			when  string
			lines []string
		}{{"before", r.Before}, {"during", r.During}, {"after", r.After}} {
			for _, line := range of.lines {
				fmt.Fprintf(&b, "- %d/%d false %s %s: %s\n", r.Seed, r.Round, of.when, r.what(), lab.Clean(line))
			}
		}
		if r.Broken != "" {
			fmt.Fprintf(&b, "- %d/%d %s: the round failed: %s\n", r.Seed, r.Round, r.what(), lab.Clean(r.Broken))
		}
	}
	if b.Len() == 0 {
		return "Nothing.\n"
	}
	return b.String()
}

func (r *Result) what() string {
	var all []string
	for _, o := range r.Faults {
		all = append(all, "`"+strings.TrimSpace(o.Kind+" "+o.Args)+"`")
	}
	return strings.Join(all, " and ")
}

func writeReport(file string, results []Result) error {
	old, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	head, rest, ok := strings.Cut(string(old), begin)
	_, tail, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		return fmt.Errorf("%s has no markers of generated faults", file)
	}
	return os.WriteFile(file, []byte(head+begin+"\n"+report(results)+end+tail), 0o644)
}

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"kitescope/cmd/kitescope/cli"
	"kitescope/paste"
	"kitescope/profile/bench"
	"kitescope/profile/bench/read"
)

// columnWords are what --column can say of a column of a CSV file.
func columnWords() []string {
	return []string{"value", "metric", "unit", "run", "pair", "side", "of", "concurrency", "before", "after"}
}

func parseColumns(words []string) (read.Columns, error) {
	var c read.Columns
	fields := []*string{&c.Value, &c.Metric, &c.Unit, &c.Run, &c.Pair, &c.Side, &c.Of, &c.Concurrency, &c.Before, &c.After}
	for _, word := range words {
		what, name, ok := strings.Cut(word, "=")
		i := slices.Index(columnWords(), what)
		if !ok || name == "" || i < 0 {
			return c, cli.Usage(fmt.Errorf("--column %q is not WHAT=NAME", word), "what is one of "+strings.Join(columnWords(), ", "))
		}
		*fields[i] = name
	}
	return c, nil
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

// metricFilter chooses metrics by their names as they are shown.
type metricFilter struct{ only, skip []*regexp.Regexp }

func newMetricFilter(only, skip []string) (metricFilter, error) {
	var f metricFilter
	for _, x := range []struct {
		flag  string
		words []string
		to    *[]*regexp.Regexp
	}{{"--only", only, &f.only}, {"--skip", skip, &f.skip}} {
		for _, word := range x.words {
			re, err := parsePattern(x.flag, word)
			if err != nil {
				return f, err
			}
			*x.to = append(*x.to, re)
		}
	}
	return f, nil
}

func (f *metricFilter) wants(m bench.Metric) bool {
	matches := func(list []*regexp.Regexp) bool {
		for _, re := range list {
			if re.MatchString(m.String()) {
				return true
			}
		}
		return false
	}
	return (len(f.only) == 0 || matches(f.only)) && !matches(f.skip)
}

// apply leaves the values that are wanted: what is not asked for takes no part in the correction.
func (f *metricFilter) apply(s *bench.Set) {
	if s == nil || len(f.only)+len(f.skip) == 0 {
		return
	}
	for i := range s.Runs {
		var kept []bench.Value
		for _, v := range s.Runs[i].Values {
			if f.wants(v.Metric) {
				kept = append(kept, v)
			}
		}
		s.Runs[i].Values = kept
	}
}

// applyBoth applies it to both sides, of which something has to be left.
func (f *metricFilter) applyBoth(before, after *bench.Set) error {
	names := metricNames(before, after)
	f.apply(before)
	f.apply(after)
	if len(names) == 0 || len(metricNames(before, after)) > 0 {
		return nil
	}
	const most = 8
	more := ""
	if len(names) > most {
		more = fmt.Sprintf(" and %d more", len(names)-most)
	}
	return cli.Usage(errors.New("no metric is left by --only and --skip"), "metrics are: "+strings.Join(names[:min(len(names), most)], "; ")+more)
}

// metricNames are the metrics of some sets, in their order.
func metricNames(sets ...*bench.Set) (names []string) {
	seen := map[bench.Metric]bool{}
	for _, s := range sets {
		for _, r := range s.Runs {
			for _, v := range r.Values {
				if !seen[v.Metric] {
					seen[v.Metric] = true
					names = append(names, v.String())
				}
			}
		}
	}
	return names
}

// readSides reads both sides, of two words or of one file that holds both.
func readSides(ctx context.Context, a *cli.App, args []string, o read.Options) (before, after *bench.Set, err error) {
	if len(args) == 1 {
		sets, err := openResults(ctx, a, args[0], o)
		if err != nil {
			return nil, nil, err
		}
		switch {
		case len(sets) < 2:
			return nil, nil, cli.Usage(fmt.Errorf("%s holds one side", args[0]), "name both: kitescope compare BEFORE AFTER")
		case len(sets) > 2:
			return nil, nil, cli.Usage(fmt.Errorf("%s holds %d sides", args[0], len(sets)), "put the two that shall be compared into files of their own")
		}
		return sets[0], sets[1], nil
	}
	if before, err = oneSide(ctx, a, args[0], o); err != nil {
		return nil, nil, err
	}
	after, err = oneSide(ctx, a, args[1], o)
	return before, after, err
}

func oneSide(ctx context.Context, a *cli.App, word string, o read.Options) (*bench.Set, error) {
	o.Side = true
	sets, err := openResults(ctx, a, word, o)
	if err != nil {
		return nil, err
	}
	if len(sets) != 1 {
		return nil, cli.Usage(fmt.Errorf("%s holds both sides itself", word), "name it alone: "+paste.Shell("kitescope", "compare").Arg(word).String())
	}
	return sets[0], nil
}

// openResults reads what one word of the command line names.
func openResults(ctx context.Context, a *cli.App, word string, o read.Options) ([]*bench.Set, error) {
	if word != "-" {
		paths := splitFiles(word)
		if len(paths) == 0 {
			return nil, cli.Usage(errors.New("a side is no file"), "is a variable of the shell empty?")
		}
		return read.Open(ctx, paths, o)
	}
	if a.InTTY {
		return nil, cli.Usage(errors.New("- reads standard input, and that is a terminal"), "pipe results into it: go test -bench . -count 10 | kitescope compare before.txt -")
	}
	return read.From(ctx, "standard input", a.In, o)
}

// splitFiles splits a word at its commas, unless there is a file of that name.
func splitFiles(word string) []string {
	if _, err := os.Stat(word); err == nil {
		return []string{word}
	}
	return slices.DeleteFunc(strings.Split(word, ","), func(path string) bool { return path == "" })
}

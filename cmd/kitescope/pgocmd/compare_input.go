package pgocmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"kitescope/cmd/kitescope/cli"
	"kitescope/internal/shellquote"
	"kitescope/internal/words"
	"kitescope/profile/bench"
	"kitescope/profile/bench/read"
)

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

// metricFilter parses the values of --only and --skip.
func metricFilter(only, skip []string) (f bench.Filter, err error) {
	if f.Only, err = patterns("--only", only); err != nil {
		return f, err
	}
	f.Skip, err = patterns("--skip", skip)
	return f, err
}

// patterns compiles the regular expressions given to a flag.
func patterns(flag string, words []string) (list []*regexp.Regexp, err error) {
	for _, word := range words {
		re, err := cli.Pattern(flag, word)
		if err != nil {
			return nil, err
		}
		list = append(list, re)
	}
	return list, nil
}

// applyFilter applies f to both sides. It returns an error if no metric is left.
func applyFilter(f *bench.Filter, before, after *bench.Set) error {
	names := bench.MetricNames(before, after)
	f.Apply(before)
	f.Apply(after)
	if len(names) == 0 || len(bench.MetricNames(before, after)) > 0 {
		return nil
	}
	const most = 8
	more := ""
	if len(names) > most {
		more = fmt.Sprintf(" and %d more", len(names)-most)
	}
	return cli.Usage(errors.New("--only and --skip leave no metric"),
		"metrics are: "+strings.Join(names[:min(len(names), most)], "; ")+more)
}

// readSides reads both sides, either from two arguments or from one that holds both.
func readSides(ctx context.Context, a *cli.App, args []string, o read.Options) (before, after *bench.Set, err error) {
	if len(args) == 1 {
		sets, err := openResults(ctx, a, args[0], o)
		if err != nil {
			return nil, nil, err
		}
		switch {
		case len(sets) < 2:
			return nil, nil,
				cli.Usage(fmt.Errorf("%s has only one side", args[0]), "give both: kitescope compare BEFORE AFTER")
		case len(sets) > 2:
			var names []string
			for _, s := range sets {
				names = append(names, s.Name)
			}
			return nil, nil,
				cli.Usage(fmt.Errorf("%s has %d sides: %s", args[0], len(sets), words.FirstOf(names, 4, "; ")),
					"put the two to compare into separate files")
		}
		return sets[0], sets[1], nil
	}
	if before, err = readSide(ctx, a, args[0], o); err != nil {
		return nil, nil, err
	}
	after, err = readSide(ctx, a, args[1], o)
	return before, after, err
}

func readSide(ctx context.Context, a *cli.App, word string, o read.Options) (*bench.Set, error) {
	o.Side = true
	sets, err := openResults(ctx, a, word, o)
	if err != nil {
		return nil, err
	}
	if len(sets) != 1 {
		return nil,
			cli.Usage(fmt.Errorf("%s already has both sides", word),
				"give only that file: "+shellquote.Shell("kitescope", "compare").Arg(word).String())
	}
	return sets[0], nil
}

// openResults reads the results that one argument names: files, or standard input for "-".
func openResults(ctx context.Context, a *cli.App, word string, o read.Options) ([]*bench.Set, error) {
	if word != "-" {
		paths := splitFiles(word)
		if len(paths) == 0 {
			return nil, cli.Usage(errors.New("empty file name"), "check for an empty shell variable")
		}
		return read.Open(ctx, paths, o)
	}
	if a.InTTY {
		return nil,
			cli.Usage(errors.New("- reads standard input, but it is a terminal"),
				"pipe results into it: go test -bench . -count 10 | kitescope compare before.txt -")
	}
	return read.From(ctx, "standard input", a.In, o)
}

// splitFiles splits an argument at its commas, unless it is the name of an existing file.
func splitFiles(word string) []string {
	if _, err := os.Stat(word); err == nil {
		return []string{word}
	}
	return slices.DeleteFunc(strings.Split(word, ","), func(path string) bool { return path == "" })
}

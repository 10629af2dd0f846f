package main

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"kitescope/cmd/kitescope/cli"
	"kitescope/profile"
	"kitescope/profile/report"
	flamegraph "kitescope/render/flame"
)

func profileCommand(*cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "profile",
		Long: `Pull profiles from all processes of a cluster, or of any Go service, and look at them:
as tables, as flame graphs in the terminal or in one HTML file, compared with others.

A profile is given as a file (pprof, folded stacks, perf script or report, pt-pmp,
speedscope, JFR), a folder or bundle that "profile pull" wrote, the URL of a service, or - for
standard input. Without one, --from names the cluster: a bundle's own profiles, or the
processes of a live cluster, which are pulled for --seconds.`,
		Example: `  kitescope profile pull --from etcd://10.0.0.5:2379 --seconds 10 -O before
  kitescope profile top before --node querynode-3
  kitescope profile flame before --nodes
  kitescope profile diff before after
  kitescope profile flame http://service:6060 -o html > cpu.html`,
	}
}

// profileCommands returns the subcommands of profile.
func profileCommands() []cli.Entry {
	entries := []cli.Entry{
		{
			Name: "pull", Short: "Profile all processes over the same window, into a folder or bundle",
			Build: profilePull,
		},
		{Name: "top", Short: "Show where time (memory, ...) goes: flat and cum of each function", Build: profileTop},
		{Name: "diff", Short: "Show what changed between two profiles, and what is noise", Build: profileDiff},
		{
			Name:  "flame",
			Short: "A flame graph: in the terminal, or as " + strings.Join(flamegraph.Formats().Names(), ", "),
			Build: profileFlame,
		},
		{Name: "merge", Short: "Merge profiles into one pprof file", Build: profileMerge},
		{Name: "watch", Short: "Measure CPU and memory of processes over time", Build: profileWatch},
	}
	for i := range entries {
		entries[i].Build = withStrict(entries[i].Build)
	}
	return entries
}

// profileQuery holds the flags that select the sample type, the grouping and the filters.
type profileQuery struct {
	sample, by                string
	focus, ignore, hide, show string
	cum, foldPreempt          bool
}

func (q *profileQuery) register(f *pflag.FlagSet) {
	f.StringVar(&q.sample, "sample", "", "sample type: cpu, samples, inuse_space, ... or its number")
	f.StringVar(&q.by, "by", profile.ByFunction.String(),
		"group by function, file, line, address, package, mapping, class or node")
	f.BoolVar(&q.cum, "cum", false, "sort by cum (including callees) instead of flat")
	f.BoolVar(&q.foldPreempt, "fold-preempt", false, "count runtime.asyncPreempt as the preempted function")
	q.registerFilter(f)
}

func (q *profileQuery) registerFilter(f *pflag.FlagSet) {
	f.StringVar(&q.focus, "focus", "", "only samples with a frame that matches (regexp)")
	f.StringVar(&q.ignore, "ignore", "", "skip samples with a matching frame")
	f.StringVar(&q.hide, "hide", "", "remove matching frames from stacks")
	f.StringVar(&q.show, "show", "", "remove all other frames from stacks")
}

// options converts the flags to report options. It returns a usage error if a value is invalid.
func (q *profileQuery) options() (report.Options, error) {
	o := report.Options{SampleIndex: q.sample, SortCum: q.cum, FoldPreempt: q.foldPreempt}
	by, ok := profile.ParseGranularity(q.by)
	if !ok {
		return o,
			cli.Usage(fmt.Errorf("unknown --by %q", q.by), "one of: "+strings.Join(profile.GranularityNames(), ", "))
	}
	o.By = by
	var err error
	o.Filter, err = q.filter()
	return o, err
}

func (q *profileQuery) filter() (profile.Filter, error) {
	var f profile.Filter
	for _, x := range []struct {
		flag, text string
		to         **regexp.Regexp
	}{
		{"focus", q.focus, &f.Focus},
		{"ignore", q.ignore, &f.Ignore},
		{"hide", q.hide, &f.Hide},
		{"show", q.show, &f.Show},
	} {
		if x.text == "" {
			continue
		}
		re, err := cli.Pattern("--"+x.flag, x.text)
		if err != nil {
			return f, err
		}
		*x.to = re
	}
	return f, nil
}

// profileWindow is the default window of CPU profiles.
const profileWindow = 10 * time.Second

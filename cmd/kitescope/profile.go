package main

import (
	"errors"
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

A profile is named by a file (pprof, folded stacks, perf script or report, pt-pmp,
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

// profileCommands are the commands below it.
func profileCommands() []cli.Entry {
	entries := []cli.Entry{
		{Name: "pull", Short: "Profile all processes over the same window, into a folder or bundle", Build: profilePull},
		{Name: "top", Short: "Show where time (memory, ...) goes: flat and cum of each function", Build: profileTop},
		{Name: "peek", Short: "Show callers and callees of matching functions", Build: profilePeek},
		{Name: "share", Short: "Show the share of matching functions, with its confidence interval", Build: profileShare},
		{Name: "diff", Short: "Show what changed between two profiles, and what of it is noise", Build: profileDiff},
		{Name: "flame", Short: "A flame graph: in the terminal, or as " + strings.Join(flamegraph.Formats().Names(), ", "), Build: profileFlame},
		{Name: "nodes", Short: "Compare the processes of a cluster: busy cores, and what they run", Build: profileNodes},
		{Name: "trend", Short: "Show how shares change over a rolling record", Build: profileTrend},
		{Name: "merge", Short: "Join profiles into one pprof file", Build: profileMerge},
		{Name: "web", Short: "Serve the standard pprof web UI for profiles, on loopback", Build: profileWeb},
		{Name: "web-child", Hidden: true, Build: profileWebChild},
		{Name: "watch", Short: "Measure CPU and memory of processes over time", Build: profileWatch},
	}
	for i := range entries {
		entries[i].Build = strictly(entries[i].Build)
	}
	return entries
}

// profileQuestion are the flags that say what of profiles is added up.
type profileQuestion struct {
	sample, by, label                   string
	focus, ignore, hide, show, showFrom string
	tags                                []string
	cum, relative, mean, foldPreempt    bool
}

func (q *profileQuestion) register(f *pflag.FlagSet) {
	f.StringVar(&q.sample, "sample", "", "sample type: cpu, samples, inuse_space, alloc_objects, ... or its number; default: the profile's own")
	f.StringVar(&q.by, "by", profile.ByFunction.String(), "group by function, file, line, address, package, mapping, class, node or label")
	f.StringVar(&q.label, "label", "", "the label's key, with --by label")
	f.BoolVar(&q.cum, "cum", false, "sort by cum (including callees) instead of flat")
	f.BoolVar(&q.relative, "relative-percentages", false, "percentages of the filtered total")
	f.BoolVar(&q.mean, "mean", false, "divide by the first sample type: bytes per allocation")
	f.BoolVar(&q.foldPreempt, "fold-preempt", false, "attribute runtime.asyncPreempt to the preempted function")
	q.registerFilter(f)
}

func (q *profileQuestion) registerFilter(f *pflag.FlagSet) {
	f.StringVar(&q.focus, "focus", "", "only samples with a frame matching this regular expression")
	f.StringVar(&q.ignore, "ignore", "", "skip samples with a matching frame")
	f.StringVar(&q.hide, "hide", "", "remove matching frames from stacks")
	f.StringVar(&q.show, "show", "", "remove all other frames from stacks")
	f.StringVar(&q.showFrom, "show-from", "", "remove frames above the highest matching frame")
	f.StringArrayVar(&q.tags, "tag", nil, "only samples with this label: key=value; repeatable")
}

// options reads the flags.
func (q *profileQuestion) options() (report.Options, error) {
	o := report.Options{
		SampleIndex: q.sample, Label: q.label, SortCum: q.cum, Relative: q.relative, Mean: q.mean, FoldPreempt: q.foldPreempt,
	}
	by, ok := profile.ByOf(q.by)
	if !ok {
		return o, cli.Usage(fmt.Errorf("unknown --by %q", q.by), "one of: "+strings.Join(profile.ByNames(), ", "))
	}
	o.By = by
	if (by == profile.ByLabel) != (q.label != "") {
		return o, cli.Usage(errors.New("--by label and --label KEY must be given together"), "for example: --by label --label thread")
	}
	var err error
	o.Filter, err = q.filter()
	return o, err
}

func (q *profileQuestion) filter() (profile.Filter, error) {
	var f profile.Filter
	for _, x := range []struct {
		flag, text string
		to         **regexp.Regexp
	}{
		{"focus", q.focus, &f.Focus},
		{"ignore", q.ignore, &f.Ignore},
		{"hide", q.hide, &f.Hide},
		{"show", q.show, &f.Show},
		{"show-from", q.showFrom, &f.ShowFrom},
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
	for _, word := range q.tags {
		key, value, ok := strings.Cut(word, "=")
		if !ok || key == "" {
			return f, cli.Usage(fmt.Errorf("--tag %q is not KEY=VALUE", word), "for example: --tag thread=io")
		}
		f.Labels = append(f.Labels, profile.Label{Key: key, Str: value})
	}
	return f, nil
}

// profileWindow is how long CPU profiles are pulled where nothing else is said.
const profileWindow = 10 * time.Second

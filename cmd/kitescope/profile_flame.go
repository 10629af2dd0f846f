package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"kitescope/cmd/kitescope/cli"
	"kitescope/profile"
	"kitescope/profile/choose"
	"kitescope/profile/flame"
	"kitescope/profile/pull"
	"kitescope/render"
	flamegraph "kitescope/render/flame"
	"kitescope/render/profiles"
	pages "kitescope/tui/profiles"
	"kitescope/tui/replays"
)

type flameFlags struct {
	input     profileInput
	query     profileQuery
	ui        cli.UIFlags
	base      string
	normalize bool
	byNode    bool
	inverted  bool
	output    string
	out       string
	force     bool
}

func profileFlame(a *cli.App) *cobra.Command {
	var f flameFlags
	cmd := &cobra.Command{
		Use: "flame [FILE...]",
		Long: `Open the flame graph of the given profiles, merged, in the terminal (? lists the keys), or write
it with -o. With --base it is a differential one: blue lost, red gained, grey is noise.`,
		Example: `  kitescope profile flame cpu.pb.gz
  kitescope profile flame before --nodes
  kitescope profile flame after --base before --normalize -o html -O diff.html
  perf script -i perf.data | kitescope profile flame - -o svg > cpu.svg`,
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd.Context(), a, args) },
	}
	f.input.Register(cmd)
	fl := cmd.Flags()
	fl.StringVar(&f.query.sample, "sample", "", "sample type: cpu, samples, inuse_space, ... or its number")
	fl.StringVar(&f.query.by, "by", profile.ByFunction.String(),
		"one frame per function, file, line, address, package, mapping or class")
	f.query.registerFilter(fl)
	fl.BoolVar(&f.query.foldPreempt, "fold-preempt", false, "count runtime.asyncPreempt as the preempted function")
	fl.StringVar(&f.base, "base", "", "compare with this profile, folder or bundle")
	fl.BoolVar(&f.normalize, "normalize", false, "with --base: scale the new side to the base's total")
	fl.BoolVar(&f.byNode, "nodes", false, "one frame per node below the root")
	fl.BoolVar(&f.inverted, "inverted", false, "start with the leaves: callers of functions")
	fl.StringVarP(&f.output, "output", "o", "",
		strings.Join(flamegraph.Formats().Names(), ", ")+"; default: open it in the terminal")
	fl.StringVarP(&f.out, "out", "O", "", "write to this file; its extension sets the format")
	fl.BoolVar(&f.force, "force", false, "replace the file if it exists")
	fl.StringVar(&f.ui.Theme, "theme", "auto", "auto, terminal, dark, light, mono")
	_ = cmd.RegisterFlagCompletionFunc("output", cli.FixedCompletions(flamegraph.Formats().Names()...))
	_ = cmd.RegisterFlagCompletionFunc("by", cli.FixedCompletions(profile.GranularityNames()[:profile.ByClass+1]...))
	return cmd
}

// format returns the output format given by -o, or by the extension of -O. If word is "", the graph opens in the
// terminal.
func (f *flameFlags) format() (word string, format render.Format, err error) {
	word = f.output
	if word == "" && f.out != "" {
		word = cli.Extension(f.out)
	}
	if word == "" {
		return "", format, nil
	}
	formats := flamegraph.Formats()
	if !slices.Contains(formats.Names(), word) {
		return "", format,
			cli.Usage(fmt.Errorf("a flame graph has no format %q", word),
				"one of: "+strings.Join(formats.Names(), ", "))
	}
	format, err = formats.Parse(word)
	return word, format, err
}

func (f *flameFlags) run(ctx context.Context, a *cli.App, args []string) error {
	o, err := f.query.options()
	if err != nil {
		return err
	}
	if o.By > profile.ByClass {
		return cli.Usage(fmt.Errorf("frames cannot be %ss", o.By),
			"--nodes puts one frame per node below the root; profile top --by "+o.By.String()+" prints a table")
	}
	word, format, err := f.format()
	if err != nil {
		return err
	}
	if f.base == "" && f.normalize {
		return cli.Usage(errors.New("--normalize needs --base"),
			"kitescope profile flame after --base before --normalize")
	}
	options := flame.Options{
		SampleIndex: o.SampleIndex, By: o.By, Filter: o.Filter, Nodes: f.byNode, Inverted: f.inverted,
		Normalize: f.normalize,
	}
	if word == "" {
		if !a.OutTTY {
			return cli.Usage(errors.New("stdout is not a terminal"),
				"choose -o "+strings.Join(flamegraph.Formats().Names(), ", "))
		}
		return f.flameUI(ctx, a, options, args)
	}
	return f.writeFlame(ctx, a, format, options, args)
}

func (f *flameFlags) writeFlame(
	ctx context.Context, a *cli.App, format render.Format, o flame.Options, args []string,
) error {
	to, err := a.NewOutput(f.out, f.force)
	if err != nil {
		return err
	}
	var base, p *profile.Profile
	if f.base != "" {
		base, p, err = f.input.twoProfiles(ctx, a, f.base, args)
	} else {
		p, err = f.input.Merged(ctx, a, args, false)
	}
	if err != nil {
		return err
	}
	if f.query.foldPreempt {
		p = p.FoldPreempt()
		if base != nil {
			base = base.FoldPreempt()
		}
	}
	if p.Len() > maxMultiTypeSamples {
		defer a.Collector.LimitGrowth()()
	}
	if format.Name() != "folded" { // folded stacks are complete
		o.MaxFrames = maxFrames
	}
	g := &flamegraph.Graph{Options: flamegraph.Options{
		Title: p.Origin.Name, Subtitle: profileSummary(p, o.SampleIndex), Version: cli.Version,
	}}
	if base != nil {
		g.Options.Title = base.Origin.Name + " → " + g.Options.Title
		g.Options.Subtitle = "before: " + profileSummary(base, o.SampleIndex) + "; after: " + g.Options.Subtitle
	}
	if g.Tree, err = newFlameTree(base, p, o); err != nil {
		return err
	}
	g.More = func() ([]*flame.Tree, error) { return otherTypes(base, p, g.Tree.Type, o) }
	if err := to(func(w io.Writer) error { return flamegraph.Write(w, g, format) }); err != nil {
		return fmt.Errorf("write the flame graph: %w", err)
	}
	return nil
}

// maxFrames is the maximum number of frames in the tree of an image or a page; the largest frames are kept. It
// is several times the number that either shows.
const maxFrames = 200_000

func newFlameTree(base, p *profile.Profile, o flame.Options) (*flame.Tree, error) {
	if base != nil {
		return flame.NewDiff(base, p, o)
	}
	return flame.New(p, o)
}

// maxTypes is the maximum number of sample types in a page.
const maxTypes = 8

// otherTypes returns the trees of the sample types other than the first one shown.
func otherTypes(base, p *profile.Profile, first profile.ValueType, o flame.Options) ([]*flame.Tree, error) {
	var more []*flame.Tree
	for i, t := range p.Types {
		if t == first || i >= maxTypes || p.Len() > maxMultiTypeSamples {
			continue
		}
		o.SampleIndex = strconv.Itoa(i)
		tree, err := newFlameTree(base, p, o)
		if err != nil {
			return nil, err
		}
		more = append(more, tree)
	}
	return more, nil
}

// maxMultiTypeSamples is the number of samples above which a page has only one sample type, because each further type
// costs as much as the first.
const maxMultiTypeSamples = 300_000

// profileSummary returns the time, the duration and the number of samples of a profile, as far as they are known.
func profileSummary(p *profile.Profile, sampleIndex string) string {
	var parts []string
	if !p.Time.IsZero() {
		parts = append(parts, p.Time.UTC().Format("2006-01-02 15:04:05 UTC"))
	}
	if text := profiles.Length(p.Origin.Merged, p.Duration); text != "" {
		parts = append(parts, text)
	}
	if kind, err := p.KindOf(sampleIndex); err == nil {
		if _, events := p.Events(kind); events >= 0 {
			parts = append(parts, fmt.Sprintf("%d samples", events))
		}
	}
	return strings.Join(parts, ", ")
}

// flameUI opens the terminal UI with only the profiles, without a cluster.
func (f *flameFlags) flameUI(ctx context.Context, a *cli.App, o flame.Options, args []string) error {
	choice, err := f.input.choose(ctx, a, args)
	if err != nil {
		return err
	}
	defer choice.Close()
	view := pages.View{
		Items: f.items(choice), SampleIndex: o.SampleIndex, By: o.By, Filter: o.Filter, Nodes: o.Nodes,
		Inverted: o.Inverted, Raw: !o.Normalize,
		Args: f.words(cli.RedactWords(args)), BaseArg: cli.RedactWords([]string{f.base})[0],
	}
	if f.base != "" {
		base, err := f.input.choose(ctx, a, []string{f.base})
		if err != nil {
			return fmt.Errorf("base: %w", err)
		}
		defer base.Close()
		view.Base = f.items(base)
	}
	cfg, err := a.FileUI(&f.ui, args)
	if err != nil {
		return err
	}
	cfg.Pages = replays.Pages(nil)
	return pages.Run(ctx, cfg, view)
}

// words returns the command line arguments that name the profiles, and the flags that control how they are read.
func (f *flameFlags) words(args []string) []string {
	words := withNodes(args, f.input.nodes)
	if f.input.pull.kinds != string(pull.CPU) {
		words = append(words, "--kind", f.input.pull.kinds)
	}
	return append(words, f.reading()...)
}

// withNodes returns a copy of words with a --node flag added for each node.
func withNodes(words, nodes []string) []string {
	words = slices.Clone(words)
	for _, node := range nodes {
		words = append(words, "--node", node)
	}
	return words
}

// reading returns the flags that apply to the reading of every profile.
func (f *flameFlags) reading() []string {
	if f.query.foldPreempt {
		return []string{"--fold-preempt"}
	}
	return nil
}

// items returns the profiles as items of the UI, which are read according to the flags.
func (f *flameFlags) items(c *choose.Choice) []pages.Item {
	items := profileItems(c)
	for i := range items {
		load, nodes := items[i].Load, f.input.nodes
		if items[i].Node != "" {
			nodes = nil // already selected by its node
		}
		items[i].Load = func(ctx context.Context) (*profile.Profile, error) {
			p, err := load(ctx)
			if err != nil {
				return nil, err
			}
			if f.query.foldPreempt {
				p = p.FoldPreempt()
			}
			return p, nil
		}
		if items[i].Words != nil {
			items[i].Words = append(withNodes(items[i].Words, nodes), f.reading()...)
		}
	}
	return items
}

// profileItems returns the profiles as items of the UI.
func profileItems(c *choose.Choice) []pages.Item {
	items := make([]pages.Item, len(c.List))
	for i := range c.List {
		p := &c.List[i]
		items[i] = pages.Item{
			Name: p.Name, Words: p.Words, Node: p.Node, Role: p.Role, Kind: string(p.Kind), Start: p.From, Load: p.Read,
		}
		if !p.To.IsZero() {
			items[i].Window = p.To.Sub(p.From)
		}
	}
	return items
}

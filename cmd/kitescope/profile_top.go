package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"kitescope/cmd/kitescope/cli"
	"kitescope/profile"
	"kitescope/profile/report"
	"kitescope/render"
	"kitescope/render/profiles"
)

// profileTable holds the flags of commands that print a table about profiles.
type profileTable struct {
	input  profileInput
	query  profileQuery
	report cli.ReportFlags
}

func (f *profileTable) register(cmd *cobra.Command) {
	f.input.Register(cmd)
	f.query.register(cmd.Flags())
	f.report.Register(cmd, render.ReportFormats(), cli.DefaultEntries, "maximum number of entries; 0 for all")
	_ = cmd.RegisterFlagCompletionFunc("by", cli.FixedCompletions(profile.GranularityNames()...))
}

// tableOptions holds the validated options of a command that prints a table.
type tableOptions struct {
	options report.Options
	format  render.Format
	render  render.ReportOptions
}

func (f *profileTable) parseTable(a *cli.App, cmd *cobra.Command) (tableOptions, error) {
	var s tableOptions
	var err error
	if s.options, err = f.query.options(); err != nil {
		return s, err
	}
	s.format, s.render, err = f.report.Parse(a, cmd)
	s.render.By = s.options.By
	return s, err
}

func profileTop(a *cli.App) *cobra.Command {
	var f profileTable
	cmd := &cobra.Command{
		Use: "top [FILE...]",
		Long: `Print the cost of each function: flat (itself) and cum (with callees). Numbers and names are
those of "go tool pprof -top". Several profiles are merged; --by node separates them, --by
class groups by Go code, runtime, GC, native libraries, syscalls.`,
		Example: `  kitescope profile top cpu.pb.gz
  kitescope profile top before --node querynode-3 --by class
  kitescope profile top heap.pb.gz --sample inuse_space --cum -o json
  kitescope profile top cpu.pb.gz --where class=native --sort -cum`,
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := f.parseTable(a, cmd)
			if err != nil {
				return err
			}
			p, err := f.input.Merged(cmd.Context(), a, args, false)
			if err != nil {
				return err
			}
			top, err := report.NewTop(p, s.options)
			if err != nil {
				return err
			}
			return a.Write(func(w *bufio.Writer) error { return profiles.WriteTop(w, top, s.format, s.render) })
		},
	}
	f.register(cmd)
	f.report.List(cmd, profiles.TopSchema, "'flat_percent>1'", "-cum,function", "function,flat,class; +file")
	return cmd
}

func profileMerge(a *cli.App) *cobra.Command {
	var f struct {
		input    profileInput
		out      string
		collapse bool
		force    bool
	}
	cmd := &cobra.Command{
		Use: "merge FILE... -O FILE",
		Long: `Write one pprof file with all samples of the given profiles, each labelled with its node
(--collapse merges the nodes instead). Any pprof tool reads it.`,
		Example: `  kitescope profile merge before -O before.pb.gz
  kitescope profile merge perf.txt -O perf.pb.gz`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.out == "" {
				return cli.Usage(errors.New("no output file: -O FILE is missing"),
					"kitescope profile merge before -O before.pb.gz; - is standard output")
			}
			return f.input.mergeProfiles(cmd.Context(), a, args, f.out, f.collapse, f.force)
		},
	}
	f.input.Register(cmd)
	cmd.Flags().StringVarP(&f.out, "out", "O", "", "the file to write; - is standard output")
	cmd.Flags().BoolVar(&f.collapse, "collapse", false, "merge samples of all nodes, without node labels")
	cmd.Flags().BoolVar(&f.force, "force", false, "replace the file if it exists")
	return cmd
}

func (in *profileInput) mergeProfiles(
	ctx context.Context, a *cli.App, args []string, out string, collapse, force bool,
) error {
	to, err := a.NewOutput(out, force)
	if err != nil {
		return err
	}
	p, err := in.Merged(ctx, a, args, collapse)
	if err != nil {
		return err
	}
	if err := to(p.Encode); err != nil {
		return fmt.Errorf("write the profile to %s: %w", out, err)
	}
	if out != "-" {
		a.Warn("wrote %s: %d samples", out, p.Len())
	}
	return nil
}

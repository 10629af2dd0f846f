package enginecmd

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"kitescope/cmd/kitescope/cli"
	"kitescope/internal/table"
	"kitescope/render"
	"kitescope/render/picture"
	"kitescope/render/replays"
	"kitescope/replay"
	"kitescope/replay/whatif"
)

// savedFile is a file that -O wrote: a result or a prediction.
type savedFile struct {
	name   string
	result *replay.Result
	report *whatif.Report
}

// maxSaved exceeds the limits of both readers, so that they report files that are too large.
const maxSaved = 257 << 20

// readSaved reads a result or a prediction.
func readSaved(path string) (*savedFile, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read the result: %w", err)
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxSaved))
	if err != nil {
		return nil, fmt.Errorf("read the result: %w", err)
	}
	s := &savedFile{name: strings.TrimSuffix(filepath.Base(path), ".json")}
	if s.result, err = replay.ReadResult(bytes.NewReader(data)); err == nil {
		return s, nil
	}
	var other error
	if s.report, other = whatif.ReadReport(bytes.NewReader(data)); other == nil {
		return s, nil
	}
	if bytes.Contains(data, []byte(`"ReplayWhatIf"`)) {
		err = other
	}
	return nil, fmt.Errorf("read %s: %w", path, err)
}

func readAllSaved(paths []string) (list []*savedFile, err error) {
	for _, path := range paths {
		s, err := readSaved(path)
		if err != nil {
			return nil, err
		}
		list = append(list, s)
	}
	return list, nil
}

func replayShow(a *cli.App) *cobra.Command {
	v := &showFlags{schema: replays.PointSchema}
	cmd := &cobra.Command{
		Use: "show RESULT...",
		Long: `Show a saved result or prediction. Several results are shown side by side: which has the most queries per
second at a recall of 0.9, 0.95 and 0.99, and each point with its latency, CPU and context switches per query.`,
		Example: `  kitescope replay show after.json --baseline before.json
  kitescope replay show milvus.json postgres.json opensearch.json
  kitescope replay show sweep.json -o csv > sweep.csv
  kitescope replay show before.json --costs --limit 0`,
		Args: cli.Args(1, 64, "at least one saved result", "kitescope replay show before.json"),
		RunE: func(cmd *cobra.Command, args []string) error { return v.show(a, cmd, args) },
	}
	v.screen.register(cmd)
	fl := cmd.Flags()
	fl.StringVar(&v.baseline, "baseline", "", "an earlier result to compare with")
	fl.BoolVar(&v.costs, "costs", false, "only the cost of each segment")
	v.report.Register(cmd, render.ReportFormats(), 10, "maximum number of segments and requests, 0 for all")
	v.report.List(cmd, func(o render.ReportOptions) *table.Schema { return v.schema(o) }, "'recall>=0.95'",
		"-qps,recall", "ef,sessions,qps; +latency_max_seconds")
	return cmd
}

// showFlags holds the flags of "replay show".
type showFlags struct {
	report   cli.ReportFlags
	schema   func(o render.ReportOptions) *table.Schema // the schema of the list, which depends on the file
	baseline string
	costs    bool
	screen   replayScreen
}

func (v *showFlags) show(a *cli.App, cmd *cobra.Command, args []string) error {
	if err := v.screen.check(a, cmd); err != nil {
		return err
	}
	if len(args) > 1 {
		return v.sideBySide(a, cmd, args)
	}
	s, err := readSaved(args[0])
	if err != nil {
		return err
	}
	switch {
	case s.report != nil:
		v.schema = replays.WhatIfSchema
	case v.costs:
		v.schema = replays.CostSchema
	default:
		v.schema = resultSchema(v.baseline)
	}
	format, o, err := v.report.Parse(a, cmd)
	if err != nil {
		return err
	}
	if v.screen.open {
		return v.screen.showReplay(a, cmd, s, args)
	}
	if s.report != nil {
		if v.baseline != "" {
			return cli.Usage(errors.New("--baseline compares results: this is a prediction"), "omit it")
		}
		return a.Write(func(w *bufio.Writer) error { return replays.WriteWhatIf(w, s.report, format, o) })
	}
	if v.costs {
		return a.Write(func(w *bufio.Writer) error { return replays.WriteCosts(w, s.result, format, o) })
	}
	before, err := readBaseline(v.baseline)
	if err != nil {
		return err
	}
	return a.Write(func(w *bufio.Writer) error { return writeComparison(w, s.result, before, format, o) })
}

// sideBySide shows several results.
func (v *showFlags) sideBySide(a *cli.App, cmd *cobra.Command, args []string) error {
	for _, flag := range []string{"baseline", "costs", "ui"} {
		if cmd.Flags().Changed(flag) {
			return cli.Usage(fmt.Errorf("--%s needs one result, several were given", flag),
				"omit it, or name one result")
		}
	}
	v.schema = replays.SideBySideSchema
	list, err := readAllSaved(args)
	if err != nil {
		return err
	}
	series, err := seriesOf(list)
	if err != nil {
		return err
	}
	format, o, err := v.report.Parse(a, cmd)
	if err != nil {
		return err
	}
	return a.Write(func(w *bufio.Writer) error { return replays.WriteSideBySide(w, series, format, o) })
}

func replayPlot(a *cli.App) *cobra.Command {
	var o replays.PlotOptions
	var out string
	var force bool
	cmd := &cobra.Command{
		Use: "plot RESULT...",
		Long: `Plot saved results. Several results share one plot; the first is the baseline.

  qps      queries per second by sessions or rate, with intervals
  front    recall against queries per second
  latency  distribution of latencies`,
		Example: `  kitescope replay plot sweep.json --kind qps --out qps.svg
  kitescope replay plot before.json after.json --kind front --out front.png`,
		Args: cli.Args(1, 64, "at least one result file", "kitescope replay plot sweep.json --out qps.svg"),
		RunE: func(_ *cobra.Command, args []string) error {
			if o.Format == "" {
				o.Format = cli.Extension(out)
			}
			if err := checkPlot(&o); err != nil {
				return err
			}
			list, err := readAllSaved(args)
			if err != nil {
				return err
			}
			write, err := a.NewOutput(out, force)
			if err != nil {
				return err
			}
			if out == "" && a.OutTTY {
				return cli.Usage(errors.New("a plot is a picture and stdout is a terminal"),
					"write it to a file: --out qps.svg")
			}
			return write(func(w io.Writer) error { return plotSaved(w, list, o) })
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&o.Kind, "kind", "qps", strings.Join(replays.PlotNames(), ", "))
	fl.StringVarP(&out, "out", "O", "", "output file; the extension sets the format")
	fl.StringVar(&o.Format, "format", "", strings.Join(picture.Formats().Names(), ", ")+", if not set by the extension")
	fl.IntVar(&o.Width, "width", 0, "in pixels, 96 per inch")
	fl.IntVar(&o.Height, "height", 0, "in pixels")
	fl.BoolVar(&o.Dark, "dark", false, "for dark backgrounds")
	fl.BoolVar(&force, "force", false, "replace the file if it exists")
	_ = cmd.RegisterFlagCompletionFunc("kind", cli.FixedCompletions(replays.PlotNames()...))
	_ = cmd.RegisterFlagCompletionFunc("format", cli.FixedCompletions(picture.Formats().Names()...))
	return cmd
}

// removedKinds maps plot kinds of earlier releases to their replacements.
var removedKinds = map[string]string{
	"cost":    "the table has it: kitescope replay show RESULT --costs",
	"compare": "the table has it: kitescope replay show AFTER --baseline BEFORE",
}

// checkPlot returns an error if a flag is invalid, before files are read.
func checkPlot(o *replays.PlotOptions) error {
	const most = 8000 // pixels, the limit of the renderer
	switch instead := removedKinds[o.Kind]; {
	case instead != "":
		return cli.Usage(fmt.Errorf("--kind %s was removed", o.Kind), instead)
	case !slices.Contains(replays.PlotNames(), o.Kind):
		return cli.Usagef("--kind must be one of %s, not %q", strings.Join(replays.PlotNames(), ", "), o.Kind)
	case o.Format == "":
		return cli.Usage(errors.New("no plot format given"), "give a file name, --out qps.svg, or --format")
	case !slices.Contains(picture.Formats().Names(), o.Format):
		return cli.Usagef("plots are %s, not %q", strings.Join(picture.Formats().Names(), ", "), o.Format)
	case o.Width < 0 || o.Height < 0 || o.Width > most || o.Height > most:
		return cli.Usagef("--width and --height must be at most %d pixels", most)
	}
	return nil
}

func plotSaved(w io.Writer, list []*savedFile, o replays.PlotOptions) error {
	if list[0].report != nil {
		return cli.Usage(errors.New("predictions are no longer plotted"), "the table has them: kitescope replay show")
	}
	series, err := seriesOf(list)
	if err != nil {
		return err
	}
	return replays.PlotResults(w, series, o)
}

func seriesOf(list []*savedFile) ([]replays.Series, error) {
	var series []replays.Series
	for _, s := range list {
		if s.result == nil {
			return nil, cli.Usage(fmt.Errorf("%s is a prediction, not a result", s.name), "give only that file")
		}
		series = append(series, replays.Series{Name: s.name, Result: s.result})
	}
	return series, nil
}

// ReadSeries reads files that -O wrote. It returns the results, and the prediction if there is one. It returns an
// error if there is more than one prediction.
func ReadSeries(paths []string) ([]replays.Series, *whatif.Report, error) {
	list, err := readAllSaved(paths)
	if err != nil {
		return nil, nil, err
	}
	return pageOf(list)
}

func pageOf(list []*savedFile) (series []replays.Series, prediction *whatif.Report, err error) {
	var results []*savedFile
	for _, s := range list {
		switch {
		case s.result != nil:
			results = append(results, s)
		case prediction != nil:
			return nil, nil, cli.Usage(errors.New("a report takes only one prediction"), "use only one of them")
		default:
			prediction = s.report
		}
	}
	series, err = seriesOf(results)
	return series, prediction, err
}

func replayReport(a *cli.App) *cobra.Command {
	var out string
	var force bool
	cmd := &cobra.Command{
		Use: "report RESULT...",
		Long: `Write one self-contained HTML file: figures, plots, where the time goes, and everything needed to
reproduce it. Several results are shown side by side: recall against queries per second in one plot, and each point
with the server cost of a query. If two results have the same target, the first is the baseline.`,
		Example: `  kitescope replay report before.json after.json whatif.json --out replay.html
  kitescope replay report milvus.json postgres.json --out targets.html`,
		Args: cli.Args(1, 64, "at least one result file", "kitescope replay report before.json --out replay.html"),
		RunE: func(_ *cobra.Command, args []string) error {
			series, prediction, err := ReadSeries(args)
			if err != nil {
				return err
			}
			write, err := a.NewOutput(out, force)
			if err != nil {
				return err
			}
			return write(func(w io.Writer) error { return replays.WriteHTML(w, series, prediction, cli.Version) })
		},
	}
	cmd.Flags().StringVarP(&out, "out", "O", "", "output file; default: standard output")
	cmd.Flags().BoolVar(&force, "force", false, "replace the file if it exists")
	return cmd
}

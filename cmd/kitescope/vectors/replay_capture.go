package vectors

import (
	"bufio"
	"io"

	"github.com/spf13/cobra"

	"kitescope/cmd/kitescope/cli"
	"kitescope/render"
	"kitescope/render/replays"
	"kitescope/replay/log"
)

func replayCapture(a *cli.App) *cobra.Command {
	var o log.CaptureOptions
	var report cli.ReportFlags
	var out, vectors string
	var seed uint64
	var force bool
	cmd := &cobra.Command{
		Use: "capture ACCESS-LOG...",
		Long: `Read the access logs of Milvus proxies (2.3 and later; proxy.accessLog), plain or compressed, rotated or of
several proxies: how many searches a second, when, how large, how long they took, which failed. They
have no vectors. --out keeps times and sizes as a query log; with --vectors it gets the vectors of
another log, so that "replay run --timed" asks them at those times.`,
		Example: `  kitescope replay capture access.log
  kitescope replay capture access.log*.gz --collection docs --vectors queries.npy --out monday.jsonl
  kitescope replay run docs --queries monday.jsonl --timed --speed 2`,
		Args: cli.Args(1, 10000, "at least one access log", "kitescope replay capture access.log"),
		RunE: func(cmd *cobra.Command, args []string) error {
			format, ro, err := report.Settle(a, cmd)
			if err != nil {
				return err
			}
			switch {
			case vectors != "" && out == "":
				return cli.Usagef("--vectors is of the log that --out writes")
			case o.Limit < 0:
				return cli.Usagef("--limit is 0 or more, not %d", o.Limit)
			}
			if err := a.MayWrite(out, force); err != nil {
				return err
			}
			l, shape, err := log.CaptureFiles(cmd.Context(), args, o)
			if err != nil {
				return err
			}
			for _, n := range l.Notes {
				a.Note("%s", n)
			}
			if out != "" {
				if err := keepShape(a, cmd, l, vectors, seed, out, force); err != nil {
					return err
				}
			}
			return a.Write(func(w *bufio.Writer) error { return replays.WriteShape(w, l, shape, format, ro) })
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&o.Collection, "collection", "", "only searches of this collection, and those that name none")
	fl.StringArrayVar(&o.Formats, "log-format", nil, "format of the lines, as proxy.accessLog.formatters has it, where it is not a default of Milvus; repeatable")
	fl.IntVar(&o.Limit, "limit", 0, "keep the first N searches; 0 for all")
	fl.BoolVar(&o.Strict, "strict-log", false, "stop at the first line that is of none of the formats")
	fl.StringVar(&vectors, "vectors", "", "a log whose vectors are asked at these times")
	fl.Uint64Var(&seed, "seed", 1, "in which order they are")
	fl.StringVarP(&out, "out", "O", "", "write the query log here (.jsonl)")
	fl.BoolVar(&force, "force", false, "replace the file")
	report.Register(cmd, render.ReportFormats(), 0, "")
	report.List(cmd, replays.ShapeSchema, "'requests>100'", "-requests", "from_seconds,requests; +per_second")
	return cmd
}

// keepShape writes what was captured, with vectors if there are some.
func keepShape(a *cli.App, cmd *cobra.Command, l *log.Log, vectors string, seed uint64, out string, force bool) error {
	if vectors != "" {
		v, err := log.Open(cmd.Context(), vectors, log.Options{})
		if err != nil {
			return err
		}
		defer v.Close()
		dressed, err := log.Dress(l, v, seed)
		if err != nil {
			return err
		}
		for _, n := range dressed.Notes[:1] {
			a.Note("%s", n)
		}
		l = dressed
	}
	write, err := a.NewOutput(out, force)
	if err != nil {
		return err
	}
	return write(func(w io.Writer) error { return log.Write(w, l) })
}

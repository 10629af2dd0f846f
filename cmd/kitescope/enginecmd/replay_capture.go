package enginecmd

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
		Long: `Read the access logs of Milvus proxies (2.3 and later; proxy.accessLog), plain or compressed, rotated or
from several proxies: searches per second, their times, sizes, durations and failures. They have no
vectors. --out writes times and sizes as a query log; with --vectors it takes the vectors of another
log, for "replay run --timed".`,
		Example: `  kitescope replay capture access.log
  kitescope replay capture access.log*.gz --vectors queries.npy -O monday.jsonl
  kitescope replay run docs --queries monday.jsonl --timed --speed 2`,
		Args: cli.Args(1, 10000, "at least one access log", "kitescope replay capture access.log"),
		RunE: func(cmd *cobra.Command, args []string) error {
			format, ro, err := report.Parse(a, cmd)
			if err != nil {
				return err
			}
			switch {
			case vectors != "" && out == "":
				return cli.Usagef("--vectors needs --out")
			case o.Limit < 0:
				return cli.Usagef("--limit must be 0 or more, not %d", o.Limit)
			}
			if err := a.CheckWritable(out, force); err != nil {
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
				if err := saveCapture(a, cmd, l, vectors, seed, out, force); err != nil {
					return err
				}
			}
			return a.Write(func(w *bufio.Writer) error { return replays.WriteShape(w, l, shape, format, ro) })
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&o.Collection, "collection", "", "only searches of this collection, and those without one")
	fl.StringArrayVar(&o.Formats, "log-format", nil,
		"line format from proxy.accessLog.formatters, if not a Milvus default; repeatable")
	fl.IntVar(&o.Limit, "limit", 0, "keep the first N searches; 0 for all")
	fl.BoolVar(&o.Strict, "strict-log", false, "stop at the first line in no known format")
	fl.StringVar(&vectors, "vectors", "", "log with the vectors to use at these times")
	fl.Uint64Var(&seed, "seed", 1, "order of the vectors")
	fl.StringVarP(&out, "out", "O", "", "file to write the query log to (.jsonl)")
	fl.BoolVar(&force, "force", false, "replace the file if it exists")
	report.Register(cmd, render.ReportFormats(), 0, "")
	report.List(cmd, replays.ShapeSchema, "'requests>100'", "-requests", "from_seconds,requests; +per_second")
	return cmd
}

// saveCapture writes the captured log to a file, with the vectors of another log if vectors is not "".
func saveCapture(
	a *cli.App, cmd *cobra.Command, l *log.Log, vectors string, seed uint64, out string, force bool,
) error {
	if vectors != "" {
		v, err := log.Open(cmd.Context(), vectors, log.Options{})
		if err != nil {
			return err
		}
		defer v.Close()
		dressed, err := log.Combine(l, v, seed)
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

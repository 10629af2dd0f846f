package enginecmd

import (
	"cmp"
	"strconv"

	"github.com/spf13/pflag"

	"kitescope/cmd/kitescope/cli"
	"kitescope/engine"
	"kitescope/replay"
)

// paramFlags are the flags of a command for search parameters.
type paramFlags struct {
	fl   *pflag.FlagSet
	list []*engine.SearchParam
}

// register adds a flag for each parameter whose usage is not "".
func (f *paramFlags) register(fl *pflag.FlagSet, usage func(*engine.SearchParam) string) {
	f.fl = fl
	for p := range engine.EachSearchParam() {
		said := usage(p)
		switch {
		case said == "":
			continue
		case p.IsInt():
			fl.Int(p.Flag, 0, said)
		default:
			fl.Float64(p.Flag, 0, said)
		}
		f.list = append(f.list, p)
	}
}

// ownUsage returns the usage of a parameter for searching an index.
func ownUsage(p *engine.SearchParam) string { return p.Help + p.IndexHelp }

// logUsage returns the usage of a parameter for replaying a log, or "" if it does not apply. The value 0 means
// the value of the log.
func logUsage(p *engine.SearchParam) string {
	if p.ReplayHelp == "" {
		return ""
	}
	return p.Help + ", if not in the log" + p.ReplayHelp
}

// read returns the parameters that were given. If zero is set, 0 counts as not given.
func (f *paramFlags) read(zero bool) (params engine.SearchParams, err error) {
	for _, p := range f.list {
		flag := f.fl.Lookup(p.Flag)
		text := flag.Value.String()
		x, err := strconv.ParseFloat(text, 64)
		switch {
		case !flag.Changed, zero && x == 0:
		case err != nil || !p.Accepts(x):
			return params, cli.Usagef("--%s must be %s, not %s", p.Flag, p.Range, text)
		default:
			p.Set(&params, x)
		}
	}
	return params, nil
}

// requestParams returns the request parameters that the flags set.
func (f *runFlags) requestParams() replay.RequestParams {
	ask := replay.RequestParams{K: f.queries.k, SearchParams: f.queries.searchParams}
	ask.EF = cmp.Or(f.ef, max(64, f.queries.k))
	if f.queries.force {
		ask.Force.SearchParams = f.queries.searchParams
		ask.Force.EF = f.ef
		if f.queries.forceK {
			ask.Force.K = f.queries.k
		}
	}
	return ask
}

package enginecmd

import (
	"testing"

	"github.com/spf13/pflag"

	"kitescope/engine"
)

// TestOverridesTheLog checks that flags of search parameters apply to requests without such parameters, and
// with --override to all requests.
func TestOverridesTheLog(t *testing.T) {
	for p := range engine.EachSearchParam() {
		if logUsage(p) == "" || p.Flag == "ef" { // of a run --ef is a list
			continue
		}
		var f runFlags
		fl := pflag.NewFlagSet("", pflag.ContinueOnError)
		f.queries.params.register(fl, logUsage)
		if err := fl.Parse([]string{"--" + p.Flag, "4"}); err != nil {
			t.Fatal(err)
		}
		var err error
		if f.queries.searchParams, err = f.queries.params.read(true); err != nil {
			t.Fatal(err)
		}
		for _, f.queries.force = range []bool{false, true} {
			ask := f.requestParams()
			_, forced := p.Get(&ask.Force.SearchParams)
			if x, set := p.Get(&ask.SearchParams); !set || x != 4 || ask.EF != 64 || forced != f.queries.force ||
				ask.Force.EF != 0 {
				t.Errorf("--%s 4, override %t: %+v", p.Flag, f.queries.force, ask)
			}
		}
	}
}

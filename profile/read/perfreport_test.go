package read

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	reportCount = "# Samples: 10  of event 'cycles'\n# Event count (approx.): 1000\n#\n"
	reportHead  = reportCount +
		"# Overhead  Command  Shared Object         Symbol     \n# ........  .......  ....................  " +
		"...........\n#\n"
)

// TestPerfReportWithPeriods checks that values come from the column of --show-total-period, and that lost
// samples are noted.
func TestPerfReportWithPeriods(t *testing.T) {
	p := mustRead(t,
		"# Total Lost Samples: 7\n"+reportCount+
			"# Overhead  Period  Symbol\n# ........  ......  ......\n#\n    66.70%     667  [.] f\n    33.30%     "+
			"333  [.] g\n", Options{})
	if diff := cmp.Diff(map[string]int64{"f": 667, "g": 333}, stacks(p, 0)); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	if notes := notesOf(p); strings.Contains(notes, "decimals") ||
		!strings.Contains(notes, "perf lost while recording 7") {
		t.Errorf("notes %s", notes)
	}
}

func TestPerfReport(t *testing.T) {
	for name, c := range map[string]struct {
		text, types string
		want        map[string]int64
	}{
		"columns": {
			"# Samples: 10  of event 'cycles'\n# Event count (approx.): 1000\n#\n# Overhead  Command  Shared Object  " +
				"       Symbol     \n# ........  .......  ....................  ...........\n#\n" +
				"    60.00%  my sh    libc.so.6             [.] strcmp\n    30.00%  sh       [kernel.kallsyms]     " +
				"[k] schedule\n    10.00%  sh       dash                  [.] 0x0000000000015684\n\n\n# (Tip: " +
				"anything)\n",
			"[cycles/count]",
			map[string]int64{"strcmp": 600, "schedule": 300, "[dash]": 100},
		},
		"children": {
			reportCount +
				"# Children      Self  Symbol     \n# ........  ........  ...........\n#\n    90.00%    60.00%  [.] " +
				"f\n    80.00%     0.00%  [.] main\n    40.00%    40.00%  [.] g\n",
			"[cycles/count]",
			map[string]int64{"f": 600, "g": 400},
		},
		"without the event count": {
			"# Overhead  Symbol     \n# ........  ...........\n#\n    16.89%  [.] f\n    11.11%  [.] g\n",
			"[event/hundredths of a percent]",
			map[string]int64{"f": 1689, "g": 1111},
		},
		"a heading that is not above its dots": {
			reportCount +
				"# Overhead  Symbol          IPC   [IPC Coverage]\n# ........  " +
				"......................................  ....................\n#\n" +
				"    60.00%  [.] f                                   -      -            \n    40.00%  [.] g         " +
				"                          -      -            \n",
			"[cycles/count]",
			map[string]int64{"f": 600, "g": 400},
		},
		"call graph": {
			reportCount +
				"# Overhead  Symbol     \n# ........  ...........\n#\n    70.00%  [.] f\n            |\n            " +
				"---f\n               |--40.00%--main\n\n    30.00%  [.] g\n",
			"[cycles/count]",
			map[string]int64{"f": 700, "g": 300},
		},
		"call graph of shares": {
			reportCount +
				"# Overhead  Symbol     \n# ........  ...........\n#\n    60.00%  [.] f\n            |\n            " +
				"60.00%--main\n                    f\n\n" +
				"    40.00%  [.] g\n             40.00% main\n                    g\n",
			"[cycles/count]",
			map[string]int64{"f": 600, "g": 400},
		},
		"decimal commas": {
			reportCount + "# Overhead  Symbol     \n# ........  ...........\n#\n    60,00%  [.] f\n    40,00%  [.] g\n",
			"[cycles/count]",
			map[string]int64{"f": 600, "g": 400},
		},
		"Windows": {
			strings.ReplaceAll(reportCount+"# Overhead  Symbol     \n# ........  ...........\n#\n   100.00%  [.] f\n",
				"\n", "\r\n"),
			"[cycles/count]",
			map[string]int64{"f": 1000},
		},
		"several events": {
			reportCount + "# Overhead  Symbol\n# ........  ......\n#\n   100.00%  [.] f\n\n" +
				"# Samples: 4  of event 'cpu-clock'\n# Event count (approx.): 50\n#\n# Overhead  Symbol\n# ........  " +
				"......\n#\n   100.00%  [.] f\n",
			"[cycles/count cpu-clock/nanoseconds]",
			map[string]int64{"f": 1000},
		},
	} {
		p := mustRead(t, c.text, Options{Mangled: true})
		if p.Origin.Format != "perf report" || !p.Origin.Flat || !strings.Contains(notesOf(p), "two decimals") {
			t.Errorf("%s: origin %+v, notes %s", name, p.Origin, notesOf(p))
		}
		if got := fmt.Sprint(p.Types); got != c.types {
			t.Errorf("%s: types %s, want %s", name, got, c.types)
		}
		if diff := cmp.Diff(c.want, stacks(p, 0)); diff != "" {
			t.Errorf("%s: rows (-want +got):\n%s", name, diff)
		}
	}
}

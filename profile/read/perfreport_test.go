package read

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPerfReport(t *testing.T) {
	const head = "# Samples: 10  of event 'cycles'\n# Event count (approx.): 1000\n#\n"
	for name, c := range map[string]struct {
		text  string
		types string
		want  map[string]int64
		note  string
	}{
		"by position": {
			head + "# Overhead  Command  Shared Object         Symbol     \n# ........  .......  ....................  ...........\n#\n" +
				"    60.00%  my sh    libc.so.6             [.] strcmp\n    30.00%  sh       [kernel.kallsyms]     [k] schedule\n    10.00%  sh       dash                  [.] 0x0000000000015684\n\n\n# (Tip: anything)\n",
			"[cycles/count]",
			map[string]int64{"strcmp": 600, "schedule": 300, "[dash]": 100},
			"two decimals",
		},
		"children": {
			head + "# Children      Self  Symbol     \n# ........  ........  ...........\n#\n    90.00%    60.00%  [.] f\n    80.00%     0.00%  [.] main\n    40.00%    40.00%  [.] g\n",
			"[cycles/count]",
			map[string]int64{"f": 600, "g": 400},
			"two decimals",
		},
		"separated, with periods": {
			head + "# Overhead,     Samples,      Period,Command,Shared Object,Symbol\n 70.00% , 7 , 701 ,sh ,libc.so.6 ,[.] f(int, int)\n 30.00% , 3 , 299 ,sh ,libc.so.6 ,[.] g\n",
			"[samples/count cycles/count]",
			map[string]int64{"f(int, int)": 7, "g": 3},
			"",
		},
		"decimal commas, separated by commas": {
			head + "# Overhead,Command,Shared Object,Symbol\n 70,00% ,sh ,libc.so.6 ,[.] f\n 30,00% ,sh ,libc.so.6 ,[.] g\n",
			"[cycles/count]",
			map[string]int64{"f": 700, "g": 300},
			"",
		},
		"decimal commas": {
			head + "# Overhead  Symbol     \n# ........  ...........\n#\n    70,00%  [.] f\n    30,00%  [.] g\n",
			"[cycles/count]",
			map[string]int64{"f": 700, "g": 300},
			"",
		},
		"left out": {
			head + "# Overhead  Symbol     \n# ........  ...........\n#\n    70.00%  [.] f\n",
			"[cycles/count]",
			map[string]int64{"f": 700, leftOut: 300},
			"--percent-limit 0 300",
		},
		"call graph": {
			head + "# Overhead  Symbol     \n# ........  ...........\n#\n    70.00%  [.] f\n            |\n            ---f\n               |--40.00%--main\n\n    30.00%  [.] g\n",
			"[cycles/count]",
			map[string]int64{"f": 700, "g": 300},
			"lines that are no rows, the first is line 8; perf report -g none prints none 3",
		},
		"without a head": {
			"    70.00%  sh       libc.so.6             [.] f\n    30.00%  sh       libc.so.6             [.] g\n",
			"[event/hundredths of a percent]",
			map[string]int64{"f": 7000, "g": 3000},
			"",
		},
		"separated without a head": {
			" 70.00% ;sh     ;libc.so.6 ;[.] f\n 30.00% ;sh ;libc.so.6 ;[.] g\n",
			"[event/hundredths of a percent]",
			map[string]int64{"f": 7000, "g": 3000},
			"",
		},
		"verbose": {
			head + "# Overhead  Command  Shared Object         Symbol     \n# ........  .......  ....................  ...........\n#\n    99.00%  sh       /usr/lib/libc.so.6    0x16713e           D [.] f\n     1.00%  sh       /usr/lib/libc.so.6    0x16             B [.] 0x16\n",
			"[cycles/count]",
			map[string]int64{"f": 990, "[libc.so.6]": 10},
			"",
		},
		"Windows": {
			strings.ReplaceAll(head+"# Overhead  Symbol     \n# ........  ...........\n#\n   100.00%  [.] f\n", "\n", "\r\n"),
			"[cycles/count]",
			map[string]int64{"f": 1000},
			"",
		},
		"several events": {
			head + "# Overhead  Symbol\n# ........  ......\n#\n   100.00%  [.] f\n\n" +
				"# Samples: 4  of event 'cpu-clock'\n# Event count (approx.): 50\n#\n# Overhead  Symbol\n# ........  ......\n#\n   100.00%  [.] f\n",
			"[cycles/count cpu-clock/nanoseconds]",
			map[string]int64{"f": 1000},
			"",
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := mustRead(t, c.text, Options{Demangle: 3})
			if p.Origin.Format != "perf report" || !p.Origin.Flat {
				t.Errorf("origin %+v", p.Origin)
			}
			if got := fmt.Sprint(p.Types); got != c.types {
				t.Errorf("types %s, want %s", got, c.types)
			}
			if diff := cmp.Diff(c.want, stacks(p, 0)); diff != "" {
				t.Errorf("rows (-want +got):\n%s", diff)
			}
			if !strings.Contains(notesOf(p), c.note) {
				t.Errorf("notes %s, want %q", notesOf(p), c.note)
			}
		})
	}
}

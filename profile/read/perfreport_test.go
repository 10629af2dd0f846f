package read

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kitescope/profile/symbol"
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
			"[cycles/count cycles children/count]",
			map[string]int64{"f": 600, "g": 400, "main": 0},
			"CUM of functions is the sum of column Children",
		},
		"children without a head": {
			"    90.00%    60.00%  sh  libc.so.6  [.] f\n    40.00%    40.00%  sh  libc.so.6  [.] g\n",
			"[event/hundredths of a percent event children/hundredths of a percent]",
			map[string]int64{"f": 6000, "g": 4000},
			"CUM of functions is the sum of column Children",
		},
		"children with periods and without the event count": {
			"# Children  Self  Period  Symbol     \n# ........  ....  ......  ...........\n#\n    90.00%  60.00%   600  [.] f\n    40.00%  40.00%   400  [.] g\n",
			"[event/count]",
			map[string]int64{"f": 600, "g": 400},
			"column Children skipped",
		},
		"percentages are of all, where the event count was cut off": {
			"# Overhead  Symbol     \n# ........  ...........\n#\n    16.89%  [.] f\n    11.11%  [.] g\n",
			"[event/hundredths of a percent]",
			map[string]int64{"f": 1689, "g": 1111, leftOut: 7200},
			"72.0% are of rows that perf report left out",
		},
		"periods, where the event count was cut off": {
			"# Overhead  Period  Symbol     \n# ........  ......  ...........\n#\n    16.00%    1600  [.] f\n     9.00%     900  [.] g\n",
			"[event/count]",
			map[string]int64{"f": 1600, "g": 900, leftOut: 7500},
			"75.0% are of rows that perf report left out",
		},
		"a heading that is not above its dots": {
			head + "# Overhead  Symbol          IPC   [IPC Coverage]\n# ........  ......................................  ....................\n#\n" +
				"    60.00%  [.] f                                   -      -            \n    40.00%  [.] g                                   -      -            \n",
			"[cycles/count]",
			map[string]int64{"f": 600, "g": 400},
			"two decimals",
		},
		"copied off the screen": {
			"Samples: 12K of event 'cpu-clock', 4000 Hz, Event count (approx.): 1000\nOverhead  Command  Shared Object     Symbol\n" +
				"  60.00%  my sh    [kernel.vmlinux]  [k] schedule\n  40.00%  sh       libfoo.so         [.] f(int, char const*)\n",
			"[cpu-clock/nanoseconds]",
			map[string]int64{"schedule": 600, "f(int, char const*)": 400},
			"rounded down",
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
			"30.0% are of rows that perf report left out; print all with --percent-limit 0 1",
		},
		"call graph": {
			head + "# Overhead  Symbol     \n# ........  ...........\n#\n    70.00%  [.] f\n            |\n            ---f\n               |--40.00%--main\n\n    30.00%  [.] g\n",
			"[cycles/count]",
			map[string]int64{"f": 700, "g": 300},
			"skipped lines that are not rows (first: line 8); perf report -g none avoids them 3",
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
			for _, n := range p.Notes {
				if strings.Contains(n.What, "two decimals") && n.Count != 1 {
					t.Errorf("%q is of the table, and stands there as if it happened %d times", n.What, n.Count)
				}
			}
		})
	}
}

// What perf printed of a recording with --children: each row has the CUM that it prints, and the FLAT, also where the
// head of the table was cut off.
func TestPerfReportOfChildren(t *testing.T) {
	data, err := os.ReadFile(fixture("perf/cpp-children.report"))
	if err != nil {
		t.Fatal(err)
	}
	var table []string
	self, children := map[string]float64{}, map[string]float64{}
	for line := range strings.Lines(string(data)) {
		if strings.HasPrefix(line, "#") && !reportHeader.MatchString(line) && !strings.HasPrefix(line, "# ...") {
			continue
		}
		table = append(table, strings.TrimRight(line, "\n"))
		words := strings.Fields(line)
		if _, name, ok := strings.Cut(line, "[.] "); ok && len(words) > 4 {
			name = strings.TrimSpace(name)
			var c, s float64
			if _, err := fmt.Sscanf(line, "%f%% %f%%", &c, &s); err != nil {
				t.Fatal(err)
			}
			self[name], children[name] = self[name]+s, children[name]+c
		}
	}
	const least = 40 // that have a name
	if len(self) < least {
		t.Fatalf("%d rows", len(self))
	}
	for how, text := range map[string]string{"whole": string(data), "without its head": strings.Join(table, "\n")} {
		p := mustRead(t, text, Options{Demangle: symbol.None})
		kind, err := p.KindOf("")
		if err != nil {
			t.Fatal(err)
		}
		total, cum, seen := float64(p.Total(kind)), p.Children(kind), 0
		for i := range p.Len() {
			name := nameOf(p, p.Stack(i)[0])
			want, ok := self[name]
			if !ok {
				continue
			}
			seen++
			if got := 100 * float64(p.Value(i, kind)) / total; got > want+0.02 {
				t.Errorf("%s: %s has %.2f%% of its own, want %.2f", how, name, got, want)
			}
			if got := 100 * float64(p.Value(i, cum)) / total; got > children[name]+0.02 || children[name] == self[name] && got < want-0.02 {
				t.Errorf("%s: %s has %.2f%% with what it called, want %.2f", how, name, got, children[name])
			}
		}
		if seen < least {
			t.Errorf("%s: %d rows, of %d", how, seen, len(self))
		}
	}
}

// TestPerfReportWithoutSpaces refuses a table whose columns cannot be told apart.
func TestPerfReportWithoutSpaces(t *testing.T) {
	text := "# Overhead Command Shared Object Symbol\n60.00% my sh libc.so.6 [.] strcmp\n40.00% sh dash [.] f\n"
	if _, err := From(context.Background(), "text", strings.NewReader(text), Options{}); err == nil || !strings.Contains(err.Error(), "lost the spaces") {
		t.Errorf("%v", err)
	}
}

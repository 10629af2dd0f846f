package profiles

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"kitescope/internal/words"
	"kitescope/profile/bench"
	"kitescope/tui"
	"kitescope/tui/tuitest"
)

// scattered are n values around a middle, the same each time: steps of the golden ratio fill an interval evenly.
func scattered(n int, middle, spread float64, seed int) []float64 {
	values := make([]float64, n)
	for i := range values {
		_, part := math.Modf(float64(i+seed) * math.Phi)
		values[i] = middle * (1 + spread*(part-0.5)*math.Abs(part-0.5)*4)
	}
	return values
}

// benchLine is a metric with what a comparison says of it.
func benchLine(m bench.Metric, better bench.Direction, a, b []float64, v bench.Verdict, ratio, low, high, p float64) bench.Line {
	median := func(list []float64) float64 {
		if len(list) == 0 {
			return math.NaN()
		}
		list = slices.Sorted(slices.Values(list))
		return (list[len(list)/2] + list[(len(list)-1)/2]) / 2
	}
	return bench.Line{
		Metric: m, Better: better, A: a, B: b, Before: median(a), After: median(b), Ratio: ratio, Low: low, High: high,
		P: p, Corrected: min(1, p*6), Test: "Wilcoxon signed-rank", Verdict: v, Visible: math.NaN(),
	}
}

// pairedFixture is a comparison in pairs, with one metric of each verdict.
func pairedFixture() *bench.Comparison {
	nan := math.NaN()
	search := func(name, unit string, clients int) bench.Metric {
		return bench.Metric{Of: "search k=10", Name: name, Unit: unit, Concurrency: clients}
	}
	lines := []bench.Line{
		benchLine(search("QPS", "1/s", 8), bench.HigherIsBetter, scattered(24, 8012, 0.03, 1), scattered(24, 8597, 0.04, 5), bench.Better, 1.073, 1.066, 1.081, 1.2e-7),
		benchLine(search("p99 latency", "s", 8), bench.LowerIsBetter, scattered(24, 0.0123, 0.2, 2), scattered(24, 0.0124, 0.2, 9), bench.NoDifference, 1.008, 0.981, 1.034, 0.47),
		benchLine(search("maximum latency", "s", 8), bench.LowerIsBetter, scattered(24, 0.51, 0.6, 3), scattered(24, 0.21, 0.5, 4), bench.Better, 0.411, 0.352, 0.478, 3e-6),
		benchLine(bench.Metric{Of: "png", Name: "CPU time", Unit: "s"}, bench.LowerIsBetter, scattered(24, 3.2, 0.02, 7), scattered(24, 3.45, 0.03, 8), bench.Worse, 1.078, 1.0769, 1.0841, 1.8e-11),
		benchLine(bench.Metric{Name: "context switches per query"}, bench.Unknown, scattered(24, 8.4, 0.1, 3), scattered(24, 5.16, 0.1, 6), bench.Changed, 0.614, 0.605, 0.622, 1e-6),
		benchLine(bench.Metric{Name: "recall", Unit: "%"}, bench.HigherIsBetter, scattered(24, 98.5, 0, 1), scattered(24, 98.5, 0, 1), bench.NoDifference, 1, 1, 1, 1),
		benchLine(bench.Metric{Name: "load time", Unit: "s"}, bench.LowerIsBetter, []float64{41.2, 40.8}, []float64{42.5, 41.9}, bench.TooFew, 1.029, nan, nan, nan),
		benchLine(bench.Metric{Name: "memory", Unit: "B"}, bench.LowerIsBetter, scattered(24, 3.1e9, 0.02, 3), nil, bench.OneSide, nan, nan, nan, nan),
	}
	lines[1].Remark, lines[1].Visible, lines[1].Needs = "needs at least 61 pairs to see 1%", 0.031, 61
	lines[6].Remark, lines[6].Test = "needs at least 6 pairs", ""
	lines[7].Test = ""
	c := &bench.Comparison{
		A: fixtureSet("before", 24), B: fixtureSet("after", 25), Paired: true, Level: 0.05, Effect: 0.01, Lines: lines,
		Failed: [2]int{0, 1}, Notes: []string{"seconds against milliseconds: load time was converted"},
	}
	c.Control = &bench.Comparison{A: fixtureSet("before", 24), B: fixtureSet("again", 24), Paired: true, Level: 0.05, Effect: 0.01, Lines: []bench.Line{
		benchLine(search("QPS", "1/s", 8), bench.HigherIsBetter, scattered(24, 8012, 0.03, 1), scattered(24, 8010, 0.03, 12), bench.NoDifference, 0.9999, 0.996, 1.003, 0.94),
	}}
	return c
}

func fixtureSet(name string, runs int) *bench.Set {
	return &bench.Set{Name: name, Format: "VectorDBBench", Runs: make([]bench.Run, runs)}
}

// unpairedFixture is the other way of comparing; one of its sides has more runs.
func unpairedFixture() *bench.Comparison {
	nan := math.NaN()
	l := benchLine(bench.Metric{Of: "BenchmarkEncode/large-8", Name: "time", Unit: "s"}, bench.LowerIsBetter, scattered(10, 0.000681, 0.05, 1), scattered(14, 0.000655, 0.06, 5), bench.Better, 0.962, 0.951, 0.975, 0.0004)
	l.Test = "Mann-Whitney"
	one := benchLine(bench.Metric{Of: "BenchmarkDecode-8", Name: "allocations"}, bench.LowerIsBetter, []float64{12}, []float64{12}, bench.TooFew, 1, nan, nan, nan)
	one.Test, one.Remark = "", "one run a side proves nothing"
	return &bench.Comparison{A: fixtureSet("old.txt", 10), B: fixtureSet("new.txt", 14), Level: 0.05, Effect: 0.01, Lines: []bench.Line{l, one}}
}

// hostileFixture has everything that a file can do to a terminal.
func hostileFixture() *bench.Comparison {
	inf, nan := math.Inf(1), math.NaN()
	bad := "\x1b[31mred\x1b]52;c;aGk=\a\r\nnext\u202e" + strings.Repeat("界", 60)
	lines := []bench.Line{
		benchLine(bench.Metric{Of: bad, Name: bad, Unit: bad}, bench.Unknown, []float64{1, 2, 3, 4}, []float64{2, 3, 4, 5}, bench.Changed, 1.5, 1.2, 1.8, 0.01),
		benchLine(bench.Metric{Name: "infinite"}, bench.Unknown, []float64{1, inf, nan}, []float64{-inf, 1e308, -1e308}, bench.Changed, inf, 0, inf, 0.01),
		benchLine(bench.Metric{Name: "nothing"}, bench.Unknown, nil, nil, bench.TooFew, nan, nan, nan, nan),
		benchLine(bench.Metric{Name: "zero"}, bench.Unknown, []float64{0, 0, 0, 0}, []float64{0, 0, 0, 0}, bench.NoDifference, nan, nan, nan, nan),
		benchLine(bench.Metric{Name: "from zero"}, bench.Unknown, []float64{0, 0, 0, 0}, []float64{1, 1, 1, 1}, bench.Changed, inf, inf, inf, 0.01),
		benchLine(bench.Metric{Name: "tiny"}, bench.Unknown, []float64{5e-324, 5e-324}, []float64{1e-323, 5e-324}, bench.TooFew, nan, nan, nan, nan),
		benchLine(bench.Metric{Name: "huge"}, bench.Unknown, []float64{-math.MaxFloat64, math.MaxFloat64}, []float64{math.MaxFloat64, 0}, bench.TooFew, -1, -inf, inf, nan),
		benchLine(bench.Metric{Name: "many"}, bench.Unknown, scattered(20_000, 5, 0.5, 1), scattered(20_000, 5, 0.5, 9), bench.NoDifference, 1, 0.999, 1.001, 0.9),
		benchLine(bench.Metric{Name: "uneven"}, bench.Unknown, []float64{1, 2, 3}, []float64{1}, bench.TooFew, nan, nan, nan, nan),
	}
	lines[0].Remark, lines[0].Test = bad, bad
	return &bench.Comparison{A: &bench.Set{Name: bad, Format: bad}, Paired: true, Effect: -1, Lines: lines, Notes: []string{bad}}
}

func driveComparison(t *testing.T, c *bench.Comparison, w, h int, change ...func(*tui.Config)) *ui {
	t.Helper()
	cfg := testConfig()
	cfg.Title, cfg.Command, cfg.Args = "before after", "kitescope", []string{"before", "after", "--control", "it's"}
	for _, f := range change {
		f(&cfg)
	}
	return driven(t, comparisonConfig(cfg, c), w, h)
}

var compareScreens = []struct {
	name        string
	of          func() *bench.Comparison
	keys, typed string
}{
	{"bench", pairedFixture, "", ""},
	{"bench-worse", pairedFixture, "down*3", ""},
	{"bench-few", pairedFixture, "end up", ""},
	{"bench-unpaired", unpairedFixture, "", ""},
	{"bench-sorted", pairedFixture, "<*3", ""},
	{"bench-filter", pairedFixture, "/", "latency"},
	{"bench-metric", pairedFixture, "enter", ""},
	{"bench-metric-end", pairedFixture, "down enter right end", ""},
	{"bench-control", pairedFixture, "r", ""},
	{"bench-save", pairedFixture, "s", ""},
}

func TestComparisonScreens(t *testing.T) {
	for _, size := range tuitest.WideSizes {
		for _, s := range compareScreens {
			name := fmt.Sprintf("%s-%dx%d", s.name, size.W, size.H)
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					d := driveComparison(t, s.of(), size.W, size.H)
					d.Keys(s.keys).Typed(s.typed)
					d.Fits()
					tuitest.Golden(t, name, d.Plain())
				})
			})
		}
	}
}

// TestComparisonOnAnySize draws all screens, and what no benchmark writes, on every size.
func TestComparisonOnAnySize(t *testing.T) {
	all := append(slices.Clone(compareScreens), struct {
		name        string
		of          func() *bench.Comparison
		keys, typed string
	}{"hostile", hostileFixture, "", ""})
	for _, s := range all {
		t.Run(s.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				for _, ascii := range []bool{false, true} {
					d := driveComparison(t, s.of(), tui.MinWidth, tui.MinHeight, func(c *tui.Config) { c.ASCII = ascii })
					d.Keys(s.keys).Typed(s.typed)
					for w := tui.MinWidth; w < 240; w += 13 {
						for _, h := range []int{tui.MinHeight, 17, 19, 20, 23, 37, 60} {
							d.Send(tea.WindowSizeMsg{Width: w, Height: h})
							d.Fits()
						}
					}
				}
			})
		})
	}
}

// TestComparisonKeysInAnyOrder presses keys on every screen: no order of them may break anything.
func TestComparisonKeysInAnyOrder(t *testing.T) {
	for _, of := range []func() *bench.Comparison{pairedFixture, unpairedFixture, hostileFixture, func() *bench.Comparison { return &bench.Comparison{} }} {
		synctest.Test(t, func(t *testing.T) {
			d := driveComparison(t, of(), 80, 24)
			for key := range strings.FieldsSeq("down enter right right left down end home pgdown y Y esc esc > > > S < < enter esc G s esc r > enter esc esc / x esc up up ctrl+d ctrl+u v space = p 9 f J S esc enter enter esc H ? esc : esc") {
				d.Keys(key)
				d.Fits()
			}
		})
	}
}

// TestComparisonIsHarmless holds that no text of a file reaches the terminal as anything but text.
func TestComparisonIsHarmless(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, keys := range []string{"", "enter", "enter right", "end", "down*7", "/ x", "s", "y"} {
			d := driveComparison(t, hostileFixture(), 100, 30)
			d.Keys(keys)
			d.Fits()
			if screen := d.Screen(); strings.Contains(screen, "\x1b[31m") || strings.ContainsAny(screen, "\a\r\u202e") || strings.Contains(screen, "\x1b]") {
				t.Errorf("after %q the screen has control characters: %q", keys, screen)
			}
			if strings.ContainsAny(d.Clip, "\x1b\a\r") {
				t.Errorf("what is copied has control characters: %q", d.Clip)
			}
		}
	})
}

func TestComparisonWithoutColour(t *testing.T) {
	for _, ascii := range []bool{false, true} {
		name := map[bool]string{false: "bench-nocolor", true: "bench-ascii"}[ascii]
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := driveComparison(t, pairedFixture(), 100, 34, func(c *tui.Config) { c.NoColor, c.ASCII = true, ascii })
				d.Fits()
				if screen := d.Screen(); strings.Contains(screen, "[3") || strings.Contains(screen, "[4") || strings.Contains(screen, ";38;") {
					t.Errorf("a colour in spite of NO_COLOR: %q", screen)
				}
				tuitest.Golden(t, name, strings.ReplaceAll(d.Screen(), "\x1b[", "«")+"\n")
			})
		})
	}
}

// TestDrawingInASCII holds that a terminal without any other signs can show every drawing.
func TestDrawingInASCII(t *testing.T) {
	for _, c := range []*bench.Comparison{pairedFixture(), unpairedFixture(), hostileFixture()} {
		for i := range c.Lines {
			if strings.Contains(c.Lines[i].Name, "界") {
				continue
			}
			for _, line := range drawMetric(c, &c.Lines[i], 150, 40, true) {
				for _, piece := range line {
					if at := strings.IndexFunc(strings.ReplaceAll(piece.Text, "∞", ""), func(r rune) bool { return r > 0x7e }); at >= 0 {
						t.Errorf("%s: %q is not ASCII", c.Lines[i].Name, piece.Text)
					}
				}
			}
		}
	}
}

func TestComparisonIsSortedFilteredAndTakenAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := driveComparison(t, pairedFixture(), 120, 40)
		first := func() string {
			p := d.m.Top().(*benchPage)
			return p.Shown[0].Name
		}
		if got := first(); got != "QPS" {
			t.Errorf("at first %q is first, want the order of the files", got)
		}
		for range len(pairedFixture().Lines) + 5 { // once around
			d.Keys(">")
			if p := d.m.Top().(*benchPage); p.Sorted == "verdict" {
				break
			}
		}
		if got := first(); got != "CPU time" {
			t.Errorf("sorted by verdict %q is first, want what got worse", got)
		}
		d.Keys("S enter")
		if got := first(); got != "memory" {
			t.Errorf("reversed %q is first", got)
		}
		d.Keys("/").Typed("LATENCY").Keys("enter")
		d.Shows("2 of 8 metrics")
		d.Keys("y")
		if !strings.Contains(d.Clip, "search k=10, 8 clients\t") || strings.Count(d.Clip, "\n") != 1 {
			t.Errorf("copied %q", d.Clip)
		}
		d.Keys("Y 2")
		if lines := strings.Split(strings.TrimSpace(d.Clip), "\n"); len(lines) != 3 || !strings.HasPrefix(lines[0], "OF\tMETRIC\tBEFORE\t") {
			t.Errorf("copied %q", d.Clip)
		}
		d.Keys("Y 1")
		if want := `kitescope compare before after --control 'it'\''s'`; d.Clip != want {
			t.Errorf("copied %q, want %q", d.Clip, want)
		}
		d.Keys("s 2 enter")
		d.Keys("s 1 enter")
		d.Keys("s 4 enter")
		var names []string
		for name, text := range d.Saved {
			names = append(names, name[strings.LastIndexByte(name, '.'):])
			if len(text) == 0 {
				t.Errorf("%s is empty", name)
			}
		}
		slices.Sort(names)
		if got := strings.Join(names, " "); got != ".csv .json .svg" {
			t.Errorf("saved %q", got)
		}
		d.Keys("esc")
		d.Shows("8 metrics")
	})
}

func TestMetricPageGoesThroughTheTable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := driveComparison(t, pairedFixture(), 120, 40)
		d.Keys("enter")
		d.Shows("metric 1 of 8", "QPS", "PAIR")
		d.Keys("left")
		d.Shows("this is the first metric")
		d.Keys("right*3")
		d.Shows("metric 4 of 8", "worse")
		d.Keys("y")
		if n := strings.Count(d.Clip, "\n"); n != 25 {
			t.Errorf("%d lines were copied, want a header and 24 pairs", n)
		}
		d.Keys("esc")
		if p := d.m.Top().(*benchPage); p.Cursor != 3 {
			t.Errorf("back in the table the cursor is on row %d, want that of the metric", p.Cursor)
		}
		d.Keys("r")
		d.Shows("control", "no difference shown")
		d.Keys("r")
		d.Shows("there is no control")
	})
}

func TestComparisonOfNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := driveComparison(t, &bench.Comparison{Notes: []string{"no metric is on both sides"}}, 80, 24)
		d.Shows("nothing was compared", "no metric is on both sides")
		d.Keys("9")
		d.Shows("no profiles here")
	})
}

// TestRunComparison is the whole program; while nothing changes it writes nothing.
func TestRunComparison(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := testConfig()
		cfg.Mouse = true
		p := started(comparisonConfig(cfg, pairedFixture()), 100, 30)
		p.Wait(t, "CPU time")
		for _, keys := range []string{"", "j", "\r", "r", "\x1b", "s"} {
			p.Press(keys)
			time.Sleep(10 * time.Second) // messages are gone
			before := p.Out.Len()
			time.Sleep(time.Minute)
			if n := p.Out.Len() - before; n != 0 {
				t.Errorf("after %q %d bytes were written while nothing changed", keys, n)
			}
		}
		p.Press("\x1b") // closes the menu
		time.Sleep(time.Second)
		p.Press("q")
		p.End(t)
	})
}

// Who asks for help wants to know first what works here.
func TestHelpBeginsWithThePage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, x := range map[string]struct {
			d    *ui
			want string
		}{
			"comparison": {driveComparison(t, pairedFixture(), 120, 40), "All of the metric"},
			"judgement":  {driveJudgement(t, judgementFixture(t), 120, 40), "Flame graph of the profile"},
		} {
			x.d.Keys("?")
			lines := strings.Split(ansi.Strip(x.d.Screen()), "\n")
			i := slices.IndexFunc(lines, func(l string) bool { return strings.TrimSpace(l) == "ON THIS PAGE: PROFILES" })
			if i < 0 || !strings.Contains(lines[i+1], x.want) {
				t.Errorf("%s: help begins otherwise:\n%s", name, strings.Join(lines, "\n"))
			}
		}
	})
}

// What was not judged wants no look.
func TestVerdictsInTheirOrder(t *testing.T) {
	last := -1
	for _, v := range []bench.Verdict{bench.Worse, bench.Better, bench.Changed, bench.NoDifference, bench.TooFew, bench.NotJudged, bench.OneSide} {
		if rank := verdictRank(v); rank <= last {
			t.Errorf("%s has rank %d, after %d", v, rank, last)
		} else {
			last = rank
		}
	}
}

// Names of metrics that differ in their middle stay apart, though there are many figures.
func TestNamesOfMetricsStayApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := pairedFixture()
		c.Lines = c.Lines[:2]
		for i := range c.Lines {
			c.Lines[i].Metric = bench.Metric{Name: "metric number " + words.Number(i) + " of the thing", Unit: "s"}
		}
		for _, w := range []int{60, 80, 120, 200} {
			driveComparison(t, c, w, 40).Shows("metric number 0 of the thing ", "metric number 1 of the thing ")
		}
	})
}

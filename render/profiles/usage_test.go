package profiles

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"image/png"
	"io"
	"math"
	"strings"
	"testing"
	"time"

	"kitescope/profile/usage"
	"kitescope/render"
	"kitescope/render/picture"
	"kitescope/render/rendertest"
)

// sampleUsage is a minute of four processes of a cluster, and of a local one: a node that starts again, one that does not
// answer for a while, one that never does.
func sampleUsage(minutes int) *usage.Usage {
	begin := time.Date(2026, 11, 20, 8, 29, 58, 0, time.UTC)
	u := &usage.Usage{Interval: time.Second, Begin: begin, End: begin.Add(time.Duration(minutes) * time.Minute), Counter: `milvus_proxy_sq_latency_count{query_type="search"}`}
	names := []string{"proxy-9", "querynode-3", "querynode-4", "pid 4711 (" + rendertest.HostileName + ")", "querynode-8"}
	for _, name := range names {
		u.Series = append(u.Series, usage.NewSeries(name, 64))
	}
	state := make([]usage.Values, len(names))
	for second := range 60*minutes + 1 {
		at := begin.Add(time.Duration(second) * time.Second)
		for i, s := range u.Series {
			v := &state[i]
			wave := 1 + math.Sin(float64(second)/7+float64(i))
			v[usage.CPU] += 0.4 * wave * float64(i+1)
			v[usage.GCs] += 0.3
			v[usage.GCPause] += 0.0004 * wave
			v[usage.Allocated] += (5 << 20) * wave
			v[usage.Voluntary] += 900 * wave
			v[usage.Involuntary] += 30
			v[usage.Queries] += 120
			r := usage.Reading{At: at, Values: *v}
			r.Values[usage.RSS] = 200<<20 + 1<<20*float64(second+40*i)
			r.Values[usage.Goroutines], r.Values[usage.Threads], r.Values[usage.Heap] = 100+50*wave, 13, (30<<20)*wave
			local := i == 3
			for m := range usage.Measures {
				switch {
				case local && (m == usage.Goroutines || m == usage.GCs || m == usage.GCPause || m == usage.Heap || m == usage.Allocated), m == usage.Queries && i != 0,
					!local && (m == usage.Voluntary || m == usage.Involuntary):
					r.Values[m] = math.NaN()
				}
			}
			switch {
			case i == 4:
				s.Fail(at, "dial tcp 10.0.0.8:9091: connection refused")
			case i == 2 && second > 20 && second < 30:
				s.Fail(at, "no answer within 1s")
			default:
				s.Add(r)
			}
			if i == 1 && second == 40 {
				*v = usage.Values{}
			}
		}
	}
	for _, s := range u.Series {
		s.Flush()
	}
	return u
}

// commandUsage is what one command used that nobody counted queries of.
func commandUsage() *usage.Usage {
	u := sampleUsage(1)
	u.Series = u.Series[3:4]
	u.Series[0].Ended = "ended"
	u.Counter, u.Fixed = "", 5000
	u.Command = &usage.Command{
		Name: "make", State: "exit status 2", ExitCode: 2, Wall: 61500 * time.Millisecond, User: 70 * time.Second, System: 3 * time.Second,
		RSS: 300 << 20, Voluntary: 60_000, Involuntary: 1900,
	}
	return u
}

func usages() map[string]*usage.Usage {
	return map[string]*usage.Usage{
		"cluster": sampleUsage(1), "long": sampleUsage(10), "command": commandUsage(),
		"nothing": {Interval: time.Second, Begin: time.Unix(0, 0), End: time.Unix(5, 0), Counter: "x", Series: []*usage.Series{usage.NewSeries("silent", 0)}},
	}
}

func TestGoldenUsage(t *testing.T) {
	for name, u := range usages() {
		for variant, o := range map[string]render.ReportOptions{
			"table": {}, "80": {Options: render.Options{Width: 80}}, "wide": {}, "json": {}, "yaml": {}, "csv": {}, "markdown": {},
		} {
			word := variant
			if variant == "80" {
				word = "table"
			}
			var b bytes.Buffer
			if err := WriteUsage(&b, u, rendertest.Format(t, render.ReportFormats(), word), o); err != nil {
				t.Fatal(err)
			}
			if strings.ContainsAny(b.String(), "\x1b\u202e") {
				t.Errorf("%s as %s lets control characters through", name, word)
			}
			rendertest.Parses(t, name, word, b.String())
			if name != "long" || word == "table" {
				rendertest.Golden(t, "usage/"+name+"."+variant, b.Bytes())
			}
		}
	}
}

// TestUsageStream writes samples as they come, and the same as at the end.
func TestUsageStream(t *testing.T) {
	u := sampleUsage(1)
	var lines, table, whole bytes.Buffer
	jsonl, rows := NewUsageStream(&lines, false, true), NewUsageStream(&table, true, true)
	for _, x := range allSamples(u.Series) {
		if err := errors.Join(jsonl.Write(*x), rows.Write(*x)); err != nil {
			t.Fatal(err)
		}
	}
	if err := WriteUsage(&whole, u, rendertest.Format(t, render.ReportFormats(), "csv"), render.ReportOptions{}); err != nil {
		t.Fatal(err)
	}
	if whole.String() != table.String() {
		t.Error("the stream is not what is written at the end")
	}
	rendertest.Golden(t, "usage/stream.jsonl", lines.Bytes())
	rendertest.Parses(t, "stream", "jsonl", lines.String())
	records, err := csv.NewReader(&table).ReadAll()
	if err != nil || len(records) != 1+5*61 {
		t.Errorf("%d records, %v", len(records), err)
	}
}

func TestGoldenUsageChart(t *testing.T) {
	for name, u := range usages() {
		for _, size := range [][2]int{{80, 24}, {200, 50}, {40, 10}} {
			for _, ascii := range []bool{false, true} {
				if ascii && size[0] != 80 {
					continue
				}
				lines := UsageChart(u, u.End, size[0], size[1]-1, render.Options{ASCII: ascii})
				if len(lines) > size[1]-1 {
					t.Errorf("%s: %d lines in %d", name, len(lines), size[1]-1)
				}
				for _, line := range lines {
					if render.Cells(line) > size[0] || strings.ContainsAny(line, "\x1b\n") {
						t.Errorf("%s: %d cells in %d: %q", name, render.Cells(line), size[0], line)
					}
				}
				rendertest.Golden(t, fmt.Sprintf("usage/chart-%s-%dx%d%s", name, size[0], size[1], []string{"", "-ascii"}[render.BoolInt(ascii)]), []byte(strings.Join(lines, "\n")+"\n"))
			}
		}
	}
	many := sampleUsage(1)
	for i := range 100 {
		many.Series = append(many.Series, usage.NewSeries(fmt.Sprintf("querynode-%d", 100+i), 0))
	}
	lines := UsageChart(many, many.End, 80, 23, render.Options{Color: true})
	if len(lines) != 22 || !strings.Contains(lines[21], "more in the table") {
		t.Errorf("%d lines, the last: %q", len(lines), lines[len(lines)-1])
	}
}

func TestPlotUsage(t *testing.T) {
	for name, u := range usages() {
		for _, format := range picture.Formats().Names() {
			var b bytes.Buffer
			err := PlotUsage(&b, u, format)
			if name == "nothing" {
				if err == nil {
					t.Errorf("a plot of nothing as %s", format)
				}
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			switch format {
			case "svg":
				rendertest.WellFormed(t, name, b.Bytes())
				rendertest.Golden(t, "usage/"+name+".svg", b.Bytes())
			case "png":
				if m, err := png.Decode(&b); err != nil || m.Bounds().Dx() < 1000 {
					t.Errorf("%s: %v", name, err)
				}
			}
		}
	}
	if err := PlotUsage(io.Discard, sampleUsage(1), "gif"); err == nil || !strings.Contains(err.Error(), "svg, png") {
		t.Errorf("gif: %v", err)
	}
}

// TestUsageFigures holds the JSON to the figures that the sample was made with.
func TestUsageFigures(t *testing.T) {
	var b bytes.Buffer
	if err := WriteUsage(&b, commandUsage(), rendertest.Format(t, render.ReportFormats(), "json"), render.ReportOptions{}); err != nil {
		t.Fatal(err)
	}
	var got struct {
		PerQuery struct {
			CPU      float64 `json:"cpu_seconds"`
			Switches float64 `json:"context_switches"`
		} `json:"per_query"`
		Command struct {
			ExitCode int `json:"exit_code"`
		}
		Items []struct {
			Totals map[string]map[string]float64
		}
	}
	if err := json.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if got.PerQuery.CPU != 73.0/5000 || got.PerQuery.Switches != 61900.0/5000 || got.Command.ExitCode != 2 {
		t.Errorf("%+v", got)
	}
	if v := got.Items[0].Totals["involuntary_switches_per_second"]; v["involuntary_switches"] != 1800 || v["mean"] != 30 {
		t.Errorf("%v", v)
	}
	if _, has := got.Items[0].Totals["goroutines"]; has {
		t.Error("goroutines of which /proc knows nothing")
	}
}

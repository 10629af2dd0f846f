package profiles

import (
	"bytes"
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

// sampleUsage returns the usage of four processes of a cluster and a local one. One node restarts, one does not
// respond for a while, and one never responds.
func sampleUsage(minutes int) *usage.Usage {
	begin := time.Date(2026, 11, 20, 8, 29, 58, 0, time.UTC)
	u := &usage.Usage{Interval: time.Second, Begin: begin, End: begin.Add(time.Duration(minutes) * time.Minute)}
	for _, name := range []string{
		"proxy-9", "querynode-3", "querynode-4", "pid 4711 (" + rendertest.HostileName + ")", "querynode-8",
	} {
		u.Series = append(u.Series, usage.NewSeries(name))
	}
	cpu := make([]float64, len(u.Series))
	for second := range 60*minutes + 1 {
		at := begin.Add(time.Duration(second) * time.Second)
		for i, s := range u.Series {
			cpu[i] += 0.4 * (1 + math.Sin(float64(second)/7+float64(i))) * float64(i+1)
			r := usage.Reading{At: at, Values: usage.Unknown()}
			r.Values[usage.CPU], r.Values[usage.RSS] = cpu[i], 200<<20+1<<20*float64(second+40*i)
			switch {
			case i == 4:
				s.Fail(at, "dial tcp 10.0.0.8:9091: connection refused")
			case i == 2 && second > 20 && second < 30:
				s.Fail(at, "no response within 1s")
			default:
				s.Add(r)
			}
			if i == 1 && second == 40 {
				cpu[i] = 0
			}
		}
	}
	return u
}

func usages() map[string]*usage.Usage {
	return map[string]*usage.Usage{
		"cluster": sampleUsage(1), "long": sampleUsage(40),
		"nothing": {
			Interval: time.Second, Begin: time.Unix(0, 0), End: time.Unix(5, 0),
			Series: []*usage.Series{usage.NewSeries("silent")},
		},
	}
}

func TestGoldenUsage(t *testing.T) {
	for name, u := range usages() {
		for _, word := range []string{"table", "json", "csv"} {
			var b bytes.Buffer
			if err := WriteUsage(&b, u, rendertest.Format(t, render.ReportFormats(), word),
				render.ReportOptions{}); err != nil {
				t.Fatal(err)
			}
			if strings.ContainsAny(b.String(), "\x1b\u202e") {
				t.Errorf("%s as %s lets control characters through", name, word)
			}
			rendertest.Parses(t, name, word, b.String())
			if (word == "table" || word == "json") && name != "long" {
				rendertest.Golden(t, "usage/"+name+"."+word, b.Bytes())
			}
		}
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

package replays

import (
	"bytes"
	"image/png"
	"strings"
	"testing"

	"kitescope/render/rendertest"
)

func replayPictures() map[string][]Series {
	run, sweep, after := fixtureRun(), fixtureSweep(), fixtureAfter()
	other := fixtureRun()
	other.Points[0] = fixtureAfter().Points[17]
	other.Costs = fixtureAfter().Costs
	return map[string][]Series{
		"run":   {{"as it is", run}},
		"sweep": {{"as it is", sweep}},
		"both":  {{"before", sweep}, {"all indexed", after}},
		"runs":  {{"before", run}, {"after " + rendertest.HostileName, other}},
	}
}

func TestGoldenReplayPlot(t *testing.T) {
	draws := map[string]func(b *bytes.Buffer, o PlotOptions) error{}
	for name, list := range replayPictures() {
		for _, kind := range PlotNames() {
			draws[kind+"-"+name] = func(b *bytes.Buffer, o PlotOptions) error {
				o.Kind = kind
				return PlotResults(b, list, o)
			}
		}
	}
	for name, write := range draws {
		for _, o := range []PlotOptions{{Format: "svg"}, {Format: "svg", Dark: true}} {
			var b bytes.Buffer
			if err := write(&b, o); err != nil {
				t.Fatal(err)
			}
			rendertest.WellFormed(t, name, b.Bytes())
			if bytes.Contains(b.Bytes(), []byte("NaN")) || bytes.Contains(b.Bytes(), []byte("Inf")) {
				t.Errorf("%s has places that are none", name)
			}
			for _, text := range map[string][]string{"qps-both": {"before, ef 64", "concurrent sessions"}}[name] {
				if !bytes.Contains(b.Bytes(), []byte(text)) {
					t.Errorf("%s does not say %s", name, text)
				}
			}
		}
	}
	var b bytes.Buffer
	if err := PlotResults(&b, replayPictures()["sweep"], PlotOptions{
		Kind: "front", Format: "png", Width: 800, Height: 500,
	}); err != nil {
		t.Fatal(err)
	}
	if m, err := png.Decode(&b); err != nil || m.Bounds().Dx() != 800 || m.Bounds().Dy() != 500 {
		t.Errorf("%v", err)
	}
}

func TestReplayPlotRefuses(t *testing.T) {
	run := []Series{{"a", fixtureRun()}}
	live := []Series{{"a", fixtureLive()}}
	for name, x := range map[string]struct {
		results []Series
		o       PlotOptions
		want    string
	}{
		"no result": {nil, PlotOptions{Kind: "qps", Format: "svg"}, "at least one result"},
		"kind":      {run, PlotOptions{Kind: "pie", Format: "svg"}, "qps"},
		"format":    {run, PlotOptions{Kind: "qps", Format: "gif"}, "svg, png"},
		"recall":    {live, PlotOptions{Kind: "front", Format: "svg"}, "no point has a recall"},
	} {
		var b bytes.Buffer
		if err := PlotResults(&b, x.results, x.o); err == nil || !strings.Contains(err.Error(), x.want) || b.Len() > 0 {
			t.Errorf("%s: %v, %d bytes", name, err, b.Len())
		}
	}
}

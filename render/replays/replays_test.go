package replays

import (
	"bytes"
	"encoding/json"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"kitescope/render"
	"kitescope/render/rendertest"
	"kitescope/replay"
	"kitescope/replay/load"
	"kitescope/replay/log"
	"kitescope/replay/whatif"
)

// replayReports returns functions that write all reports of replay, except the reports of the UI.
func replayReports() map[string]writeEngine {
	result := func(r *replay.Result) writeEngine {
		return func(b *bytes.Buffer, f render.Format, o render.ReportOptions) error {
			return WriteResult(b, r, f, o)
		}
	}
	base, now := fixturePair()
	requests, shape := fixtureShape()
	predicted, trouble := fixtureWhatIf(), fixtureTrouble()
	return map[string]writeEngine{
		"run": result(fixtureRun()), "trouble": result(fixtureTrouble()), "live": result(fixtureLive()),
		"sweep":   result(fixtureSweep()),
		"nothing": result(&replay.Result{}),
		"whatif": func(b *bytes.Buffer, f render.Format, o render.ReportOptions) error {
			return WriteWhatIf(b, predicted, f, o)
		},
		"info": func(b *bytes.Buffer, f render.Format, o render.ReportOptions) error {
			return WriteLayout(b, fixtureLayout(), f, o)
		},
		"info-loaded": func(b *bytes.Buffer, f render.Format, o render.ReportOptions) error {
			l := fixtureLayout()
			l.Collection.Name, l.Nodes[0].Name, l.Notes, l.Assumed, l.Storage.Kind = rendertest.HostileName,
				rendertest.HostileName, []string{rendertest.HostileName}, true, ""
			return WriteLayout(b, l, f, o)
		},
		"compare": func(b *bytes.Buffer, f render.Format, o render.ReportOptions) error {
			return WriteComparison(b, base, now, f, o)
		},
		"compare-one": func(b *bytes.Buffer, f render.Format, o render.ReportOptions) error {
			return WriteComparison(b, fixtureRun(), fixtureLive(), f, o)
		},
		"beside": func(b *bytes.Buffer, f render.Format, o render.ReportOptions) error {
			return WriteSideBySide(b, fixtureServers(), f, o)
		},
		"shape": func(b *bytes.Buffer, f render.Format, o render.ReportOptions) error {
			return WriteShape(b, requests, shape, f, o)
		},
		"shape-bare": func(b *bytes.Buffer, f render.Format, o render.ReportOptions) error {
			l := &log.Log{Name: rendertest.HostileName, Requests: make([]log.Request, 3)}
			return WriteShape(b, l, l.Shape(), f, o)
		},
		"costs": func(b *bytes.Buffer, f render.Format, o render.ReportOptions) error {
			return WriteCosts(b, trouble, f, o)
		},
	}
}

func TestGoldenReplay(t *testing.T) {
	for name, write := range replayReports() {
		looks := map[string]rendertest.Variant{
			"80": {Width: 80, Limit: 5}, "80-ascii": {Width: 80, ASCII: true, Limit: 5}, "wide": {}, "csv": {},
			"json": {}, "markdown": {Limit: 10},
		}
		if name == "run" || name == "sweep" || name == "trouble" || name == "live" || name == "whatif" {
			delete(looks, "json") // has another format, see TestReplaySaved
		}
		rendertest.Report(t, "replay/"+name, render.ReportFormats().Names(), looks, nil, withVariant(write))
	}
}

// withVariant writes a report in the format of a look.
func withVariant(write writeEngine) func(w io.Writer, l rendertest.Variant) error {
	return func(w io.Writer, l rendertest.Variant) error {
		f, err := render.ReportFormats().Parse(l.Word)
		if err != nil {
			return err
		}
		var b bytes.Buffer
		err = write(&b, f,
			render.ReportOptions{Options: render.Options{Width: l.Width, ASCII: l.ASCII}, Limit: l.Limit})
		_, _ = b.WriteTo(w)
		return err
	}
}

// TestReplaySaved checks that JSON has the format of saved results, and that YAML is equal to JSON.
func TestReplaySaved(t *testing.T) {
	var saved bytes.Buffer
	if err := replay.WriteResult(&saved, fixtureTrouble()); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"trouble": saved.String(), "whatif": ""} {
		var asJSON, asYAML bytes.Buffer
		for format, b := range map[string]*bytes.Buffer{"json": &asJSON, "yaml": &asYAML} {
			if err := replayReports()[name](b, rendertest.Format(t, render.ReportFormats(), format),
				render.ReportOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		if want != "" && asJSON.String() != want {
			t.Errorf("%s: JSON is not the saved result", name)
		}
		var one, other any
		if err := json.Unmarshal(asJSON.Bytes(), &one); err != nil {
			t.Fatal(err)
		}
		if err := yaml.Unmarshal(asYAML.Bytes(), &other); err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(other)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(text, &other); err != nil { // to compare numbers of the same type
			t.Fatal(err)
		}
		if diff := cmp.Diff(one, other); diff != "" {
			t.Errorf("%s: YAML is not JSON:\n%s", name, diff)
		}
	}
}

// TestReplayStrange checks that writing results with arbitrary values, which a file can contain, does not fail.
func TestReplayStrange(t *testing.T) {
	r := fixtureRun()
	r.Kind, r.Cover.Missing = "\x1b", []replay.Missing{{State: 200, Rows: -1}}
	r.Costs.Segments[0].State, r.Costs.Segments[1].Time, r.Costs.Segments[2].Rows, r.Costs.Queries = 77, -5, -1, 0
	r.Slowest[0].Segments[0].State = 9
	r.Points[0].QPS, r.Points[0].QPSLow, r.Points[0].QPSHigh = math.NaN(), math.Inf(-1), math.Inf(1)
	r.Points = append(r.Points, load.Point{}, load.Point{Plan: load.Plan{Sessions: -4}, QPS: 1e300, Recall: 2},
		load.Point{Plan: load.Plan{Rate: 1e308}, QPS: math.Inf(1), EF: 1 << 40})
	w := fixtureWhatIf()
	w.Base.Outcome, w.Base.Cost, w.Others[0].Gain, w.Others[0].Most, w.Check = nil, whatif.Cost{}, math.Inf(1),
		math.NaN(), whatif.Check{}
	l := &replay.Layout{Nodes: []replay.Node{{}}, Segments: []replay.Segment{{State: 99, On: []int64{5}}}}
	for _, format := range []string{"table", "wide", "csv", "markdown", "jsonl"} {
		for name, err := range map[string]error{
			"result": WriteResult(io.Discard, r, rendertest.Format(t, render.ReportFormats(), format),
				render.ReportOptions{Options: render.Options{Width: 80}}),
			"costs": WriteCosts(io.Discard, r, rendertest.Format(t, render.ReportFormats(), format),
				render.ReportOptions{}),
			"none": WriteCosts(io.Discard, &replay.Result{}, rendertest.Format(t, render.ReportFormats(), format),
				render.ReportOptions{}),
			"base": WriteComparison(io.Discard, r, r, rendertest.Format(t, render.ReportFormats(), format),
				render.ReportOptions{}),
			"whatif": WriteWhatIf(io.Discard, w, rendertest.Format(t, render.ReportFormats(), format),
				render.ReportOptions{Options: render.Options{Width: 20}}),
			"empty": WriteWhatIf(io.Discard, &whatif.Report{}, rendertest.Format(t, render.ReportFormats(), format),
				render.ReportOptions{}),
			"layout": WriteLayout(io.Discard, l, rendertest.Format(t, render.ReportFormats(), format),
				render.ReportOptions{Options: render.Options{Width: 5}}),
			"shape": WriteShape(io.Discard, &log.Log{}, &log.Shape{},
				rendertest.Format(t, render.ReportFormats(), format), render.ReportOptions{}),
		} {
			if err != nil {
				t.Errorf("%s as %s: %v", name, format, err)
			}
		}
	}
	for _, kind := range PlotNames() {
		var b bytes.Buffer
		if err := PlotResults(&b, []Series{{"a", r}, {"b", r}}, PlotOptions{
			Kind: kind, Format: "svg", Width: 1, Height: 1 << 30,
		}); err == nil {
			rendertest.WellFormed(t, kind, b.Bytes())
			if strings.Contains(b.String(), "NaN") || strings.Contains(b.String(), "Inf") {
				t.Errorf("%s has places that are none", kind)
			}
		}
	}
	if err := WriteHTML(io.Discard, []Series{{"", r}, {"", &replay.Result{}}}, w, ""); err != nil {
		t.Error(err)
	}
}

// TestNodesHaveNames checks that nodes without a known name are named as in all other tables.
func TestNodesHaveNames(t *testing.T) {
	l := fixtureLayout()
	l.Nodes[0].Name = ""
	l.Segments[0].On = []int64{l.Nodes[0].ID, 77}
	cost := &replay.SegmentCost{Node: 3}
	if got, want := []string{nodesText(l, &l.Segments[0]), costNode(cost), costNode(&replay.SegmentCost{})}, []string{
		"querynode-1,querynode-77", "querynode-3", "?",
	}; !slices.Equal(got, want) {
		t.Errorf("nodes are called %q, want %q", got, want)
	}
}

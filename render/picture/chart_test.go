package picture

import (
	"bytes"
	"image/png"
	"io"
	"math"
	"strings"
	"testing"

	"kitescope/render/rendertest"
)

// fullChart returns a chart with every kind of element. Each element has the given name.
func fullChart(name string) *Chart {
	line := Series{Name: name, Look: Look{Colour: 1, Dash: 1, Mark: 2}, Points: []Point{
		{X: 1, Y: 10, Low: 8, High: 12, Label: name},
		{X: 2, Y: 40},
		{X: 3, Y: math.NaN()},
		{X: 4, Y: 90},
		{X: math.Inf(1), Y: 1},
	}}
	return &Chart{
		Title: name, Heads: []string{name}, Notes: []string{name}, Columns: 2,
		Panels: []Panel{
			{
				Name: name, Remark: name, RemarkColour: Bad, X: Axis{Label: name, Guides: []Tick{{2, name}}},
				Y: Axis{Label: name, Log: true}, Series: []Series{line},
			},
			{Bars: []Bar{
				{
					Name: name, Text: name, Pieces: []Piece{{name, Look{Hatch: 1}, 3}, {name, Look{Hatch: 2}, 2}},
					Low: 4, High: 6,
				}, {Name: "b", Pieces: []Piece{{Value: 1}, {Value: math.NaN()}}},
			}},
			{
				X: Axis{Clock: true}, Y: Axis{Free: true},
				Series: []Series{
					{Look: Look{Colour: Grey, Faint: true}, Points: []Point{{X: 1.8e9, Y: -5}, {X: 1.8e9 + 60, Y: -5}}},
				},
			},
		},
	}
}

func TestChart(t *testing.T) {
	var b bytes.Buffer
	if err := fullChart("name").Write(&b, "svg"); err != nil {
		t.Fatal(err)
	}
	rendertest.WellFormed(t, "chart", b.Bytes())
	if strings.Contains(b.String(), "NaN") || strings.Contains(b.String(), "Inf") {
		t.Error("it has places that are none")
	}
	rendertest.Golden(t, "chart.svg", b.Bytes())
	c := fullChart("name")
	c.Dark, c.Width, c.Height = true, 800, 600
	b.Reset()
	if err := c.Write(&b, "png"); err != nil {
		t.Fatal(err)
	}
	if m, err := png.Decode(&b); err != nil || m.Bounds().Dx() != 800 || m.Bounds().Dy() != 600 {
		t.Errorf("%v", err)
	}
	if err := c.Write(io.Discard, "pdf"); err == nil || !strings.Contains(err.Error(), "svg, png") {
		t.Errorf("pdf: %v", err)
	}
}

func TestChartOfHostileNames(t *testing.T) {
	rendertest.CheckInjection(t, map[string]func(w io.Writer, name string) error{
		"chart.svg": func(w io.Writer, name string) error { return fullChart(name).Write(w, "svg") },
	})
}

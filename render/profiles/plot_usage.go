package profiles

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"kitescope/internal/words"
	"kitescope/profile/usage"
	"kitescope/render"
	"kitescope/render/picture"
)

// PlotUsage draws what processes used: a panel for each measure that is known, over one axis of time in UTC. Where nothing was
// read a line is broken.
func PlotUsage(w io.Writer, u *usage.Usage, format string) error {
	c := picture.Chart{Title: usageTitle(u), PanelHeight: 1.9}
	if text := PerQueryText(u); text != "" {
		c.Heads = append(c.Heads, text)
	}
	if u.Command != nil {
		c.Heads = append(c.Heads, CommandText(u.Command))
	}
	var missing []string
	names, looks := usageLooks(u)
	for _, m := range plottedMeasures {
		panel := picture.Panel{X: picture.Axis{From: seconds(u.Begin), To: seconds(u.End), Clock: true}, Y: picture.Axis{Label: m.label}}
		known := false
		for i, s := range u.Series {
			line := picture.Series{Name: names[i], Look: looks[i]}
			began := picture.Series{Name: "started again", Look: picture.Look{Colour: looks[i].Colour, Mark: 8, NoLine: true}}
			for j := range s.Points {
				x := &s.Points[j]
				p := picture.Point{X: seconds(x.At), Y: m.value(x)}
				line.Points = append(line.Points, p)
				if known = known || !math.IsNaN(p.Y); x.Restarted {
					began.Points = append(began.Points, picture.Point{X: p.X})
				}
			}
			panel.Series = append(panel.Series, line)
			if len(began.Points) > 0 {
				panel.Series = append(panel.Series, began)
			}
		}
		switch {
		case known:
			c.Panels = append(c.Panels, panel)
		case m.measures[0] != usage.Queries:
			missing = append(missing, m.label)
		}
	}
	if len(c.Panels) == 0 {
		return errors.New("plot: nothing was measured")
	}
	if len(missing) > 0 {
		c.Notes = append(c.Notes, "unknown (no process reports it): "+strings.Join(missing, ", "))
	}
	c.Notes = append(c.Notes, "times in UTC")
	if err := c.Write(w, format); err != nil {
		return fmt.Errorf("plot: %w", err)
	}
	return nil
}

func usageTitle(u *usage.Usage) string {
	text := "usage of " + words.Plural(len(u.Series), "process")
	if len(u.Series) != 1 {
		text = fmt.Sprintf("usage of %d processes", len(u.Series))
	}
	return text + ", " + WatchText(u)
}

// usageLooks give processes their lines: those that use most CPU a colour and a dash each, the others grey.
func usageLooks(u *usage.Usage) (names []string, looks []picture.Look) {
	const most, colours = 18, 6
	names, looks = make([]string, len(u.Series)), make([]picture.Look, len(u.Series))
	order := make([]int, len(u.Series))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(u.Series[b].Totals[usage.CPU].Total, u.Series[a].Totals[usage.CPU].Total)
	})
	for rank, i := range order {
		names[i] = render.ShortenMiddle(render.Harmless(u.Series[i].Name), 32, "…")
		looks[i] = picture.Look{Colour: picture.Colour(rank % colours), Dash: rank / colours}
		if rank >= most {
			names[i], looks[i] = strconv.Itoa(len(order)-most)+" others", picture.Look{Colour: picture.Grey, Faint: true}
		}
	}
	return names, looks
}

// plottedMeasure is one measure, or several added up.
type plottedMeasure struct {
	label    string
	measures []usage.Measure
	factor   float64
}

var plottedMeasures = []plottedMeasure{
	{"CPU (cores)", []usage.Measure{usage.CPU}, 1},
	{"memory (MiB)", []usage.Measure{usage.RSS}, 1.0 / (1 << 20)},
	{"goroutines", []usage.Measure{usage.Goroutines}, 1},
	{"GC pause (% of time)", []usage.Measure{usage.GCPause}, 100},
	{"context switches /s", []usage.Measure{usage.Voluntary, usage.Involuntary}, 1},
	{"queries /s", []usage.Measure{usage.Queries}, 1},
}

func (m *plottedMeasure) value(x *usage.Point) float64 {
	sum := 0.0
	for _, of := range m.measures {
		sum += x.Values[of] // one that is unknown makes the sum so
	}
	return m.factor * sum
}

func seconds(t time.Time) float64 { return float64(t.UnixNano()) / 1e9 }

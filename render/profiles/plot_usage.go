package profiles

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"kitescope/profile/usage"
	"kitescope/render"
	"kitescope/render/picture"
)

// PlotUsage draws CPU and memory of processes over one axis of time in UTC. A line is broken where nothing was read.
func PlotUsage(w io.Writer, u *usage.Usage, format string) error {
	c := picture.Chart{Title: usageTitle(u) + ", " + watchText(u), PanelHeight: 2.4, Notes: []string{"times in UTC"}}
	names, looks := usageLooks(u)
	for _, l := range measureLooks() {
		if !slices.ContainsFunc(u.Series, func(s *usage.Series) bool { return s.Totals[l.measure].Known() }) {
			continue
		}
		panel := picture.Panel{X: picture.Axis{From: seconds(u.Begin), To: seconds(u.End), Clock: true}, Y: picture.Axis{Label: l.label}}
		for i, s := range u.Series {
			line := picture.Series{Name: names[i], Look: looks[i]}
			for j := range s.Points {
				x := &s.Points[j]
				line.Points = append(line.Points, picture.Point{X: seconds(x.At), Y: l.scale * x.Values[l.measure]})
			}
			panel.Series = append(panel.Series, line)
		}
		c.Panels = append(c.Panels, panel)
	}
	if len(c.Panels) == 0 {
		return errors.New("plot: nothing was measured")
	}
	if err := c.Write(w, format); err != nil {
		return fmt.Errorf("plot: %w", err)
	}
	return nil
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

func seconds(t time.Time) float64 { return float64(t.UnixNano()) / 1e9 }

package usage

import (
	"math"
	"testing"
	"time"
)

var begin = time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC)

// reading returns a Reading at a number of seconds, with CPU and RSS.
func reading(at, cpu, rss float64) Reading {
	r := Reading{At: begin.Add(time.Duration(at * 1e9)), Values: Unknown()}
	r.Values[CPU], r.Values[RSS] = cpu, rss
	return r
}

func almostEqual(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.IsNaN(want) != math.IsNaN(got) || math.Abs(got-want) > 1e-9*max(1, math.Abs(want)) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

func TestCountersBecomeRates(t *testing.T) {
	s := NewSeries("x")
	p := s.Add(reading(0, 100, 10))
	almostEqual(t, "first rate", p.Values[CPU], math.NaN())
	almostEqual(t, "first state", p.Values[RSS], 10)
	almostEqual(t, "second rate", s.Add(reading(1, 101.5, 30)).Values[CPU], 1.5)
	almostEqual(t, "third rate", s.Add(reading(3, 102, 20)).Values[CPU], 0.25)
	c := s.Totals[CPU]
	almostEqual(t, "total", c.Total, 2)
	almostEqual(t, "mean", c.Mean, 2.0/3)
	almostEqual(t, "min", c.Min, 0.25)
	almostEqual(t, "max", c.Max, 1.5)
	m := s.Totals[RSS]
	almostEqual(t, "mean memory", m.Mean, (30+2*20)/3.0)
	almostEqual(t, "least memory", m.Min, 10)
	if s.Totals[Voluntary].Known() {
		t.Error("what nobody said is known")
	}
}

// TestRestart checks that usage of the new process counts, and that there is no rate across a restart.
func TestRestart(t *testing.T) {
	s := NewSeries("x")
	s.Add(reading(0, 100, 1))
	s.Add(reading(1, 101, 1))
	p := s.Add(reading(2, 0.5, 1))
	if !p.Restarted || !math.IsNaN(p.Values[CPU]) || p.Values[RSS] != 1 {
		t.Errorf("the point of the restart: %+v", p)
	}
	almostEqual(t, "after it", s.Add(reading(3, 0.75, 1)).Values[CPU], 0.25)
	c := s.Totals[CPU]
	almostEqual(t, "total", c.Total, 1.75)
	if !c.AtLeast || s.Restarts != 1 {
		t.Errorf("restarts %d, at least %v", s.Restarts, c.AtLeast)
	}
	almostEqual(t, "max", c.Max, 1)
}

// TestRestartByStartTime checks that a restart is detected by its start time even if no counter decreased, because the
// new process has already used more.
func TestRestartByStartTime(t *testing.T) {
	s := NewSeries("x")
	a, b, c := reading(0, 5, 1), reading(60, 30, 1), reading(61, 31, 1)
	a.Began, b.Began, c.Began = begin, begin.Add(30*time.Second), begin.Add(30*time.Second+time.Millisecond)
	s.Add(a)
	if p := s.Add(b); !p.Restarted {
		t.Error("another start is no restart")
	}
	if p := s.Add(c); p.Restarted {
		t.Error("a start that wobbles is a restart")
	}
	almostEqual(t, "total", s.Totals[CPU].Total, 31)
}

// TestGap checks that the rate after a gap covers all the time since the last reading.
func TestGap(t *testing.T) {
	s := NewSeries("x")
	s.Add(reading(0, 0, 1))
	p := s.Fail(begin.Add(time.Second), "timed out")
	if p.Gap == "" || p.Values.Known(CPU) || p.Values.Known(RSS) {
		t.Errorf("a gap with values: %+v", p)
	}
	almostEqual(t, "rate over the gap", s.Add(reading(4, 4, 1)).Values[CPU], 1)
	almostEqual(t, "min", s.Totals[CPU].Min, 1)
	almostEqual(t, "total", s.Totals[CPU].Total, 4)
	if s.Gaps != 1 || s.LastGap != "timed out" || s.Readings != 2 {
		t.Errorf("%+v", s)
	}
}

// TestThinning checks that a Series keeps a bounded number of points and the totals of all readings.
func TestThinning(t *testing.T) {
	const readings = 4 * maxPoints
	s := NewSeries("x")
	for i := range readings {
		s.Add(reading(float64(i), 2*float64(i), float64(i)))
	}
	if n := len(s.Points); n < maxPoints/2 || n > maxPoints || s.Every != 8 {
		t.Errorf("%d points, one in %d", n, s.Every)
	}
	for i, p := range s.Points {
		if want := begin.Add(time.Duration(i*s.Every) * time.Second); p.At != want {
			t.Fatalf("point %d is at %s, want %s", i, p.At, want)
		}
	}
	almostEqual(t, "total", s.Totals[CPU].Total, 2*(readings-1))
	almostEqual(t, "max", s.Totals[RSS].Max, readings-1)
}

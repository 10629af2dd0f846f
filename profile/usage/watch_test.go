package usage

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// fake is a target whose answers a function makes.
type fake struct {
	name string
	read func(ctx context.Context, n int) (Reading, error)
	n    int
}

func (f *fake) Name() string { return f.name }

func (f *fake) Read(ctx context.Context) (Reading, error) {
	f.n++
	return f.read(ctx, f.n)
}

// busy burns a core.
func busy(start time.Time) func(context.Context, int) (Reading, error) {
	return func(context.Context, int) (Reading, error) {
		r := Reading{Values: Unknown()}
		r.Values[CPU] = time.Since(start).Seconds()
		return r, nil
	}
}

// TestWatch watches one that works, one that hangs, one that refuses, and one that ends, each for itself.
func TestWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		targets := []Target{
			&fake{name: "works", read: busy(start)},
			&fake{name: "hangs", read: func(ctx context.Context, _ int) (Reading, error) {
				<-ctx.Done()
				return Reading{}, ctx.Err()
			}},
			&fake{name: "refuses", read: func(context.Context, int) (Reading, error) { return Reading{}, errors.New("refused") }},
			&fake{name: "ends", read: func(ctx context.Context, n int) (Reading, error) {
				if n > 3 {
					return Reading{}, &EndedError{"ended"}
				}
				return busy(start)(ctx, n)
			}},
		}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second+time.Millisecond)
		defer cancel()
		samples := map[string]int{}
		u := Watch(ctx, targets, Options{Interval: time.Second, Timeout: 3 * time.Second}, func(s Sample) {
			samples[s.Series.Name]++
		})
		if took := time.Since(start); took != 10*time.Second+time.Millisecond {
			t.Errorf("watched for %s", took)
		}
		works := u.Series[0]
		if works.Readings != 12 || works.Gaps != 0 { // 0 to 10 s, and once more at the end
			t.Errorf("works: %d readings, %d gaps", works.Readings, works.Gaps)
		}
		near(t, "cores", works.Totals[CPU].Mean, 1)
		near(t, "CPU", works.Totals[CPU].Total, 10.001)
		if hangs := u.Series[1]; hangs.Readings != 0 || hangs.Gaps != 3 || hangs.Totals[CPU].Known() {
			t.Errorf("hangs: %d readings, %d gaps", hangs.Readings, hangs.Gaps)
		}
		if refuses := u.Series[2]; refuses.Gaps != 11 || refuses.LastGap != "refused" {
			t.Errorf("refuses: %d gaps, %s", refuses.Gaps, refuses.LastGap)
		}
		if ends := u.Series[3]; ends.Readings != 3 || ends.Ended != "ended" {
			t.Errorf("ends: %+v", ends)
		}
		if samples["works"] != 12 || samples["hangs"] != 3 || samples["ends"] != 3 {
			t.Errorf("samples: %v", samples)
		}
		if u.End.Sub(u.Begin) != time.Since(start) {
			t.Errorf("from %s to %s", u.Begin, u.End)
		}
	})
}

// TestWatchEnds when everything has ended.
func TestWatchEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := Watch(t.Context(), []Target{&fake{name: "x", read: func(context.Context, int) (Reading, error) { return Reading{}, &EndedError{"ended"} }}}, Options{}, nil)
		if len(u.Series[0].Points) != 0 || u.Series[0].Ended == "" {
			t.Errorf("%+v", u.Series[0])
		}
	})
}

// TestWatchAtOnce bounds how many are read at the same moment.
func TestWatchAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var now, most atomic.Int32
		var targets []Target
		for range 50 {
			targets = append(targets, &fake{name: "x", read: func(context.Context, int) (Reading, error) {
				for n := now.Add(1); ; {
					if m := most.Load(); n <= m || most.CompareAndSwap(m, n) {
						break
					}
				}
				time.Sleep(10 * time.Millisecond)
				now.Add(-1)
				return reading(0, 1, 1), nil
			}})
		}
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		u := Watch(ctx, targets, Options{AtOnce: 4}, nil)
		if most.Load() != 4 {
			t.Errorf("%d at once", most.Load())
		}
		for _, s := range u.Series {
			if s.Readings < 3 {
				t.Errorf("%d readings", s.Readings)
			}
		}
	})
}

// TestWatchCancelled ends at once, though a target hangs.
func TestWatchCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second/2, cancel)
		start := time.Now()
		u := Watch(ctx, []Target{&fake{name: "hangs", read: func(ctx context.Context, _ int) (Reading, error) {
			<-ctx.Done()
			return Reading{}, ctx.Err()
		}}}, Options{Timeout: time.Hour}, nil)
		if took := time.Since(start); took != time.Second/2 {
			t.Errorf("it took %s", took)
		}
		if s := u.Series[0]; s.Gaps != 0 {
			t.Errorf("what the end cut off is a gap: %+v", s)
		}
	})
}

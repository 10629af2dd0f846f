package usage

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// fake is a Target with readings from a function.
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

// busy returns readings of a process that uses one core.
func busy(start time.Time) func(context.Context, int) (Reading, error) {
	return func(context.Context, int) (Reading, error) {
		r := Reading{At: time.Now(), Values: Unknown()}
		r.Values[CPU] = time.Since(start).Seconds()
		return r, nil
	}
}

// TestWatch checks that targets that work, hang, fail and end are read independently.
func TestWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		targets := []Target{
			&fake{name: "works", read: busy(start)},
			&fake{name: "hangs", read: func(ctx context.Context, _ int) (Reading, error) {
				<-ctx.Done()
				return Reading{}, ctx.Err()
			}},
			&fake{
				name: "refuses",
				read: func(context.Context, int) (Reading, error) { return Reading{}, errors.New("refused") },
			},
			&fake{name: "ends", read: func(ctx context.Context, n int) (Reading, error) {
				if n > 3 {
					return Reading{}, &EndedError{"ended"}
				}
				return busy(start)(ctx, n)
			}},
		}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second+time.Millisecond)
		defer cancel()
		u := Watch(ctx, targets, Options{Now: time.Now, Interval: time.Second, Timeout: 3 * time.Second})
		if took := time.Since(start); took != 10*time.Second+time.Millisecond {
			t.Errorf("watched for %s", took)
		}
		works := u.Series[0]
		if works.Readings != 11 || works.Gaps != 0 {
			t.Errorf("works: %d readings, %d gaps", works.Readings, works.Gaps)
		}
		almostEqual(t, "cores", works.Totals[CPU].Mean, 1)
		almostEqual(t, "CPU", works.Totals[CPU].Total, 10)
		if hangs := u.Series[1]; hangs.Readings != 0 || hangs.Gaps != 3 || hangs.Totals[CPU].Known() {
			t.Errorf("hangs: %d readings, %d gaps", hangs.Readings, hangs.Gaps)
		}
		if refuses := u.Series[2]; refuses.Gaps != 11 || refuses.LastGap != "refused" {
			t.Errorf("refuses: %d gaps, %s", refuses.Gaps, refuses.LastGap)
		}
		if ends := u.Series[3]; ends.Readings != 3 || ends.Ended != "ended" {
			t.Errorf("ends: %+v", ends)
		}
		if u.End.Sub(u.Begin) != time.Since(start) {
			t.Errorf("from %s to %s", u.Begin, u.End)
		}
	})
}

// TestWatchEnds checks that Watch returns when all targets have ended.
func TestWatchEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := Watch(t.Context(),
			[]Target{
				&fake{
					name: "x",
					read: func(context.Context, int) (Reading, error) { return Reading{}, &EndedError{"ended"} },
				},
			}, Options{Now: time.Now, Interval: time.Second})
		if len(u.Series[0].Points) != 0 || u.Series[0].Ended == "" {
			t.Errorf("%+v", u.Series[0])
		}
	})
}

// TestWatchCancelled checks that Watch returns at once even if a target hangs.
func TestWatchCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second/2, cancel)
		start := time.Now()
		u := Watch(ctx, []Target{&fake{name: "hangs", read: func(ctx context.Context, _ int) (Reading, error) {
			<-ctx.Done()
			return Reading{}, ctx.Err()
		}}}, Options{Now: time.Now, Interval: time.Second, Timeout: time.Hour})
		if took := time.Since(start); took != time.Second/2 {
			t.Errorf("it took %s", took)
		}
		if s := u.Series[0]; s.Gaps != 0 {
			t.Errorf("what the end cut off is a gap: %+v", s)
		}
	})
}

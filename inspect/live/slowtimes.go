package live

import (
	"time"

	"kitescope/inspect/model"
)

// place finds out when the requests of a list ended. A proxy writes the time of its own zone without saying which (time.DateTime), and
// forgets an entry after 15 minutes: one zone puts all of them into the time before the list was asked for. Where none does, or
// nobody knows when that was, the times are unknown.
func place(list []model.SlowRequest, at time.Time) {
	if at.IsZero() {
		return
	}
	times := make([]time.Time, len(list))
	for i := range list {
		if t, err := time.Parse(time.DateTime, list[i].Told); err == nil {
			times[i] = t
		}
	}
	zone, ok := zoneOf(times, at)
	if !ok {
		return
	}
	for i, t := range times {
		if !t.IsZero() {
			list[i].EndedAt = t.Add(-zone)
		}
	}
}

// zones are how far clocks are ahead of UTC: most by whole hours, which are tried first; the others are all there are.
func zones() []time.Duration {
	var list []time.Duration
	for h := range 27 {
		list = append(list, time.Duration(h-12)*time.Hour)
	}
	for _, quarters := range []int{22, 14, 18, 26, 38, 42, -14, -38, 23, 35, 51, 55} { // India first: +05:30
		list = append(list, time.Duration(quarters)*15*time.Minute)
	}
	return list
}

// zoneOf is how far the clock of whoever wrote some times is ahead of UTC.
func zoneOf(times []time.Time, at time.Time) (zone time.Duration, ok bool) {
	const kept, leeway = 15 * time.Minute, 2 * time.Minute
	for _, zone := range zones() {
		known, fits := false, true
		for _, t := range times {
			age := at.Sub(t.Add(-zone))
			known = known || !t.IsZero()
			fits = fits && (t.IsZero() || age >= -leeway && age <= kept+leeway)
		}
		if known && fits {
			return zone, true
		}
	}
	return 0, false
}

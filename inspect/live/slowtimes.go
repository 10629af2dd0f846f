package live

import (
	"time"

	"kitescope/inspect/model"
)

// setTimes sets the end times of the requests in a list. A proxy writes local time without a zone (time.DateTime),
// and drops an entry after 15 minutes. The right zone therefore puts all entries into the time before the list
// was requested. If no zone does, or that time is unknown, the times are unknown.
func setTimes(list []model.SlowRequest, at time.Time) {
	if at.IsZero() {
		return
	}
	times := make([]time.Time, len(list))
	for i := range list {
		if t, err := time.Parse(time.DateTime, list[i].LocalTime); err == nil {
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

// zones returns the offsets of all time zones from UTC. Whole hours come first, because most zones have them.
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

// zoneOf returns the offset from UTC of the clock that some times are from.
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

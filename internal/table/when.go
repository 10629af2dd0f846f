package table

import (
	"fmt"
	"strings"
	"time"
)

// When is a time as entered by a user: an absolute time, a time of day, or a duration before now.
type When struct {
	time      time.Time
	length    time.Duration // length of the interval given by the precision, if less than a day
	months    int           // months and days of longer intervals
	days      int
	timeOfDay bool
	relative  bool
	ago       time.Duration
}

// WhenForms lists examples of inputs to ParseWhen, for help and errors.
const WhenForms = "10m, 2d, 09:14, 2026-11-24, 2026-11-24T09:14:05Z"

var timeLayouts = []struct {
	layout string
	When
}{
	{"15:04", When{length: time.Minute, timeOfDay: true}},
	{"15:04Z07:00", When{length: time.Minute, timeOfDay: true}},
	{"15:04:05", When{length: time.Second, timeOfDay: true}},
	{"15:04:05Z07:00", When{length: time.Second, timeOfDay: true}},
	{time.RFC3339Nano, When{length: time.Second}},
	{"2006-01-02T15:04:05", When{length: time.Second}},
	{"2006-01-02 15:04:05", When{length: time.Second}},
	{"2006-01-02T15:04", When{length: time.Minute}},
	{"2006-01-02 15:04", When{length: time.Minute}},
	{"2006-01-02", When{days: 1}},
	{"2006-01", When{months: 1}},
}

// ParseWhen parses an absolute time, in UTC unless it has a zone; a time of day, which means the last one before
// now; or a duration before now with a unit. "10m", "-10m" and "now-10m" are the same, and "now" is the current
// time.
func ParseWhen(text string) (When, error) {
	for _, l := range timeLayouts {
		if t, err := time.Parse(l.layout, text); err == nil {
			w := l.When
			w.time = t
			return w, nil
		}
	}
	rest, isNow := strings.CutPrefix(text, "now")
	ago, isBefore := strings.CutPrefix(rest, "-")
	switch d, err := ParseDuration(ago); {
	case isNow && rest == "":
		return When{relative: true}, nil
	case isNow && !isBefore, err != nil, d <= 0, !strings.ContainsAny(ago[len(ago)-1:], "smhdw"):
		return When{}, fmt.Errorf("%q is not a time: expected one of %s", text, WhenForms)
	default:
		return When{relative: true, ago: d}, nil
	}
}

// FromNow reports whether the time depends on the current time.
func (w *When) FromNow() bool { return w.relative || w.timeOfDay }

// In returns the interval given by the precision of a time: the whole day for a date, one nanosecond for a
// duration before now.
func (w *When) In(now time.Time) (from, to time.Time) {
	from = w.time
	switch {
	case w.relative:
		from = now.Add(-w.ago)
		return from, from.Add(1)
	case w.timeOfDay:
		now = now.In(w.time.Location())
		from = time.Date(now.Year(), now.Month(), now.Day(), from.Hour(), from.Minute(), from.Second(), 0,
			from.Location())
		if from.After(now) {
			from = from.AddDate(0, 0, -1)
		}
	}
	return from, from.Add(w.length).AddDate(0, w.months, w.days)
}

package draw

import (
	"strings"
	"time"

	"kitescope/inspect/history"
	"kitescope/internal/words"
)

// Stamp returns the time of a revision to the second, with the error bound if that is at least a second. It returns
// the revision itself if its time is unknown.
func Stamp(x *history.Axis, revision int64) string {
	at, wrong := x.When(revision)
	if at.IsZero() {
		return "rev " + words.Number(revision)
	}
	layout := "15:04:05"
	const day = int64(20 * time.Hour)
	// Include the date if the axis is long, or the time is far from its end or uncertain.
	if x.To-x.From > day || x.To-at.UnixNano() > day || wrong > 20*time.Hour {
		layout = "01-02 15:04:05"
	}
	text := at.UTC().Format(layout)
	if wrong >= time.Second {
		text += " ±" + words.Age(wrong.Round(time.Second))
	}
	return text
}

// ObjectText returns the name of the object of an event. If it has no name, the text is its resource and id, or
// "replica of" the collection.
func ObjectText(e *history.Event) string {
	name := e.Object.Name
	switch {
	case name == "" && e.Object.Resource == "replicas" && e.Collection.Name != "":
		name = "replica of " + e.Collection.Name
	case name == "":
		name = strings.TrimSuffix(strings.ReplaceAll(e.Object.Resource, "-", " "), "s") + " " + e.Object.ID
	}
	return words.Sanitize(words.OneLine(name))
}

// EventText returns an event as one line.
func EventText(e *history.Event) string {
	return ObjectText(e) + " " + words.Sanitize(words.OneLine(e.Message))
}

// TimeTrack draws the time axis from the oldest to the newest state in w cells. It marks the cells with events, and
// the current place in style here.
func TimeTrack(st *Styles, x *history.Axis, w int, place int64, here Style) string {
	cells := make([]rune, w)
	span := float64(max(1, x.To-x.From))
	begin := func(i int) int64 { return x.From + int64(span*float64(i)/float64(w)) }
	for i := range cells {
		end := begin(i + 1)
		if i == w-1 {
			end = x.To + 1
		}
		cells[i] = '─'
		if x.CountBefore(end) > x.CountBefore(begin(i)) {
			cells[i] = '┴'
		}
	}
	at := min(w-1, int(float64(place-x.From)/span*float64(w)))
	return st.Dim.On(string(cells[:at])) + here.On("●") + st.Dim.On(string(cells[at+1:]))
}

// Age returns an age in a single unit, and the duration until that text changes.
func Age(age time.Duration) (text string, next time.Duration) {
	steps := []struct {
		below, step time.Duration
		unit        time.Duration
		name        string
	}{
		{10 * time.Second, time.Second, time.Second, "s"},
		{time.Minute, 10 * time.Second, time.Second, "s"},
		{2 * time.Hour, time.Minute, time.Minute, "m"},
		{48 * time.Hour, time.Hour, time.Hour, "h"},
		{1 << 62, 24 * time.Hour, 24 * time.Hour, "d"},
	}
	age = max(age, 0)
	for _, s := range steps {
		if age < s.below {
			floor := age.Truncate(s.step)
			return words.Number(int(floor/s.unit)) + s.name, floor + s.step - age
		}
	}
	return "", time.Hour
}

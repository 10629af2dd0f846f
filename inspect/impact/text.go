package impact

import (
	"fmt"
	"math"
	"strings"
	"time"

	"kitescope/internal/words"
)

// Plural returns the plural of a kind of request for messages, e.g. "inserts" or "DDL requests".
func (r Request) Plural() string {
	switch r {
	case Query:
		return "queries"
	case Search, Flush:
		return string(r) + "es"
	case DDL:
		return "DDL requests"
	case Describe:
		return "metadata reads"
	case Insert, Upsert, Delete, Load, Import:
	}
	return string(r) + "s"
}

// Text returns the state for messages, e.g. "56 of 56 failed in 15 s" or "fine (32 a second, p99 21 ms)".
func (k *Kind) Text() string {
	in := " in " + Seconds(k.Seconds)
	ended := int64(math.Round(k.Ended()))
	switch k.State {
	case Unknown:
		return "unknown: " + k.Why
	case Idle:
		return "none" + in
	case Hanging:
		if k.Unwritten > 0 {
			return k.waiting() + " for " + Seconds(k.Seconds)
		}
		return words.Number(int64(k.InFlight)) + " hanging, none completed" + in
	case Failing:
		if k.Why != "" {
			return "fail: " + k.Why
		}
		return fmt.Sprintf("%s of %s failed%s", words.Number(int64(math.Round(k.Failed))), words.Number(ended), in)
	case Refused:
		if k.Why != "" {
			return "refused: " + k.Why
		}
		return fmt.Sprintf("%s of %s refused%s", words.Number(int64(math.Round(k.Refused))), words.Number(ended), in)
	case Slow:
		switch {
		case k.Long > 0:
			return fmt.Sprintf("slow: %s of %s took more than %s, few before", words.Number(int64(k.Long)),
				words.Number(ended), milliseconds(k.LongMs))
		case k.Mean < slowFactor*k.Past && k.MedianSlow():
			return fmt.Sprintf("slow: half take more than %s, less than %s before", milliseconds(k.Median),
				milliseconds(k.PastMedian))
		}
		return fmt.Sprintf("slow: %s on average, %s before", milliseconds(k.Mean), milliseconds(k.Past))
	case Unsure:
		switch {
		case k.Unwritten > 0:
			return k.waiting() + " for " + Seconds(k.Seconds)
		case k.InFlight > 0:
			return k.waiting() + ", none completed" + in
		case k.Failed+k.Refused == 0:
			return fmt.Sprintf("%s took %s, %s on average before", words.Number(ended), milliseconds(k.Mean),
				milliseconds(k.Past))
		}
	case Fine:
	}
	text := "fine ("
	if k.Seconds > 0 {
		text += words.ThreeDigits(k.Ended()/k.Seconds) + " a second"
	} else {
		text += words.Number(ended)
	}
	if !math.IsNaN(k.P99) && !math.IsInf(k.P99, 1) {
		text += ", p99 " + milliseconds(k.P99)
	}
	text += ")"
	if bad := int64(math.Round(k.Failed + k.Refused)); bad > 0 {
		text = fmt.Sprintf("%s of %s failed%s", words.Number(bad), words.Number(ended), in)
	}
	return text
}

// waiting returns the number of requests in flight, e.g. "6 waiting", or of segments waiting to be written.
func (k *Kind) waiting() string {
	if k.Unwritten > 0 {
		return words.Count(int64(k.Unwritten), "segment waiting to be written", "segments waiting to be written")
	}
	return words.Number(int64(k.InFlight)) + " waiting"
}

// Line returns the kind of request and its state, e.g. "inserts: 56 of 56 failed in 15 s".
func (k *Kind) Line() string { return k.Request.Plural() + ": " + k.Text() }

// Seconds formats the length of a window, e.g. "15 s" or "1.5 s".
func Seconds(s float64) string {
	if s >= 3 {
		return fmt.Sprintf("%.0f s", s)
	}
	return fmt.Sprintf("%.1f s", s)
}

func milliseconds(ms float64) string {
	return words.Latency(time.Duration(ms*float64(time.Millisecond)), false)
}

// AllRequests is the name of requests of all kinds.
const AllRequests = "all requests"

// Line is a line of text about the impact.
type Line struct {
	State State
	Text  string
}

// Lines returns the impact as text: one line for each kind of request whose state clients notice, the worst
// first, and one for all others. A nil Impact has no lines.
func (x *Impact) Lines() []Line {
	if x == nil {
		return nil
	}
	var list []Line
	// no proxy accepts connections
	if k := x.Kind(Search); k != nil && k.Why != "" && len(x.Affected()) == len(x.Kinds) {
		return []Line{{k.State, AllRequests + " " + k.Text()}}
	}
	for _, k := range x.Affected() {
		list = append(list, Line{k.State, k.Line()})
	}
	rest := Line{State: Idle}
	var parts, unknown []string
	idle, why := false, ""
	for i := range x.Kinds {
		switch k := &x.Kinds[i]; k.State {
		case Fine:
			if rest.State = Fine; k.Request != Describe {
				parts = append(parts, k.Line())
			}
		case Idle:
			idle = true
		case Unknown:
			unknown, why = append(unknown, k.Request.Plural()), k.Why
		case Unsure:
			list = append(list, Line{Unsure, k.Line()})
		case Slow, Refused, Failing, Hanging: // added above
		}
	}
	switch {
	case !idle:
	case len(parts)+len(list) > 0:
		parts = append(parts, "no other requests")
	default:
		parts = append(parts, "no requests in "+Seconds(x.To.Sub(x.From).Seconds()))
	}
	if len(unknown) > 0 {
		if rest.State = Unknown; len(unknown) == len(x.Kinds) {
			unknown = []string{"impact on clients"}
		}
		parts = append(parts, words.Summarize(unknown)+": unknown, "+why)
	}
	if len(parts) > 0 {
		rest.Text = strings.Join(parts, "; ")
		list = append(list, rest)
	}
	return list
}

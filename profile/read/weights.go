package read

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"kitescope/profile"
)

// weights assigns value types to each event of perf. A single event gets:
//
//	samples/count          the number of samples
//	cpu-clock/nanoseconds  the sum of the samples' periods, unless they have none
//
// With several events, the name of the first type includes the event, e.g. "cycles samples/count".
type weights struct {
	b      *profile.Builder
	events []eventWeight
	values []int64
}

// eventWeight holds the value types and the totals of an event.
type eventWeight struct {
	name            string
	samples, period int // indexes of types; period is -1 without such a type
	total           int64
	// commonPeriod is the period of all samples so far; -1 if they differ.
	commonPeriod int64
	// noPeriod is the number of samples without a period, out of count.
	noPeriod, count int64
}

// maxEvents exceeds the number of events that perf can record at once on any known machine.
const maxEvents = 64

func newWeights(b *profile.Builder) weights {
	return weights{b: b, values: []int64{0}}
}

// event returns the index of an event, or -1 if there are too many events.
func (w *weights) event(name []byte) int {
	name = trimModifiers(name)
	for i := range w.events {
		if w.events[i].name == string(name) {
			return i
		}
	}
	if len(w.events) == maxEvents {
		return -1
	}
	e := eventWeight{name: string(name), period: -1}
	if len(w.events) > 0 {
		e.samples = w.add(profile.ValueType{Type: e.displayName() + " samples", Unit: "count"}, -1)
		w.b.Meta().Types[0].Type = w.events[0].displayName() + " samples"
	}
	w.events = append(w.events, e)
	return len(w.events) - 1
}

// trimModifiers removes the p modifiers from an event name (man perf-list, EVENT MODIFIERS). They set how precisely
// a sample is attributed, and do not make it a different event. "cpu-clock:ppp" is perf's default on machines
// without hardware counters.
func trimModifiers(name []byte) []byte {
	at := bytes.LastIndexByte(name, ':')
	if at < 0 || len(bytes.Trim(name[at+1:], "ukhGHpPSDIeWb")) > 0 {
		return name
	}
	kept := bytes.TrimRight(name, "pP")
	return bytes.TrimSuffix(kept, []byte(":"))
}

// displayName returns the name of the event for display.
func (e *eventWeight) displayName() string {
	if e.name == "" {
		return "event"
	}
	return e.name
}

// unit returns the unit of the event's period. Clocks of the kernel count nanoseconds (man perf-list:
// cpu-clock, task-clock).
func (e *eventWeight) unit() string {
	name, _, _ := strings.Cut(e.name, ":")
	if name == "cpu-clock" || name == "task-clock" {
		return "nanoseconds"
	}
	return "count"
}

func (w *weights) add(t profile.ValueType, like int) int {
	w.b.AddType(t, like)
	w.values = append(w.values, 0)
	return len(w.values) - 1
}

// sampleValues returns the values of a sample. The slice is valid until the next call.
func (w *weights) sampleValues(event int, period int64) ([]int64, error) {
	if event < 0 {
		return nil, errEvents
	}
	e := &w.events[event]
	if period > 0 && e.period < 0 {
		// Earlier samples without a period count as 1 each.
		e.period = w.add(profile.ValueType{Type: e.displayName(), Unit: e.unit()}, e.samples)
		e.total, e.commonPeriod = e.count, period
	}
	clear(w.values)
	w.values[e.samples] = 1
	e.count++
	if period <= 0 {
		period = 1
		e.noPeriod++
	}
	if e.period < 0 {
		return w.values, nil
	}
	if period != e.commonPeriod {
		e.commonPeriod = -1
	}
	w.values[e.period] = period
	total, err := addAbs(e.total, period)
	e.total = total
	return w.values, err
}

// finish sets the default type, the period and the notes of the profile.
func (w *weights) finish() {
	p := w.b.Meta()
	if len(w.events) == 0 {
		return
	}
	first := &w.events[0]
	shown := w.defaultEvent()
	p.DefaultType = p.Types[shown.samples].Type
	if shown.period >= 0 {
		p.DefaultType = p.Types[shown.period].Type
	}
	for i := range w.events {
		e := &w.events[i]
		switch {
		case e.period < 0:
			w.b.Note(fmt.Sprintf("samples of %s have no period: they are counted", e.displayName()), e.noPeriod)
		case e.noPeriod > 0:
			w.b.Note(fmt.Sprintf("samples of %s without a period, weighed as 1 each", e.displayName()), e.noPeriod)
		}
	}
	if len(w.events) == 1 && first.period >= 0 {
		p.PeriodType = p.Types[first.period]
		p.Period = max(0, first.commonPeriod)
	}
	w.b.Note(w.note(p.Types), 1)
}

// defaultEvent returns the event to show by default: an event of time if there is any, otherwise the one with most
// samples.
func (w *weights) defaultEvent() *eventWeight {
	best := &w.events[0]
	for i := range w.events {
		e := &w.events[i]
		if e.isClock() != best.isClock() && e.isClock() || e.isClock() == best.isClock() && e.count > best.count {
			best = e
		}
	}
	return best
}

// isClock reports whether an event counts time or cycles.
func (e *eventWeight) isClock() bool {
	name := strings.Trim(strings.TrimPrefix(strings.TrimPrefix(e.name, "cpu_core/"), "cpu/"), "/")
	for _, clock := range []string{"cpu-clock", "task-clock", "cycles", "cpu-cycles"} {
		if rest, ok := strings.CutPrefix(name, clock); ok && (rest == "" || rest[0] == ':' || rest[0] == '/') {
			return true
		}
	}
	return false
}

// note returns a note about how the values were computed.
func (w *weights) note(types []profile.ValueType) string {
	if !slices.ContainsFunc(w.events, func(e eventWeight) bool { return e.period >= 0 }) {
		return "weights are counts of samples"
	}
	var names []string
	for _, e := range w.events {
		if e.period >= 0 {
			names = append(names, types[e.period].String())
		}
	}
	return "weights are sums of periods: " + strings.Join(names, ", ")
}

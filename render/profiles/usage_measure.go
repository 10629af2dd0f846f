package profiles

import (
	"math"
	"strconv"

	"kitescope/internal/words"
	"kitescope/profile/usage"
	"kitescope/render"
)

// measureLook is how a measure of usage is written.
type measureLook struct {
	measure usage.Measure
	// title heads columns and label the panel of a plot; unit is what its values are in.
	title, label, unit string
	// key is of a value in JSON, total of what was added up, "" of what does not add up.
	key, total string
	// factor makes a value what key says it is.
	factor float64
	text   func(v float64) string
}

// measureLooks are all measures in the order in which they are shown: what comes first stays when there is no room.
func measureLooks() []measureLook {
	return []measureLook{
		{usage.CPU, "CPU", "CPU", "cores", "cpu_cores", "cpu_seconds", 1, coresUsed},
		{usage.RSS, "MEMORY", "resident memory", "MiB", "rss_bytes", "", 1, bytesUsed},
		{usage.Queries, "QUERIES/s", "queries", "per second", "queries_per_second", "queries", 1, numberUsed},
		{usage.Goroutines, "GOROUTINES", "goroutines", "", "goroutines", "", 1, numberUsed},
		{usage.GCPause, "GC PAUSE", "paused for garbage collection", "% of the time", "gc_pause_percent", "gc_pause_seconds", 100, pauseUsed},
		{usage.Voluntary, "WAITS/s", "voluntary context switches", "per second", "voluntary_switches_per_second", "voluntary_switches", 1, numberUsed},
		{usage.Involuntary, "PREEMPTED/s", "involuntary context switches", "per second", "involuntary_switches_per_second", "involuntary_switches", 1, numberUsed},
		{usage.GCs, "GC/s", "garbage collections", "per second", "gc_per_second", "gc_count", 1, numberUsed},
		{usage.Heap, "HEAP", "heap", "MiB", "heap_bytes", "", 1, bytesUsed},
		{usage.Allocated, "ALLOC/s", "allocated", "per second", "allocated_bytes_per_second", "allocated_bytes", 1, bytesUsed},
		{usage.Threads, "THREADS", "threads", "", "threads", "", 1, numberUsed},
	}
}

func unknownOr(v float64, text func() string) string {
	if math.IsNaN(v) {
		return words.UnknownMark
	}
	return text()
}

func coresUsed(v float64) string { return unknownOr(v, func() string { return smallRatio(v) }) }

// smallRatio has two decimals; what is not nothing is not rounded to it.
func smallRatio(v float64) string {
	if v > 0 && v < 0.005 {
		return "<0.01"
	}
	return render.Ratio(v)
}

func bytesUsed(v float64) string {
	return unknownOr(v, func() string { return words.Bytes(int64(min(v, math.MaxInt64/2))) })
}

func pauseUsed(v float64) string { return unknownOr(v, func() string { return PercentText(100 * v) }) }

// numberUsed is a count with three digits at least: "0.52", "17.3", "431", "12.6k".
func numberUsed(v float64) string {
	return unknownOr(v, func() string {
		switch {
		case v == math.Trunc(v) && v < 10_000:
			return strconv.FormatFloat(v, 'f', 0, 64)
		case v < 10:
			return smallRatio(v)
		case v < 100:
			return strconv.FormatFloat(v, 'f', 1, 64)
		case v < 10_000:
			return strconv.FormatFloat(v, 'f', 0, 64)
		case v < 1e6:
			return strconv.FormatFloat(v/1e3, 'f', 1, 64) + "k"
		}
		return strconv.FormatFloat(v/1e6, 'f', 1, 64) + "M"
	})
}

// knownMeasures are those that any process tells.
func knownMeasures(u *usage.Usage) []measureLook {
	var list []measureLook
	for _, l := range measureLooks() {
		for _, s := range u.Series {
			if s.Totals[l.measure].Known() {
				list = append(list, l)
				break
			}
		}
	}
	return list
}

// knownLooks are those and the ones that matter though nobody tells them: a "?" says so.
func knownLooks(u *usage.Usage) []measureLook {
	known := knownMeasures(u)
	has := make(map[usage.Measure]bool, len(known))
	for _, l := range known {
		has[l.measure] = true
	}
	var list []measureLook
	for _, l := range measureLooks() {
		if has[l.measure] || l.measure != usage.Queries && l.measure != usage.Threads && l.measure != usage.GCs && l.measure != usage.Heap && l.measure != usage.Allocated {
			list = append(list, l)
		}
	}
	return list
}

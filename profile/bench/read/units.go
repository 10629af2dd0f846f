package read

import (
	"math"
	"strconv"
	"strings"

	"kitescope/profile/bench"
)

// base is the storage unit of a unit, and the factor to convert to it.
type base struct {
	unit   string
	factor float64
}

// unitTable returns the base of a unit, with the spellings of all supported programs. unit must be in lower case.
func unitTable(unit string) (base, bool) {
	switch unit {
	case "s", "sec", "secs", "second", "seconds", "s/op":
		return base{"s", 1}, true
	case "ms", "msec", "millis", "millisecond", "milliseconds", "ms/op":
		return base{"s", 1e-3}, true
	case "us", "µs", "μs", "usec", "micros", "microsecond", "microseconds", "us/op", "µs/op":
		return base{"s", 1e-6}, true
	case "ns", "nsec", "nanos", "nanosecond", "nanoseconds", "ns/op":
		return base{"s", 1e-9}, true
	case "m", "min", "mins", "minute", "minutes":
		return base{"s", 60}, true
	case "h", "hr", "hour", "hours":
		return base{"s", 3600}, true
	case "%", "pct", "percent":
		return base{"%", 1}, true
	case "", "-", "count", "n":
		return base{"", 1}, true
	}
	if of, ok := strings.CutSuffix(perSecond(unit), "/s"); ok {
		return rateUnit(of)
	}
	return byteUnit(unit)
}

// perSecond replaces the spellings of "per second" by "/s".
func perSecond(unit string) string {
	switch unit {
	case "qps", "rps", "tps", "ops", "iops", "hz", "1/s":
		return "1/s"
	}
	for _, end := range []string{" per second", " per sec", "/second", "/sec", "/secs", "ps"} {
		if of, ok := strings.CutSuffix(unit, end); ok && (end != "ps" || hasAny(of, "byte", "kib", "mib", "gib")) {
			return of + "/s"
		}
	}
	return unit
}

// rateUnit returns the base of a unit per second: "B/s" for bytes, otherwise "1/s".
func rateUnit(unit string) (base, bool) {
	switch unit {
	case "1", "req", "reqs", "request", "requests", "op", "ops", "query", "queries", "doc", "docs", "row", "rows",
		"trans", "transactions", "events", "msg", "msgs", "#":
		return base{"1/s", 1}, true
	}
	if b, ok := byteUnit(unit); ok && b.unit == "B" {
		return base{"B/s", b.factor}, true
	}
	if len(unit) > 1 && strings.IndexByte("kmg", unit[0]) >= 0 {
		if b, ok := rateUnit(unit[1:]); ok && b.unit == "1/s" {
			return base{"1/s", b.factor * map[byte]float64{'k': 1e3, 'm': 1e6, 'g': 1e9}[unit[0]]}, true
		}
	}
	return base{}, false
}

func byteUnit(unit string) (base, bool) {
	for _, whole := range []string{"bytes", "byte", "b"} {
		prefix, ok := strings.CutSuffix(unit, whole)
		if !ok {
			continue
		}
		factor, ok := map[string]float64{
			"": 1, "k": 1e3, "m": 1e6, "g": 1e9, "t": 1e12, "ki": 1 << 10, "mi": 1 << 20, "gi": 1 << 30, "ti": 1 << 40,
			"kilo": 1e3, "mega": 1e6, "giga": 1e9,
		}[prefix]
		return base{"B", factor}, ok
	}
	return base{}, false
}

// normalize converts a value to the unit without a prefix. Values in unknown units are unchanged.
func normalize(x float64, unit string) (float64, string) {
	b, ok := unitTable(strings.ToLower(strings.TrimSpace(unit)))
	if !ok {
		return x, unit
	}
	if b.factor == 1 {
		return x, b.unit
	}
	return decimal(x * b.factor), b.unit
}

// decimal removes rounding errors of a multiplication: 76.135 ms and 0.076135 s must be equal, because ranks depend on
// it.
func decimal(x float64) float64 {
	const digits = 15 // a float64 keeps 15 decimal digits
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', digits, 64), 64)
	if err != nil {
		return x
	}
	return rounded
}

// isUnit reports whether s is a known unit other than a plain count.
func isUnit(s string) bool {
	s = strings.ToLower(strings.TrimSpace(s))
	_, ok := unitTable(s)
	return ok && s != "" && s != "-" && s != "n" && s != "count"
}

// number parses a value as written by people and programs: "1,234.5", "12.3ms", "45%", "1.21k". The text after
// the number is the unit.
func number(s string) (x float64, unit string, ok bool) {
	s = strings.TrimSpace(s)
	end := 0
	for end < len(s) && strings.IndexByte("+-0123456789.,_", s[end]) >= 0 {
		end++
	}
	// An exponent as in 1.5e-3, unlike a word that begins with e.
	if end < len(s) && (s[end] == 'e' || s[end] == 'E') {
		at := end + 1
		if at < len(s) && (s[at] == '+' || s[at] == '-') {
			at++
		}
		digits := at
		for at < len(s) && s[at] >= '0' && s[at] <= '9' {
			at++
		}
		if at > digits {
			end = at
		}
	}
	x, ok = plainNumber(s[:end])
	return x, strings.TrimSpace(s[end:]), ok
}

// plainNumber parses a number that may have commas between thousands.
func plainNumber(s string) (float64, bool) {
	if s == "" || strings.Contains(s, "_") {
		return math.NaN(), false
	}
	if strings.Contains(s, ",") {
		if !groupedByCommas(s) {
			return math.NaN(), false
		}
		s = strings.ReplaceAll(s, ",", "")
	}
	x, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return math.NaN(), false
	}
	return x, true
}

// groupedByCommas reports whether commas separate thousands, as in "1,234,567.8" but not in "1,5".
func groupedByCommas(s string) bool {
	whole, _, _ := strings.Cut(strings.TrimLeft(s, "+-"), ".")
	groups := strings.Split(whole, ",")
	for i, g := range groups {
		if i > 0 && len(g) != 3 || i == 0 && (len(g) == 0 || len(g) > 3) {
			return false
		}
	}
	return true
}

// direction derives the better direction from the name and the unit of a metric.
func direction(m bench.Metric) bench.Direction {
	name := strings.ToLower(m.Name)
	words := wordsOf(name) // short words occur in longer ones: a fault in "default", tps in "https"
	switch {
	case hasAny(name, "recall", "ndcg", "precision", "accuracy", "hit rate", "hit ratio", "insn per cycle") ||
		hasAny(words, " ipc "):
		return bench.HigherIsBetter
	case hasAny(words, " miss", " drop", " fault", " gc ", " stall", " steal"),
		hasAny(name, "error", "fail", "timeout", "retries", "context switch", "migration",
			"garbage", "cumulative", "segment count", "store size", "translog size", "per query", "per request",
			"iowait"):
		return bench.LowerIsBetter
	case hasAny(name, "iteration", "sample", "clients", "concurrency", "connections", "threads", "target", "offered"):
		return bench.Neither
	}
	switch m.Unit {
	case "1/s", "B/s":
		return bench.HigherIsBetter
	case "s":
		return bench.LowerIsBetter
	case "B":
		if hasAny(name, "alloc", "memory", "size", "heap", "b/op", "disk", "store") ||
			hasAny(words, " mem ", " rss ", " maxrss ") {
			return bench.LowerIsBetter
		}
	}
	switch {
	case hasAny(name, "latency", "response time", "duration", "elapsed", "alloc", "memory", "cpu", "cycles",
		"instructions") || hasAny(words, " rss "):
		return bench.LowerIsBetter
	case hasAny(name, "throughput", "qps", "per second", "speed", "bandwidth") || hasAny(words, " rps ", " tps ") ||
		strings.HasSuffix(name, "/s") || strings.HasSuffix(name, "/sec"):
		return bench.HigherIsBetter
	}
	return bench.Unknown
}

// wordsOf returns the words of a lower-case name, with a space before and after each.
func wordsOf(name string) string {
	words := strings.FieldsFunc(name, func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') })
	return " " + strings.Join(words, " ") + " "
}

package bench

import (
	"maps"
	"slices"
	"strings"

	"kitescope/internal/words"
)

// scale says how many of another unit one of a unit is.
type scale struct {
	of     string
	factor float64
}

// scaleOf knows units that differ only by a factor. Readers keep values without a prefix; what arrives here with one is
// of a file whose units its reader does not know.
func scaleOf(unit string) (scale, bool) {
	of, per, rate := strings.Cut(unit, "/")
	if rate {
		per, ok := timeUnits()[per]
		if !ok {
			return scale{}, false
		}
		if of == "1" || of == "" {
			return scale{"1/s", 1 / per}, true
		}
		size, ok := sizeUnits()[of]
		return scale{"B/s", size / per}, ok
	}
	if factor, ok := timeUnits()[unit]; ok {
		return scale{"s", factor}, true
	}
	factor, ok := sizeUnits()[unit]
	return scale{"B", factor}, ok
}

func timeUnits() map[string]float64 {
	return map[string]float64{
		"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ms": 1e-3, "s": 1, "sec": 1, "second": 1, "seconds": 1,
		"min": 60, "minutes": 60, "h": 3600, "hours": 3600,
	}
}

// sizeUnits are by the standard: kB of 1000 and KiB of 1024 bytes (IEC 80000-13). KB is written for both, and taken as 1000.
func sizeUnits() map[string]float64 {
	return map[string]float64{
		"B": 1, "bytes": 1, "kB": 1e3, "KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12,
		"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40,
	}
}

// withoutUnit is a metric by all but its unit.
func (m Metric) withoutUnit() Metric {
	m.Unit = ""
	return m
}

// sameUnits brings metrics that only differ by unit to one. Where a unit is not known the two stay two metrics, each of
// one side, and a note says so.
func sameUnits(c *Comparison, left, right *side) {
	units := map[Metric][2][]string{}
	for i, d := range []*side{left, right} {
		for _, m := range d.metrics {
			u := units[m.withoutUnit()]
			u[i] = append(u[i], m.Unit)
			units[m.withoutUnit()] = u
		}
	}
	var unknown []string
	converted := map[string][]string{}
	for _, m := range metricsOf(left, right) {
		u, ok := units[m.withoutUnit()]
		if !ok || len(u[0]) != 1 || len(u[1]) != 1 || u[0][0] == u[1][0] {
			continue
		}
		delete(units, m.withoutUnit())
		x, okX := scaleOf(u[0][0])
		y, okY := scaleOf(u[1][0])
		if !okX || !okY || x.of != y.of {
			unknown = append(unknown, m.String()+" ("+unitName(u[0][0])+" and "+unitName(u[1][0])+")")
			continue
		}
		left.convert(m, u[0][0], x)
		right.convert(m, u[1][0], y)
		pair := unitName(u[0][0]) + " before and " + unitName(u[1][0]) + " after"
		converted[pair] = append(converted[pair], m.String())
	}
	for _, pair := range slices.Sorted(maps.Keys(converted)) {
		c.note("%s: %s, converted", words.FirstOf(converted[pair], 3, "; "), pair)
	}
	if len(unknown) > 0 {
		c.note("%s: not compared: the units of the two sides cannot be converted", words.FirstOf(unknown, 3, "; "))
	}
}

func unitName(unit string) string {
	if unit == "" {
		return "no unit"
	}
	return unit
}

// convert gives a metric another unit, in all runs.
func (d *side) convert(m Metric, unit string, to scale) {
	from, into := m, m
	from.Unit, into.Unit = unit, to.of
	for i := range d.metrics {
		if d.metrics[i] == from {
			d.metrics[i] = into
		}
	}
	better := d.better[from]
	delete(d.better, from)
	d.better[into] = better
	if step, ok := d.steps[from]; ok {
		delete(d.steps, from)
		d.steps[into] = step * to.factor
	}
	for _, r := range d.runs {
		if x, ok := r.values[from]; ok {
			delete(r.values, from)
			r.values[into] = x * to.factor
		}
	}
}

package bench

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"strings"

	"kitescope/internal/words"
)

// Setup describes the benchmark of a value.
type Setup struct {
	// Case is the part that must be equal for a comparison: a case of a benchmark and its data set.
	Case string
	// Settings are the other settings, by section and name (e.g. "index.ef"). They are safe to display.
	Settings map[string]string
}

// FormatSettings formats settings as " M=16 ef=100", without their sections.
func FormatSettings(settings map[string]string) string {
	var b strings.Builder
	for _, key := range slices.Sorted(maps.Keys(settings)) {
		b.WriteString(" " + settingName(key) + "=" + settings[key])
	}
	return b.String()
}

func settingName(key string) string {
	return strings.TrimPrefix(key[strings.LastIndexByte(key, '.')+1:], "db_")
}

// NameSettings adds the settings that differ within a set to the names of benchmarks. A setting that differs
// only between sets may be the change under test. Equal benchmarks of the given sets get equal names, no matter
// in which set a setting varies. sets may contain nil.
func NameSettings(sets ...*Set) {
	varies := map[string]map[string]bool{} // the settings that differ, by benchmark
	for _, s := range sets {
		first := map[string]*Setup{}
		for v := range s.values() {
			have, known := first[v.Setup.Case]
			if !known {
				first[v.Setup.Case] = v.Setup
				have = v.Setup
			}
			if varies[v.Setup.Case] == nil {
				varies[v.Setup.Case] = map[string]bool{}
			}
			for _, key := range differing(have, v.Setup) {
				varies[v.Setup.Case][key] = true
			}
		}
	}
	for _, s := range sets {
		for v := range s.values() {
			shown := maps.Clone(v.Setup.Settings)
			maps.DeleteFunc(shown, func(key, _ string) bool { return !varies[v.Setup.Case][key] })
			v.Benchmark = v.Setup.Case + FormatSettings(shown)
		}
	}
}

// values iterates over the values that have a Setup.
func (s *Set) values() iter.Seq[*Value] {
	return func(yield func(*Value) bool) {
		if s == nil {
			return
		}
		for i := range s.Runs {
			for k := range s.Runs[i].Values {
				if v := &s.Runs[i].Values[k]; v.Setup != nil && !yield(v) {
					return
				}
			}
		}
	}
}

// differing returns the names of the settings that differ between a and b.
func differing(a, b *Setup) (keys []string) {
	if a == b {
		return nil
	}
	for _, settings := range []map[string]string{a.Settings, b.Settings} {
		for key := range settings {
			x, inA := a.Settings[key]
			y, inB := b.Settings[key]
			if x != y || inA != inB {
				keys = append(keys, key)
			}
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// noteSettings adds a note about settings that differ between the sides.
func (c *Comparison) noteSettings(left, right *side) {
	var all []string
	for _, m := range left.metrics {
		x, y := left.setups[m], right.setups[m]
		if x == nil || y == nil {
			continue
		}
		for _, key := range differing(x, y) {
			text := settingName(key) + " " + cmp.Or(x.Settings[key], "not set") + " → " +
				cmp.Or(y.Settings[key], "not set")
			if !slices.Contains(all, text) {
				all = append(all, text)
			}
		}
	}
	if len(all) > 0 {
		const most = 8
		c.note("the sides differ in: %s", words.FirstOf(all, most, ", "))
	}
}

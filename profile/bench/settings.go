package bench

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"strings"

	"kitescope/internal/words"
)

// Setup is what was run, in parts.
type Setup struct {
	// Of is what has to be equal for a comparison: a case of a benchmark and its data set.
	Of string
	// Settings are the others, by their section and name ("index.ef"), as they may be shown.
	Settings map[string]string
}

// SettingWords writes settings as " M=16 ef=100", without their sections.
func SettingWords(settings map[string]string) string {
	var b strings.Builder
	for _, key := range slices.Sorted(maps.Keys(settings)) {
		b.WriteString(" " + settingName(key) + "=" + settings[key])
	}
	return b.String()
}

func settingName(key string) string {
	return strings.TrimPrefix(key[strings.LastIndexByte(key, '.')+1:], "db_")
}

// NameSettings names what was run by its settings that differ within a set, because a setting that differs between sets
// may be the change that is measured. Sets that are named together have equal names for equal things, whichever of them
// varied a setting. A nil Set has no names.
func NameSettings(sets ...*Set) {
	varies := map[string]map[string]bool{} // by what was run, the settings that differ
	for _, s := range sets {
		first := map[string]*Setup{}
		for v := range s.values() {
			have, known := first[v.Setup.Of]
			if !known {
				first[v.Setup.Of] = v.Setup
				have = v.Setup
			}
			if varies[v.Setup.Of] == nil {
				varies[v.Setup.Of] = map[string]bool{}
			}
			for _, key := range differing(have, v.Setup) {
				varies[v.Setup.Of][key] = true
			}
		}
	}
	for _, s := range sets {
		for v := range s.values() {
			shown := maps.Clone(v.Setup.Settings)
			maps.DeleteFunc(shown, func(key, _ string) bool { return !varies[v.Setup.Of][key] })
			v.Of = v.Setup.Of + SettingWords(shown)
		}
	}
}

// values calls yield with each value that has a Setup.
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

// differing lists the settings that are not the same in both.
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

// noteSettings reports the settings that differ between the sides.
func (c *Comparison) noteSettings(left, right *side) {
	var all []string
	for _, m := range left.metrics {
		x, y := left.setups[m], right.setups[m]
		if x == nil || y == nil {
			continue
		}
		for _, key := range differing(x, y) {
			text := settingName(key) + " " + cmp.Or(x.Settings[key], "not set") + " → " + cmp.Or(y.Settings[key], "not set")
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

package meta

import (
	"kitescope/inspect/model"
	"kitescope/inspect/source"
)

// knownParts are the wanted parts without those that were not read whole, so that what
// is missing is shown as unknown, and not as zero: a part is out as soon as the
// account may not read some of its keys, or if the source holds none of them.
func knownParts(h source.Header, want model.Part, denied []source.Range) model.Part {
	known, held := want, model.Part(0)
	for _, s := range spans(h) {
		if overlapsAny(s.Range, denied) {
			known &^= s.tells
		}
		if !insideAny(s.Range, h.Lacks) {
			held |= s.tells
		}
	}
	return known & held
}

// deniedKeys are the ranges of keys among gaps.
func deniedKeys(gaps []source.Gap) []source.Range {
	var denied []source.Range
	for _, g := range gaps {
		if g.Keys != (source.Range{}) {
			denied = append(denied, g.Keys)
		}
	}
	return denied
}

func overlapsAny(r source.Range, list []source.Range) bool {
	for _, x := range list {
		if below(r.From, x.To) && below(x.From, r.To) {
			return true
		}
	}
	return false
}

func insideAny(r source.Range, list []source.Range) bool {
	for _, x := range list {
		if x.From <= r.From && (x.To == "" || r.To != "" && r.To <= x.To) {
			return true
		}
	}
	return false
}

// below compares a key with an upper bound, where "" is above all keys.
func below(key, bound string) bool { return bound == "" || key < bound }

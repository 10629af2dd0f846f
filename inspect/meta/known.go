package meta

import (
	"kitescope/inspect/model"
	"kitescope/inspect/source"
)

// knownParts returns the wanted parts that were read completely. The others must be shown as unknown, not as
// zero. A part is excluded if the account may not read some of its keys, or if the source holds no keys of
// the part.
func knownParts(h source.Header, want model.Part, denied []source.Range) model.Part {
	known, held := want, model.Part(0)
	for _, s := range spans(h) {
		if overlapsAny(s.Range, denied) {
			known &^= s.dependents
		}
		if !insideAny(s.Range, h.Omitted) {
			held |= s.dependents
		}
	}
	return known & held
}

// deniedKeys returns the key ranges of the gaps.
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

// below reports whether key is below an upper bound, where "" is above all keys.
func below(key, bound string) bool { return bound == "" || key < bound }

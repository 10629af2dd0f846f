package source

import (
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"
)

// empty reports whether r contains no key.
func (r Range) empty() bool { return r.To != "" && r.From >= r.To }

// String returns r for display, e.g. "keys [a, b)".
func (r Range) String() string {
	from, to := strconv.Quote(r.From), strconv.Quote(r.To)
	switch {
	case r.To == "":
		return "keys from " + from
	case r.To == r.From+"\x00":
		return "key " + from
	case r.To == prefixEnd(r.From):
		return "keys under " + from
	}
	return "keys [" + from + ", " + to + ")"
}

// endsBefore reports whether upper bound a is less than b. "" is greater than any other bound.
func endsBefore(a, b string) bool { return a != "" && (b == "" || a < b) }

// mergeRanges sorts ranges, drops empty ones, and joins ranges that touch or overlap.
func mergeRanges(ranges []Range) []Range {
	sorted := make([]Range, 0, len(ranges))
	for _, r := range ranges {
		if !r.empty() {
			sorted = append(sorted, r)
		}
	}
	slices.SortFunc(sorted, func(a, b Range) int { return strings.Compare(a.From, b.From) })
	var merged []Range
	for _, r := range sorted {
		last := len(merged) - 1
		if last < 0 || merged[last].To != "" && merged[last].To < r.From {
			merged = append(merged, r)
			continue
		}
		if endsBefore(merged[last].To, r.To) {
			merged[last].To = r.To
		}
	}
	return merged
}

// intersect returns the parts of r that are inside the merged ranges.
func intersect(r Range, merged []Range) []Range {
	var out []Range
	for _, m := range merged {
		part := Range{From: max(r.From, m.From), To: r.To}
		if endsBefore(m.To, r.To) {
			part.To = m.To
		}
		if !part.empty() {
			out = append(out, part)
		}
	}
	return out
}

// subtract returns the parts of r that are outside the merged ranges.
func subtract(r Range, merged []Range) []Range {
	var out []Range
	from := r.From
	for _, m := range intersect(r, merged) {
		if from < m.From {
			out = append(out, Range{From: from, To: m.From})
		}
		if m.To == "" {
			return out
		}
		from = m.To
	}
	if rest := (Range{From: from, To: r.To}); !rest.empty() {
		out = append(out, rest)
	}
	return out
}

// matcher reports whether a key is in one of many sorted ranges. It first tests the prefix that all ranges
// share, and the range of the previous key, because neighboring keys in a file are often neighbors in the
// store.
type matcher struct {
	shared string
	ranges []Range
	last   int
}

func newMatcher(ranges []Range) *matcher {
	m := &matcher{ranges: mergeRanges(ranges)}
	if len(m.ranges) > 0 {
		m.shared = sharedPrefix(m.ranges[0].From, m.ranges[len(m.ranges)-1])
	}
	return m
}

// sharedPrefix returns the longest common prefix of all keys from first up to last.To.
func sharedPrefix(first string, last Range) string {
	if last.To == "" {
		return ""
	}
	n := 0
	for n < len(first) && n < len(last.To) && first[n] == last.To[n] {
		n++
	}
	// Keys below "ab0" may still start with "ab/". Include that last byte only if the upper bound is exactly
	// the end of the prefix.
	if n < len(first) && n == len(last.To)-1 && first[n]+1 == last.To[n] {
		n++
	}
	return first[:n]
}

func (m *matcher) match(key []byte) bool {
	if len(m.ranges) == 0 || len(key) < len(m.shared) || string(key[:len(m.shared)]) != m.shared {
		return false
	}
	if m.ranges[m.last].Contains(key) {
		return true
	}
	i := sort.Search(len(m.ranges), func(i int) bool { return m.ranges[i].From > string(key) }) - 1
	if i < 0 || !m.ranges[i].Contains(key) {
		return false
	}
	m.last = i
	return true
}

// clone returns a copy for another goroutine, because match is not safe for concurrent use.
func (m *matcher) clone() *matcher {
	c := *m
	return &c
}

// checkRanges returns an error if ranges are not sorted or overlap, as Scan requires.
func checkRanges(ranges []Range) error {
	for i := 1; i < len(ranges); i++ {
		if prev := ranges[i-1]; prev.To == "" || strings.Compare(prev.To, ranges[i].From) > 0 {
			return fmt.Errorf("scan: %s overlaps %s", ranges[i], prev)
		}
	}
	return nil
}

package main

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"kitescope/tools/e2e/lab"
)

// Sum is the sum of the phases of a kind of request of a collection, and the client's measurement.
type Sum struct {
	SumMS       float64 `json:"sum_ms"` // of the phases without subphases, including "unexplained"
	Unexplained float64 `json:"unexplained_ms"`
	Largest     string  `json:"largest"` // phase with the largest time
	LargestMS   float64 `json:"largest_ms"`
	ClientMS    float64 `json:"client_ms"`
}

// RelativeError returns the error of the sum relative to the client's mean.
func (s *Sum) RelativeError() float64 { return math.Abs(s.SumMS-s.ClientMS) / s.ClientMS }

// Share returns the unexplained share of the client's mean.
func (s *Sum) Share() float64 { return s.Unexplained / s.ClientMS }

// add sums the phases of a request of a collection. It returns false if there are none.
func add(items []Item, collection, request string, clientMS float64) (Sum, bool) {
	mine := slices.DeleteFunc(slices.Clone(items), func(i Item) bool {
		return i.Request != request || !sameCollection(i.Collection, collection) || i.MeanMS == nil || !isAll(i.Node)
	})
	if len(mine) == 0 {
		// A cluster with one collection may report only the phases of all collections together.
		mine = slices.DeleteFunc(slices.Clone(items), func(i Item) bool {
			return i.Request != request || i.Collection != "" || i.MeanMS == nil || !isAll(i.Node)
		})
	}
	parents := map[string]bool{}
	for _, i := range mine {
		parents[i.Parent] = true
	}
	s := Sum{ClientMS: clientMS}
	for _, i := range mine {
		if parents[i.Phase] {
			continue
		}
		s.SumMS += *i.MeanMS
		if i.Phase == "unexplained" {
			s.Unexplained += *i.MeanMS
		}
		if *i.MeanMS > s.LargestMS {
			s.Largest, s.LargestMS = i.Phase, *i.MeanMS
		}
	}
	return s, len(mine) > 0
}

func sameCollection(path, name string) bool { return path == name || strings.HasSuffix(path, "/"+name) }

// isAll reports whether a row is for all nodes together. The other rows are details.
func isAll(node any) bool {
	switch n := node.(type) {
	case nil:
		return true
	case float64:
		return n == 0
	case string:
		return n == "" || n == "0"
	}
	return false
}

// verdictOn returns the item that the verdict on a request of a collection is about: the one whose message the
// verdict repeats, or else the first.
func verdictOn(verdicts []Verdict, collection, request string) *Verdict {
	var summed *Verdict
	for i := range verdicts {
		v := &verdicts[i]
		if v.Request != request && v.Request != "" || v.Collection != "" && !sameCollection(v.Collection, collection) {
			continue
		}
		if v.isOwnFinding() {
			return v
		}
		if summed == nil {
			summed = v
		}
	}
	return summed
}

// isOwnFinding reports whether the verdict is the item's own finding.
func (v *Verdict) isOwnFinding() bool {
	return v.Finding != "" && (v.Message == "" || strings.HasPrefix(v.Verdict, v.Message))
}

// missed returns the reason why the first verdict is not the expected one, or "" if it is.
func (w *Want) missed(v *Verdict, names map[string][]string) string {
	if v == nil {
		if w.Nothing {
			return ""
		}
		return "no output"
	}
	if w.Nothing {
		if v.isOwnFinding() {
			return "finding " + v.Finding + ", although nothing is wrong"
		}
		return ""
	}
	if slices.Contains(w.Never, v.Phase) || len(w.Phases) > 0 && !slices.Contains(w.Phases, v.Phase) {
		return "names phase " + cmp.Or(v.Phase, "(none)") + " first"
	}
	text := strings.ToLower(strings.Join([]string{v.Verdict, v.Finding, v.Object, v.Message, v.Hint}, "\n"))
	for _, words := range w.Words {
		words = resolve(words, names)
		if !lab.Mentions(text, words) {
			return "names none of " + strings.Join(words, ", ")
		}
	}
	return ""
}

// resolve replaces each @process by the names of the process.
func resolve(words []string, names map[string][]string) []string {
	var all []string
	for _, w := range words {
		if process, ok := strings.CutPrefix(w, "@"); ok {
			all = append(all, names[process]...)
			continue
		}
		all = append(all, w)
	}
	return all
}

// gainOff returns the distance from the measured gain to the predicted interval, relative to the gain. Both
// are in ms. It is 0 inside the interval and infinite if nothing was gained. It returns false without a
// prediction.
func gainOff(low, high *float64, measured float64) (float64, bool) {
	switch {
	case low == nil || high == nil:
		return 0, false
	case measured <= 0:
		return math.Inf(1), true
	case measured < *low:
		return (*low - measured) / measured, true
	case measured > *high:
		return (measured - *high) / measured, true
	}
	return 0, true
}

// minGainShare is the share of a request's time below which a gain counts as nothing.
const minGainShare = 0.05

// middleOff is like gainOff for the middle of the interval, because a wide interval proves nothing. It
// returns 0 if the gain and the middle are both little of mean, the request's time in ms.
func middleOff(low, high *float64, measured, mean float64) (float64, bool) {
	switch {
	case low == nil || high == nil:
		return 0, false
	case measured <= minGainShare*mean && (*low+*high)/2 <= minGainShare*mean:
		return 0, true
	case measured <= 0:
		return math.Inf(1), true
	}
	return math.Abs((*low+*high)/2-measured) / measured, true
}

func median(all []float64) float64 {
	if len(all) == 0 {
		return math.NaN()
	}
	all = slices.Sorted(slices.Values(all))
	return (all[(len(all)-1)/2] + all[len(all)/2]) / 2
}

package main

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"time"
)

// kinds are the kinds of requests that the client sends.
var kinds = []string{"search", "query", "insert", "upsert", "delete", "flush", "ddl", "load"}

// request is one that the client sent: pending as long as it has no Took.
type request struct {
	N       int      `json:"n"`
	Kind    string   `json:"kind"`
	Began   float64  `json:"began"` // seconds since the epoch
	Took    *float64 `json:"took"`
	Failure string   `json:"way"` // how it ended, if not well: failed, refused, hanging
	Error   string   `json:"error"`
}

// readRequests reads what the client wrote: a line when a request is sent, another when it ends.
func readRequests(file string) []request {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil
	}
	at := map[int]int{}
	var all []request
	for line := range strings.Lines(string(text)) {
		var r request
		if json.Unmarshal([]byte(line), &r) != nil {
			continue // the last one is being written
		}
		if i, there := at[r.N]; there {
			all[i] = r
			continue
		}
		at[r.N] = len(all)
		all = append(all, r)
	}
	return all
}

// end returns when a request ended, or now.
func (r *request) end(now float64) float64 {
	if r.Took == nil {
		return now
	}
	return r.Began + *r.Took
}

// Baseline is how long requests of a kind took while all was well, in seconds.
type Baseline struct {
	P50 float64 `json:"p50"`
	P95 float64 `json:"p95"`
	N   int     `json:"n"`
}

// limit returns from how many seconds on a request is slow.
func (p Baseline) limit() float64 { return max(3*p.P95, p.P95+0.05) }

// baseline sums up the requests that ended in a span of time, by kind, and counts those that did not end well.
func baseline(all []request, from, to time.Time) (by map[string]Baseline, bad int) {
	times := map[string][]float64{}
	for i := range all {
		r := &all[i]
		if end := r.end(0); r.Took == nil || end < unix(from) || end >= unix(to) {
			continue
		}
		if r.Failure != "" {
			bad++
			continue
		}
		times[r.Kind] = append(times[r.Kind], *r.Took)
	}
	by = map[string]Baseline{}
	for kind, t := range times {
		slices.Sort(t)
		by[kind] = Baseline{P50: quantile(t, 0.5), P95: quantile(t, 0.95), N: len(t)}
	}
	return by, bad
}

// quantile returns the smallest value that a share of sorted values does not exceed.
func quantile(sorted []float64, share float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	at := int(share * float64(len(sorted)))
	if float64(at) == share*float64(len(sorted)) {
		at--
	}
	return sorted[min(max(at, 0), len(sorted)-1)]
}

func unix(t time.Time) float64 { return float64(t.UnixMicro()) / 1e6 }

// Symptom is what the client felt of one kind of request.
type Symptom struct {
	Kind     string   `json:"kind"`
	Failures []string `json:"ways"`
	Since    float64  `json:"since"` // seconds after the injection
	Bad      int      `json:"bad"`   // of those that ended or were pending since then
	Total    int      `json:"of"`
	P95      float64  `json:"p95"`
	Baseline float64  `json:"past_p95"`
	Error    string   `json:"error,omitempty"`
	Ended    bool     `json:"over,omitempty"` // no request was bad any more while diagnose looked
}

// window is how long something has to go on to be felt.
const window = 10

// symptomsOf returns the kinds of requests of which failures, or a p95 above three times its past, went on for ten
// seconds between two times. A request counts from the moment on at which it is slow, or at its failure.
func symptomsOf(all []request, by map[string]Baseline, from, to time.Time) []Symptom {
	var felt []Symptom
	for _, kind := range kinds {
		limit, begin, now := by[kind].limit(), unix(from), unix(to)
		var spans []span
		for i := range all {
			if r := &all[i]; r.Kind == kind && r.end(now) >= begin && r.Began <= now {
				spans = append(spans, spanOf(r, limit, begin, now))
			}
		}
		for t := begin + window; t <= now; t++ {
			if since, there := badIn(spans, t-window, t); there {
				felt = append(felt, sum(kind, spans, since, begin, by[kind]))
				break
			}
		}
	}
	return felt
}

// markEnded marks the kinds of which no request was bad between two times, shortly before and until the end of a look.
func markEnded(felt []Symptom, all []request, by map[string]Baseline, from, to time.Time) {
	for i := range felt {
		f := &felt[i]
		f.Ended = !slices.ContainsFunc(all, func(r request) bool {
			if r.Kind != f.Kind || r.Began > unix(to) {
				return false
			}
			s := spanOf(&r, by[f.Kind].limit(), unix(from), unix(to))
			return s.failure != "" && s.bad <= unix(to) && s.end >= unix(from)
		})
	}
}

// span is a request while it is pending, and from when on it is bad.
type span struct {
	*request
	end, bad float64
	failure  string // "" if it is well
}

func spanOf(r *request, limit, begin, now float64) span {
	s := span{request: r, end: r.end(now), failure: r.Failure}
	s.bad = min(r.Began+limit, s.end)
	switch {
	case s.failure != "":
	case r.Took == nil && now-r.Began > max(limit, window):
		s.failure = "hanging"
	case s.end-r.Began > limit:
		s.failure = "slow"
	}
	if s.bad < begin {
		s.bad = begin
	}
	return s
}

// minSlow is how many requests have to be slow where none fails or hangs: of less than twenty the 95th percentile is
// the slowest one.
const minSlow = 3

// badIn reports whether more than a twentieth of the requests of ten seconds were bad, and since when. Some have to be
// bad in each half, of frequent kinds in each part in which ten requests are: a machine that stands still for a moment
// makes some late, too.
func badIn(spans []span, from, to float64) (since float64, there bool) {
	bad, slow, of := 0, 0, 0
	since = to
	for _, s := range spans {
		if s.end < from || s.Began > to {
			continue
		}
		if of++; s.failure != "" && s.bad <= to {
			bad, since = bad+1, min(since, max(s.bad, from))
			if s.failure == "slow" {
				slow++
			}
		}
	}
	parts := min(5, max(2, of/10))
	for i := range parts {
		begin, end := from+(to-from)*float64(i)/float64(parts), from+(to-from)*float64(i+1)/float64(parts)
		if !slices.ContainsFunc(spans, func(s span) bool { return s.failure != "" && s.bad <= end && s.end >= begin }) {
			return since, false
		}
	}
	return since, float64(bad) > 0.05*float64(of) && (bad > slow || slow >= minSlow)
}

func sum(kind string, spans []span, since, begin float64, p Baseline) Symptom {
	f := Symptom{Kind: kind, Since: round1(since - begin), Baseline: p.P95}
	var times []float64
	for _, s := range spans {
		if s.end < since {
			continue
		}
		f.Total++
		times = append(times, s.end-s.Began)
		if s.failure == "" {
			continue
		}
		f.Bad++
		ways := []string{s.failure}
		if s.failure == "failed" && s.end-s.Began > window/2 {
			ways = append(ways, "hanging") // which it was for whoever looked before it failed
		}
		for _, way := range ways {
			if !slices.Contains(f.Failures, way) {
				f.Failures = append(f.Failures, way)
			}
		}
		if f.Error == "" {
			f.Error = s.Error
		}
	}
	slices.Sort(times)
	f.P95 = quantile(times, 0.95)
	return f
}

func round1(x float64) float64 { return float64(int(x*10+0.5)) / 10 }

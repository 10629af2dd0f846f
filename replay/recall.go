package replay

import (
	"math"
	"math/rand/v2"
	"slices"

	"kitescope/engine"
	"kitescope/replay/load"
)

// tieTolerance is the relative difference up to which two distances count as equal. Two programs may add floats in
// another order, which changes the last bits.
const tieTolerance = 1e-6

// resamples is the number of bootstrap samples for the interval of a mean.
const resamples = 500

// RecallOf computes the recall of answers over all requests that have both an answer and a truth. The first K true
// keys of each vector count, or all if there are fewer, e.g. because of a filter. A hit on another key is correct
// as well if its distance is at most that of the last true key, within one part in a million: the choice between
// equally near keys is arbitrary. If the truth has no distances, only keys count, and only as many hits as the
// truth has: a truth of ten keys gives the recall at ten for any K. The interval is a 95% bootstrap over vectors.
// It is deterministic. WorstQuery is a request number. RecallOf returns nil if nothing can be compared.
func RecallOf(requests []*load.Request, got, truth *Answers, metric engine.Metric) *Recall {
	r := &Recall{Against: truth.From, Worst: 2}
	var shares []float64
	sign := float64(1)
	if metric.Similarity() {
		sign = -1
	}
	seen := map[engine.Key]bool{}
	for _, q := range requests {
		answered, known := got.Hits[q.Number]
		want := truth.Hits[q.Number]
		if !known {
			continue
		}
		for i := range min(len(answered), len(want)) {
			right := want[i][:min(q.K, len(want[i]))]
			if len(right) == 0 {
				continue
			}
			hits, k := answered[i], q.K
			if truth.KeysOnly {
				k = len(right)
				hits = hits[:min(k, len(hits))]
			}
			share := shareOf(hits, right, truth.KeysOnly, sign, seen)
			shares = append(shares, share)
			r.K = max(r.K, k)
			if share < r.Worst {
				r.Worst, r.WorstQuery = share, q.Number
			}
		}
	}
	if len(shares) == 0 {
		return nil
	}
	r.Queries = len(shares)
	r.Mean = mean(shares)
	r.Low, r.High = bootstrap(shares)
	return r
}

// shareOf returns the share of the right hits that are in one vector's answer.
func shareOf(answered, right []load.Hit, keysOnly bool, sign float64, seen map[engine.Key]bool) float64 {
	clear(seen)
	for _, h := range right {
		seen[h.Key] = true
	}
	last := sign * float64(right[len(right)-1].Distance)
	last += math.Abs(last) * tieTolerance
	n := 0
	for _, h := range answered {
		of, known := seen[h.Key]
		switch {
		case known && of:
			n++
			seen[h.Key] = false // a key counts once
		case !known && !keysOnly && sign*float64(h.Distance) <= last:
			n++
			seen[h.Key] = false
		}
	}
	return float64(min(n, len(right))) / float64(len(right))
}

func mean(list []float64) float64 {
	sum := 0.0
	for _, x := range list {
		sum += x
	}
	return sum / float64(len(list))
}

// bootstrap returns the 2.5% and 97.5% percentiles of the means of resampled lists (Efron, "Bootstrap methods",
// Annals of Statistics 7, 1979). It uses its own generator with a fixed seed.
func bootstrap(list []float64) (low, high float64) {
	if slices.Min(list) == slices.Max(list) {
		return list[0], list[0]
	}
	draw := rand.New(rand.NewPCG(1, 2))
	means := make([]float64, resamples)
	for i := range means {
		sum := 0.0
		for range list {
			sum += list[draw.IntN(len(list))]
		}
		means[i] = sum / float64(len(list))
	}
	slices.Sort(means)
	return means[resamples*25/1000], means[resamples*975/1000]
}

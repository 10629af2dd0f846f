package replay

import (
	"math"
	"math/rand/v2"
	"slices"

	"kitescope/engine"
	"kitescope/replay/load"
)

// tieWithin is how far, relative, distances of the same rows may lie apart in two programs: the order in which floats are added
// changes the last bits.
const tieWithin = 1e-6

// resamples is how many times queries are drawn again for the interval of a mean.
const resamples = 500

// RecallOf counts how many of the true nearest keys were answered, over all requests that both know. Of each vector the first K of the truth
// count, or as many as there are (a filter leaves few). A key that is not among them is right all the same if its distance is not
// greater than that of the last of them, but for one part in a million: it is as near, and which of equally near ones is answered is
// chance. Where the truth has no distances only keys count, and of an answer only as many hits as the truth has: the recall at ten of a
// truth of ten, however many were asked for. The interval is a bootstrap over vectors, 95%, always the same for the
// same answers. WorstQuery is the request's number. nil if nothing can be compared.
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

// shareOf is how many of the right hits were answered, of one vector.
func shareOf(answered, right []load.Hit, keysOnly bool, sign float64, seen map[engine.Key]bool) float64 {
	clear(seen)
	for _, h := range right {
		seen[h.Key] = true
	}
	last := sign * float64(right[len(right)-1].Distance)
	last += math.Abs(last) * tieWithin
	n := 0
	for _, h := range answered {
		of, known := seen[h.Key]
		switch {
		case known && of:
			n++
			seen[h.Key] = false // no key counts twice
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

// bootstrap bounds the mean: the percentiles of the means of samples that are drawn again from the list (Efron, "Bootstrap methods", Annals of
// Statistics 7, 1979), with a generator of its own that starts at the same place.
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

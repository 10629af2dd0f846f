package load

// tally is what one session, or all, counted in a round.
type tally struct {
	asked, failed, tail, late    int64
	queries, answered, distances int64 // queries within the round, answered at all
	latency, fails               Histogram
	server, wire, waited         Histogram
}

func (t *tally) any() bool { return t.asked > 0 || t.late > 0 }

func (t *tally) histograms() [5]*Histogram {
	return [...]*Histogram{&t.latency, &t.fails, &t.server, &t.wire, &t.waited}
}

func (t *tally) counts() [7]*int64 {
	return [...]*int64{&t.asked, &t.failed, &t.tail, &t.late, &t.queries, &t.answered, &t.distances}
}

func (t *tally) merge(other *tally) {
	for i, n := range t.counts() {
		*n += *other.counts()[i]
	}
	for i, h := range t.histograms() {
		h.Merge(other.histograms()[i])
	}
}

func (t *tally) reset() {
	for _, n := range t.counts() {
		*n = 0
	}
	for _, h := range t.histograms() {
		h.Reset()
	}
}

// queries is how many vectors a request asks for; one that is not told counts as one.
func (r *Request) queries() int64 {
	if r.Vectors == nil {
		return 1
	}
	return int64(max(1, r.Vectors.Rows))
}

package segmenttest

import (
	"fmt"

	"kitescope/engine"
	"kitescope/engine/segment"
)

// Searcher answers queries over segments of a collection, one at a time. Each goroutine needs its own Searcher.
type Searcher struct {
	probes  []*segment.Probe
	reducer *segment.Reducer

	hits   []engine.Hit
	found  []segment.Hit
	lists  [][]segment.Hit // parts of found, one for each segment
	merged []segment.Hit
}

// NewSearcher returns a searcher over segments, which must have the same metric.
func NewSearcher(segments []*segment.Segment, o segment.Options) (*Searcher, error) {
	s := &Searcher{probes: make([]*segment.Probe, len(segments)), lists: make([][]segment.Hit, len(segments))}
	var metric engine.Metric
	for i, g := range segments {
		if i > 0 && g.Metric != metric {
			return nil, fmt.Errorf("segments %d and %d have different metrics", segments[0].ID, g.ID)
		}
		metric = g.Metric
		p, err := segment.NewProbe(g, o)
		if err != nil {
			return nil, err
		}
		s.probes[i] = p
	}
	s.reducer = segment.NewReducer(metric)
	return s, nil
}

// Search returns the K nearest rows of all segments, nearest first, ties by primary key, without duplicates. It
// also returns the cost of each segment. The hits are valid until the next call.
func (s *Searcher) Search(query []byte, p segment.Params) ([]segment.Hit, []segment.Cost, error) {
	s.found = s.found[:0]
	costs := make([]segment.Cost, len(s.probes))
	for i, probe := range s.probes {
		first := len(s.found)
		var err error
		if s.hits, costs[i], err = probe.Search(query, p, nil, s.hits[:0]); err != nil {
			return nil, nil, err
		}
		s.found = probe.Hits(s.hits, s.found)
		s.lists[i] = s.found[first:]
	}
	s.merged = s.reducer.Reduce(s.lists, p.K, s.merged[:0])
	return s.merged, costs, nil
}

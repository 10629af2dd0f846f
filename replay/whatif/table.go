package whatif

import (
	"context"
	"fmt"
	"regexp"
	"strconv"

	"kitescope/engine/segment"
	"kitescope/replay"
)

// table is all that was measured for one prediction: each segment once for each set of parameters, so that what two clusters have in
// common costs both the same.
type table struct {
	artifacts *artifacts
	known     map[string]Measured
	exact     *kept // row by row; for recall
	sample    *asked
}

func newTable(loaded *replay.Loaded, a *asked, limits Limits, step func(string)) *table {
	a.filters = newFilters(loaded, a.requests)
	base := map[int64]*segment.Segment{}
	for _, p := range loaded.Parts {
		base[p.Info.ID] = p.Data
	}
	return &table{
		artifacts: newArtifacts(loaded.Layout, base, optionsOf(loaded.Layout.Version), limits, step), known: map[string]Measured{}, sample: a,
	}
}

var release = regexp.MustCompile(`^v?(\d{1,4})\.(\d{1,4})`)

// optionsOf are those of a Milvus version; of an unknown one those of the newest.
func optionsOf(version string) segment.Options {
	if major, minor, ok := releaseOf(version); ok {
		return segment.Milvus(major, minor)
	}
	return segment.Milvus(2, 6)
}

// releaseOf is the major and minor number of a version.
func releaseOf(version string) (major, minor int, ok bool) {
	m := release.FindStringSubmatch(version)
	if m == nil {
		return 0, 0, false
	}
	major, _ = strconv.Atoi(m[1])
	minor, _ = strconv.Atoi(m[2])
	return major, minor, true
}

// key names what is measured: row by row, ef does not matter.
func (t *table) key(p *piece, a *asked) string {
	if p.State != replay.Indexed {
		return p.signature
	}
	return fmt.Sprintf("ef %d nprobe %d %s", a.params.EF, a.params.NProbe, p.signature)
}

// measure searches the pieces that are here, equal ones once, and returns the recall; -1 if not all rows are here.
func (t *table) measure(ctx context.Context, pieces []*piece, a *asked) (float64, error) {
	var list []*subject
	var keys []string
	seen := map[string]bool{}
	whole, news := true, false
	for _, p := range pieces {
		k := t.key(p, a)
		if p.real == nil || p.copied {
			whole = false
		}
		if p.real == nil || seen[k] {
			continue
		}
		seen[k] = true
		_, known := t.known[k]
		news = news || !known
		list = append(list, t.artifacts.subject(p))
		keys = append(keys, k)
	}
	if len(list) == 0 {
		return -1, nil
	}
	rounds := t.artifacts.limits.Rounds
	if !news {
		rounds = 1 // for recall alone
	}
	t.artifacts.step(fmt.Sprintf("measure %d segments with %d queries", len(list), len(a.requests)))
	var keep *kept
	if whole {
		keep = newKept(a, isSimilarity(list[0].real.Metric))
	}
	if err := bench(ctx, list, a, t.artifacts.options, rounds, keep); err != nil {
		return -1, err
	}
	for i, s := range list {
		if _, known := t.known[keys[i]]; !known {
			t.known[keys[i]] = s.measured()
		}
	}
	if !whole {
		return -1, nil
	}
	exact, err := t.truth(ctx)
	if err != nil {
		return -1, err
	}
	return recall(keep, exact), nil
}

// truth compares the queries with all rows that are loaded, once.
func (t *table) truth(ctx context.Context) (*kept, error) {
	if t.exact != nil {
		return t.exact, nil
	}
	t.artifacts.step("compare with all rows")
	var list []*subject
	for _, s := range t.artifacts.largest(len(t.artifacts.base)) {
		list = append(list, firstRows(s, true))
	}
	exact := newKept(t.sample, isSimilarity(list[0].real.Metric))
	if err := bench(ctx, list, t.sample, t.artifacts.options, 1, exact); err != nil {
		return nil, err
	}
	t.exact = exact
	return exact, nil
}

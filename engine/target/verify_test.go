package target

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"kitescope/engine"
	"kitescope/engine/dist"
	"kitescope/engine/hnsw"
	"kitescope/engine/index"
)

func verifyPlan() VerifyPlan { return VerifyPlan{MaxUnreachable: 0.01} }

// outcomes returns "name" for each failed check and "name?" for each skipped check.
func outcomes(v *Verification) (list []string) {
	for _, c := range v.Checks {
		if c.Outcome != Passed {
			list = append(list, c.Name+map[Outcome]string{Skipped: "?"}[c.Outcome])
		}
	}
	return list
}

// TestVerifyFaults checks that each check can fail, and that a single fault fails a single check.
func TestVerifyFaults(t *testing.T) {
	const rows, dim = 200, 8
	v := random(t, rows, dim)
	labels := func(of func(i int) int64) []int64 {
		l := make([]int64, rows)
		for i := range l {
			l[i] = of(i)
		}
		return l
	}
	other := random(t, rows, dim)
	other.Float32(17)[3]++
	for name, c := range map[string]struct {
		break1  func(x *hnsw.Index)
		vectors *engine.Vectors
		plan    func(p *VerifyPlan)
		want    []string
		detail  string
	}{
		"nothing": {},
		"another row": {
			vectors: other, want: []string{"stored vectors"}, detail: "1 of 200 differ, the first is row 17",
		},
		"too few": {
			vectors: random(t, rows-1, dim), want: []string{"rows", "ids"},
			detail: "1 ids without a vector, 0 duplicate ids, 0 vectors without a row",
		},
		"too many": {
			vectors: random(t, rows+2, dim), want: []string{"rows", "ids"}, detail: "2 vectors without a row",
		},
		"dimension": {vectors: random(t, rows, dim+1), want: []string{"dimension", "stored vectors?"}},
		"a link to itself": {
			break1: func(x *hnsw.Index) { x.Base[5*x.M0] = 5 }, want: []string{"links"}, detail: "1 to itself",
		},
		"no links": {
			break1: func(x *hnsw.Index) {
				for i := range x.Base {
					x.Base[i] |= hnsw.End
				}
			},
			want: []string{"connected"},
		},
		"entry on a low level": {
			break1: func(x *hnsw.Index) { x.Entry = uint32(slices.Index(x.Levels, 0)) },
			want:   []string{"levels"}, detail: "entry",
		},
		"a missing id": {
			break1: func(x *hnsw.Index) {
				x.Labels = labels(func(i int) int64 { return int64(i) })
				x.Labels[9] = 5000
			},
			want: []string{"ids"}, detail: "1 ids without a vector",
		},
		"an id twice": {
			break1: func(x *hnsw.Index) { x.Labels = labels(func(i int) int64 { return int64(i) }); x.Labels[9] = 8 },
			want:   []string{"ids"}, detail: "1 duplicate ids, 1 vectors without",
		},
		"two swapped": {break1: func(x *hnsw.Index) {
			x.Labels = labels(func(i int) int64 { return int64(i) })
			x.Labels[9], x.Labels[8] = 8, 9
		}, want: []string{"stored vectors"}, detail: "2 of 200 differ, the first is row 8"},
		"ids of its own": {
			break1: func(x *hnsw.Index) { x.Labels = labels(func(i int) int64 { return int64(1000 + i) }) },
			want:   []string{"ids", "stored vectors?"},
		},
		"ids of its own, named": {
			break1: func(x *hnsw.Index) { x.Labels = labels(func(i int) int64 { return int64(3*i - 50) }) },
			plan:   func(p *VerifyPlan) { p.IDs = labels(func(i int) int64 { return int64(3*i - 50) }) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			x := built(t, v, dist.L2)
			if c.break1 != nil {
				c.break1(index.As[hnsw.Index](x.File))
			}
			vectors, plan := v, verifyPlan()
			if c.vectors != nil {
				vectors = c.vectors
			}
			if c.plan != nil {
				c.plan(&plan)
			}
			got, err := x.Verify(t.Context(), vectors, plan)
			if err != nil {
				t.Fatal(err)
			}
			if list := outcomes(got); !slices.Equal(list, c.want) {
				t.Errorf("%q failed, want %q: %+v", list, c.want, got.Checks)
			}
			failed := slices.ContainsFunc(c.want, func(s string) bool { return !strings.HasSuffix(s, "?") })
			if got.OK() == failed {
				t.Errorf("it is said to be sound: %v", got.OK())
			}
			if c.detail != "" &&
				!slices.ContainsFunc(got.Checks, func(k Check) bool {
					return k.Outcome == Failed && strings.Contains(k.Detail, c.detail)
				}) {
				t.Errorf("%q is not said: %+v", c.detail, got.Checks)
			}
		})
	}
}

func TestVerifyOfOtherIndexes(t *testing.T) {
	v := random(t, 150, 6)
	cosine := built(t, v, dist.Cosine)
	as := *cosine.File
	as.Metric = dist.L2
	lists, err := Open(t.Context(), milvusIVF, Hint{})
	if err != nil {
		t.Fatal(err)
	}
	defer lists.Close()
	raw, err := engine.NewVectors(dist.Float32, 16, 3000)
	if err != nil {
		t.Fatal(err)
	}
	lists.eachStored(func(s storedRow) { copy(raw.Row(int(s.id)), s.row) })
	for name, c := range map[string]struct {
		t       *Target
		vectors *engine.Vectors
		plan    VerifyPlan
		want    []string
	}{
		"unit vectors of hnswlib":              {cosine, v, verifyPlan(), nil},
		"unit vectors, the metric is not said": {&Target{File: &as}, v, verifyPlan(), []string{"stored vectors"}},
		"rows": {
			openedAs(t, written(t, v), dist.L2), v, verifyPlan(), []string{"links?"},
		},
		"lists": {lists, raw, verifyPlan(), []string{"links?"}},
	} {
		got, err := c.t.Verify(t.Context(), c.vectors, c.plan)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if list := outcomes(got); !slices.Equal(list, c.want) {
			t.Errorf("%s: %q failed, want %q: %+v", name, list, c.want, got.Checks)
		}
	}
	plan := verifyPlan()
	plan.IDs = []int64{1}
	if _, err := cosine.Verify(t.Context(), v, plan); err == nil {
		t.Error("one id for 150 vectors was taken")
	}
	plan.IDs = make([]int64, v.Rows)
	if _, err := cosine.Verify(t.Context(), v, plan); err == nil ||
		!strings.Contains(err.Error(), "id 0 is duplicated") {
		t.Errorf("the same id for all vectors: %v", err)
	}
	done, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := cosine.Verify(done, v, verifyPlan()); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

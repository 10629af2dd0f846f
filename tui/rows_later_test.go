package tui

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kitescope/inspect/model/modeltest"
	"kitescope/inspect/view"
	"kitescope/internal/table"
)

// As time goes by rows stay what they are, found once, but for those that an age decides about; each cell is of the later moment.
func TestLater(t *testing.T) {
	r := resourceNamed(t, "segments")
	large := modeltest.Large(2 * compareLimit)
	for _, c := range []struct {
		where, filter, sort string
		small, kept         bool // of few rows; what was found is used again
	}{
		{kept: true},
		{sort: "-rows", kept: true},
		{where: "state=growing", sort: "collection", kept: true},
		{filter: "rows>50000", kept: true},
		{filter: "collection_0", kept: true},
		{filter: "re:^collection_0", kept: true},
		{filter: "collection_0", small: true},
		{filter: "!age>100m"},
		{where: "age>100m"},
		{where: "created_at<-100m"},
		{sort: "age"},
		{sort: "-rows,age"},
	} {
		cluster := large
		if c.small {
			cluster = modeltest.Large(500)
		}
		q := rowQuery{Env: view.NewEnv(cluster, modeltest.Now), Resource: r, Columns: r.ColumnsFor(table.Always, 0)}
		var err error
		if c.where != "" {
			if q.Where, err = view.ParseSelection(r, []string{c.where}); err != nil {
				t.Fatal(err)
			}
		}
		if q.Filter, err = parseRowFilter(r, c.filter); err != nil {
			t.Fatal(err)
		}
		if c.sort != "" {
			if q.Order, err = r.ParseSort([]string{c.sort}); err != nil {
				t.Fatal(err)
			}
		}
		before := q.Run()
		q.Env = view.NewEnv(cluster, modeltest.Now.Add(2*time.Hour))
		want := q.Run()
		q.Keep, q.Later = before, true
		got := q.Run()
		if got.Table.Env().Now != q.Env.Now {
			t.Errorf("%+v: the cells are of %v", c, got.Table.Env().Now)
		}
		if diff := cmp.Diff(rowsOf(&want), rowsOf(&got)); diff != "" {
			t.Errorf("%+v: other rows than anew (-anew +later):\n%.500s", c, diff)
		}
		if kept := q.timeless(); kept != c.kept {
			t.Errorf("%+v: what was found is used again: %v", c, kept)
		}
	}
}

func rowsOf(r *gridRows) []int {
	list := make([]int, r.Count())
	for i := range list {
		list[i] = r.Row(i)
	}
	return list
}

package view

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"kitescope/inspect/model/modeltest"
	"kitescope/internal/table"
)

// TestNewRows checks NewRows against a comparison of all rows, over random updates and for several queries.
func TestNewRows(t *testing.T) {
	random := rand.New(rand.NewPCG(21, 22))
	c := modeltest.ServedLarge(40, 20)
	resource, err := Find("segments")
	if err != nil {
		t.Fatal(err)
	}
	at := modeltest.Now
	young, err := ParseSelection(resource, []string{"age_seconds<6h"})
	if err != nil {
		t.Fatal(err)
	}
	queries := []Query{
		{}, {Sort: []string{"-rows"}, Limit: 150}, {Show: table.Wide}, {Where: young, Sort: []string{"rows"}},
	}
	last := make([]*Grid, len(queries))
	var judged *Judgement
	for step := range 60 {
		p := c.Parts
		p.Segments = slices.Clone(p.Segments)
		for range random.IntN(4) {
			i := random.IntN(len(p.Segments))
			x := *p.Segments[i]
			switch random.IntN(4) {
			case 0:
				p.Segments = slices.Delete(p.Segments, i, i+1)
				continue
			case 1:
				x.ID = p.Segments[len(p.Segments)-1].ID + 1
				p.Segments = append(p.Segments, &x)
				continue
			case 2:
				x.Rows = random.Int64N(400_000)
			default:
				x.StorageVersion++ // not in a default column
			}
			p.Segments[i] = &x
		}
		if step%20 == 19 {
			x := *p.Collections[0]
			x.Name += "x"
			p.Collections = slices.Clone(p.Collections)
			p.Collections[0] = &x
		}
		if step%5 == 4 {
			x := *p.VChannels[0]
			x.Checkpoint.At++
			p.VChannels = slices.Clone(p.VChannels)
			p.VChannels[0] = &x
		}
		if step%7 == 0 { // new findings, always with one about the first segment
			of := func(i int) Finding {
				return Finding{
					Objects:  []Ref{{Resource: "segments", ID: p.Segments[i].ID.String()}},
					Severity: Severity(random.IntN(3)), Check: "node-idle",
				}
			}
			judged = NewJudgement([]Finding{of(0), of(random.IntN(len(p.Segments)))})
		}
		if c = c.Update(p); step == 40 {
			c = c.WithRuntime(nil) // without a runtime there are no live columns
			clear(last)
		}
		at = at.Add(time.Duration(random.IntN(40)) * time.Minute)
		for i, q := range queries {
			now, err := Select(resource.Table(NewEnv(c, at).WithJudgement(judged)), q)
			if err != nil {
				t.Fatal(err)
			}
			if last[i] != nil {
				checkNewRows(t, last[i], now)
			}
			last[i] = now
		}
		if t.Failed() {
			t.Fatalf("step %d", step)
		}
	}
}

func checkNewRows(t *testing.T, before, now *Grid) {
	t.Helper()
	texts := func(g *Grid) map[string]string {
		all := map[string]string{}
		for i := range g.Len() {
			var cells []table.Cell
			for j, column := range g.Columns {
				if g.Table.Resource().Columns[column].Kind != table.Duration {
					cells = append(cells, g.Cell(i, j))
				}
			}
			all[g.Table.Ref(g.Row(i)).ID] = fmt.Sprintf("%+v", cells)
		}
		return all
	}
	old, fresh := texts(before), texts(now)
	var wantChanged, wantLeft, gotChanged []string
	for id, text := range fresh {
		if old[id] != text {
			wantChanged = append(wantChanged, id)
		}
	}
	for id := range old {
		if _, ok := fresh[id]; !ok {
			wantLeft = append(wantLeft, id)
		}
	}
	changed, left := NewRows(before, now, SameRow)
	at := map[int32]int{}
	for i := range now.Len() {
		at[int32(now.Row(i))] = i
	}
	if !slices.IsSortedFunc(changed, func(a, b int32) int { return at[a] - at[b] }) {
		t.Error("rows are not in the order of the list")
	}
	for _, row := range changed {
		gotChanged = append(gotChanged, now.Table.Ref(int(row)).ID)
	}
	slices.Sort(wantChanged)
	slices.Sort(wantLeft)
	slices.Sort(gotChanged)
	if !slices.Equal(gotChanged, wantChanged) || !slices.Equal(left, wantLeft) {
		t.Errorf("changed %v, want %v; left %v, want %v", gotChanged, wantChanged, left, wantLeft)
	}
}

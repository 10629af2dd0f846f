package draw

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestArrange(t *testing.T) {
	id := Track{Natural: 18}
	name := Track{Natural: 70, Priority: 1, Flexible: true}
	rows := Track{Natural: 8, Priority: 2}
	size := Track{Natural: 8, Priority: 3}
	tracks := []Track{id, name, rows, size}
	for _, x := range []struct {
		name      string
		w, offset int
		want      []Placed
	}{
		{"all fit", 200, 0, []Placed{{0, 18}, {1, 70}, {2, 8}, {3, 8}}},
		{"the name shrinks first", 70, 0, []Placed{{0, 18}, {1, 30}, {2, 8}, {3, 8}}},
		{"a little further before another drops", 56, 0, []Placed{{0, 18}, {1, 16}, {2, 8}, {3, 8}}},
		{"then columns drop by priority", 50, 0, []Placed{{0, 18}, {1, 20}, {2, 8}}},
		{"one that fits takes the room of a wider one", 30, 0, []Placed{{0, 18}, {2, 8}}},
		{"and the last that may", 20, 0, []Placed{{0, 18}}},
		{"what must stay is cut where there is no room for it", 12, 0, []Placed{{0, 12}}},
		{"scrolled, the first column stays", 40, 1, []Placed{{0, 18}, {2, 8}, {3, 8}}},
		{"no further than the last column", 40, 9, []Placed{{0, 18}, {3, 8}}},
	} {
		if diff := cmp.Diff(x.want, Arrange(tracks, x.w, x.offset)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", x.name, diff)
		}
	}
}

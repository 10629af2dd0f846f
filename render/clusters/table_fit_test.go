package clusters

import (
	"testing"

	"kitescope/inspect/model/modeltest"
	"kitescope/inspect/view"
	"kitescope/render"
)

// TestDroppedColumnsReset checks that a wider terminal hides no columns and reports none as hidden.
func TestDroppedColumnsReset(t *testing.T) {
	env := view.NewEnv(modeltest.Large(3), modeltest.Now)
	var told render.DroppedColumns
	list(t, env, "segments", render.Options{Width: 40, Dropped: &told})
	if len(told.Hidden) == 0 {
		t.Fatal("nothing is hidden in 40 cells")
	}
	list(t, env, "segments", render.Options{Width: 1000, Dropped: &told})
	if len(told.Hidden) != 0 {
		t.Errorf("in 1,000 cells it still hides %v", told.Hidden)
	}
}

package bench

import "testing"

// TestControlTakesBackChanges: what a program differs from itself by is not called a change of another.
func TestControlTakesBackChanges(t *testing.T) {
	a := column(qps(), HigherIsBetter, times(10, 100, 0.001, 0)...)
	b := column(qps(), HigherIsBetter, times(10, 105, 0.001, 1)...)
	for _, v := range []struct {
		control float64 // what the first program makes the second time
		want    Verdict
	}{
		{100, Better}, {102, Better}, {98, Better}, {105, NoDifference}, {93, NoDifference}, {120, NoDifference},
	} {
		again := column(qps(), HigherIsBetter, times(10, v.control, 0.001, 2)...)
		c := mustCompare(t, a, b, Options{Control: [2]*Set{a, again}})
		if l := c.Lines[0]; l.Verdict != v.want || l.Verdict == NoDifference && l.Remark == "" {
			t.Errorf("control %v: %s, want %v", v.control, summary(&l), v.want)
		}
		if v.want == NoDifference && len(c.Notes) == 0 {
			t.Errorf("control %v: nothing says that the machine is not steady", v.control)
		}
	}
	// A control of which nothing is known takes nothing back.
	few := column(qps(), HigherIsBetter, 105)
	if c := mustCompare(t, a, b, Options{Control: [2]*Set{a, few}}); c.Lines[0].Verdict != Better {
		t.Errorf("a control of one run: %s", summary(&c.Lines[0]))
	}
}

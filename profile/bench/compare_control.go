package bench

import (
	"fmt"
	"math"
)

// compareControl compares the first program with itself.
func (c *Comparison) compareControl(o Options) (err error) {
	if left, right := newSide(o.Control[0]), newSide(o.Control[1]); sameResults(left, right) && left.varies() {
		c.note("control ignored: it is identical to the results, so it shows nothing about the machine")
		return nil
	}
	control := o
	control.Control = [2]*Set{}
	if o.Pairing == ByOrder && len(o.Control[0].Runs) != len(o.Control[1].Runs) {
		control.Pairing = Unpaired // what the user says of the order is about the sides
	}
	if c.Control, err = Compare(o.Control[0], o.Control[1], control); err == nil {
		c.noteControl()
		c.holdAgainstControl()
	}
	return err
}

// noteControl says whether the machine can be trusted.
func (c *Comparison) noteControl() {
	worst := math.NaN()
	var of string
	shown, few := 0, 0
	for i := range c.Control.Lines {
		l := &c.Control.Lines[i]
		switch l.Verdict {
		case Better, Worse, Changed:
			shown++
			if by := math.Abs(l.Ratio - 1); !(by <= worst) {
				worst, of = by, l.Metric.String()
			}
		case TooFew:
			few++
		default:
		}
	}
	switch {
	case shown > 0:
		c.note("the control differs from itself by %s (%s): the machine is not steady, distrust the verdicts", Percent(worst), of)
	case few > 0 && few == len(c.Control.Lines):
		c.note("the control has too few runs to show whether the machine is steady")
	}
}

// holdAgainstControl takes back what was called a change where the program differs from itself by as much.
func (c *Comparison) holdAgainstControl() {
	noise := map[Metric]float64{}
	for i := range c.Control.Lines {
		if l := &c.Control.Lines[i]; l.Verdict.isChange() {
			noise[l.Metric] = math.Abs(l.Ratio - 1)
		}
	}
	for i := range c.Lines {
		l := &c.Lines[i]
		by, differs := noise[l.Metric]
		if least := min(math.Abs(l.Low-1), math.Abs(l.High-1)); differs && l.Verdict.isChange() && !(least > by) {
			l.Verdict, l.Remark = NoDifference, fmt.Sprintf("the control differs from itself by %s: this change may be noise too", Percent(by))
		}
	}
}

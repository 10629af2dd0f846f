package flame

import "regexp"

// Match is what a search found.
type Match struct {
	// Frames says of each frame whether its name matches, and Count how many do.
	Frames []bool
	Count  int
	// Value and Base are what stacks with a match add up to on each side, each stack counted
	// once; Share and BaseShare are these over the totals. What was pruned is not searched.
	Value, Base      int64
	Share, BaseShare float64
}

// Match finds frames by their names. The root never matches.
func (t *Tree) Match(re *regexp.Regexp) *Match {
	names := make([]bool, len(t.Names))
	for i, name := range t.Names {
		names[i] = re.MatchString(name)
	}
	m := &Match{Frames: make([]bool, len(t.Frames))}
	inside := int32(0) // frames before it are below one that was counted
	for i := 1; i < len(t.Frames); i++ {
		f := &t.Frames[i]
		if !names[f.Name] {
			continue
		}
		m.Frames[i] = true
		m.Count++
		if int32(i) >= inside {
			m.Value, m.Base = add(m.Value, f.Total), add(m.Base, f.Base)
			inside = f.Next
		}
	}
	root := t.Root()
	m.Share, m.BaseShare = part(m.Value, root.Total), part(m.Base, root.Base)
	return m
}

// Step is the next frame that matches after one, or before it with back, in the order of Frames
// and around its ends; -1 if none does.
func (m *Match) Step(from int32, back bool) int32 {
	n := int32(len(m.Frames))
	by := int32(1)
	if back {
		by = n - 1
	}
	for i, at := int32(0), from; i < n; i++ {
		if at = (at + by) % n; m.Frames[at] {
			return at
		}
	}
	return -1
}

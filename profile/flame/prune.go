package flame

import "slices"

// Prune returns the Tree with the largest frames, up to maxFrames, each with at least the share minShare of the
// total. New omits frames by the same rule.
func (t *Tree) Prune(maxFrames int, minShare float64) *Tree {
	maxFrames = max(maxFrames, 1)
	shares := make([]float64, len(t.Frames))
	for i := range t.Frames {
		share, base := t.Share(int32(i))
		shares[i] = max(share, base)
	}
	shares[0] = 1
	limit, equal := minShare, len(t.Frames) // how many frames of exactly that share may stay
	if len(t.Frames) > maxFrames {
		sorted := slices.Clone(shares)
		slices.Sort(sorted)
		if at := len(sorted) - maxFrames; sorted[at] >= limit {
			limit = sorted[at]
			above, _ := slices.BinarySearchFunc(sorted, limit, func(s, limit float64) int {
				if s <= limit {
					return -1
				}
				return 1
			})
			equal = maxFrames - (len(sorted) - above)
		}
	}
	out := *t
	out.Frames, out.PValues, out.Verdicts, out.Depth = nil, nil, nil, 0
	out.PrunedMin = 1
	index := make([]int32, len(t.Frames))
	for i := range t.Frames {
		f := t.Frames[i]
		index[i] = -1
		if i > 0 {
			if f.Parent = index[f.Parent]; f.Parent < 0 {
				continue
			}
		}
		if shares[i] == limit {
			equal--
		}
		if shares[i] < limit || shares[i] == limit && equal < 0 {
			out.Pruned++
			continue
		}
		out.PrunedMin = min(out.PrunedMin, shares[i])
		out.Depth = max(out.Depth, int(f.Depth))
		index[i] = int32(len(out.Frames))
		out.Frames = append(out.Frames, f)
		if t.PValues != nil {
			out.PValues, out.Verdicts = append(out.PValues, t.PValues[i]), append(out.Verdicts, t.Verdicts[i])
		}
	}
	if out.Pruned == 0 {
		out.PrunedMin = 0
	}
	out.setEnds()
	return &out
}

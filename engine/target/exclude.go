package target

import (
	"fmt"

	"kitescope/engine"
)

// maxExcluded bounds the ids that IVF lists can exclude, because their filters mark ids.
const maxExcluded = 1 << 31

// Exclude returns a filter of the rows with the given ids, which are ids that a search returns. It returns an error
// with the first id that no row has, or that cannot be excluded.
func (t *Target) Exclude(ids []int64) (*engine.Bitset, error) {
	found := make(map[int64]bool, len(ids))
	for _, id := range ids {
		found[id] = false
	}
	length, row, byID := t.File.Rows, 0, t.File.FiltersIDs()
	var marks []int // lists are filtered by id, everything else by row
	t.eachStored(func(s storedRow) {
		if _, ok := found[s.id]; ok {
			found[s.id] = true
			mark := row
			if byID {
				mark = int(min(s.id, maxExcluded))
				length = max(length, mark+1)
			}
			marks = append(marks, mark)
		}
		row++
	})
	for _, id := range ids {
		switch {
		case !found[id]:
			return nil, fmt.Errorf("no row has the id %d", id)
		case byID && (id < 0 || id >= maxExcluded):
			return nil, fmt.Errorf("id %d cannot be excluded from IVF lists: only 0 to %d can", id, maxExcluded-1)
		}
	}
	b := engine.NewBitset(length)
	for _, mark := range marks {
		b.Set(mark)
	}
	return b, nil
}

package draw

import (
	"cmp"
	"slices"
)

// Track is a column as the layout sees it.
type Track struct {
	Natural  int // width of the widest text, in cells
	Priority int // the highest is dropped first when there is too little room; 0 is never dropped
	Flexible bool
	Soft     int // the width it shrinks to before other columns are dropped; softCap if 0
	// Same means that all rows seen have the same value, so the column is dropped first. Required columns are never
	// dropped.
	Same, Required bool
}

// sameWeight is added to the priority of a column with the same value in every row, so it is dropped before all
// others.
const sameWeight = 1000

// weight returns the drop order of the column: the heaviest is dropped first, 0 never.
func (t *Track) weight() int {
	switch {
	case t.Required:
		return 0
	case t.Same:
		return sameWeight + t.Priority
	}
	return t.Priority
}

// Placed is a visible column and its width in cells.
type Placed struct{ Column, Width int }

// Gap is the number of cells between columns.
const Gap = 2

const (
	// widthCap keeps one long name from filling a wide terminal.
	widthCap = 64
	// softCap is the width that a flexible column shrinks to before other columns are dropped. minWidth is the width
	// it shrinks to when no more columns can be dropped.
	softCap  = 18
	minWidth = 8
	// minRestored is the least width at which a dropped flexible column is restored.
	minRestored = 12
	// maxExtraCut is the number of cells that an already cut column gives up before another column is dropped. A name
	// that is two cells shorter is more useful than a missing size.
	maxExtraCut = 2
)

// Arrange fits columns into w cells. Flexible columns shrink to softCap, then columns are dropped by priority. The
// room left over goes to dropped columns that fit after all, the most important first, and after that to the
// shrunken columns.
//
// If offset > 0, the first column stays and the next offset columns are scrolled out. The others take their natural
// width, as far as there is room.
func Arrange(tracks []Track, w, offset int) []Placed {
	if offset > 0 {
		return arrangeScrolled(tracks, w, offset)
	}
	kept := make([]Placed, len(tracks))
	total := -Gap
	for i, t := range tracks {
		kept[i] = Placed{i, t.softWidth()}
		total += kept[i].Width + Gap
	}
	for total > w {
		drop := lastToKeep(tracks, kept)
		if i := cutMost(tracks, kept); i >= 0 && total-w <= maxExtraCut {
			kept[i].Width -= total - w
			total = w
			break
		}
		if drop < 0 {
			break
		}
		total -= kept[drop].Width + Gap
		kept = append(kept[:drop], kept[drop+1:]...)
	}
	kept, total = refill(tracks, kept, w, total)
	total -= squeeze(tracks, kept, total-w, minWidth)
	if total > w {
		kept, total = shrinkRequired(tracks, kept, w, total)
	}
	distribute(tracks, kept, w-total)
	return kept
}

// softWidth returns the width that the column shrinks to before other columns are dropped.
func (t *Track) softWidth() int {
	if t.Flexible {
		return min(t.Natural, cmp.Or(t.Soft, softCap))
	}
	return min(t.Natural, widthCap)
}

// refill restores dropped columns that fit into the room left over. It cuts flexible ones if necessary.
func refill(tracks []Track, visible []Placed, w, total int) (filled []Placed, used int) {
	for {
		best, width := -1, 0
		for i := range tracks {
			t := &tracks[i]
			room := t.widthIn(w - total - Gap)
			dropped := !slices.ContainsFunc(visible, func(p Placed) bool { return p.Column == i })
			if dropped && room > 0 && (best < 0 || t.weight() < tracks[best].weight()) {
				best, width = i, room
			}
		}
		if best < 0 {
			return visible, total
		}
		at := slices.IndexFunc(visible, func(p Placed) bool { return p.Column > best })
		if at < 0 {
			at = len(visible)
		}
		visible = slices.Insert(visible, at, Placed{best, width})
		total += Gap + width
	}
}

// widthIn returns the width of a dropped column in room cells, or 0 if that is too narrow.
func (t *Track) widthIn(room int) int {
	switch {
	case t.softWidth() <= room:
		return t.softWidth()
	case t.Flexible && room >= minRestored:
		return room
	}
	return 0
}

// cutMost returns the position of the flexible column that is cut the most, or -1 if none is. It never returns the
// first column, because that one identifies the row.
func cutMost(tracks []Track, visible []Placed) int {
	at, most := -1, 0
	for i, p := range visible {
		if cut := tracks[p.Column].Natural - p.Width; p.Column > 0 && tracks[p.Column].Flexible && cut > most {
			at, most = i, cut
		}
	}
	return at
}

// lastToKeep returns the position of the column to drop next, or -1 if all must stay.
func lastToKeep(tracks []Track, visible []Placed) int {
	drop, worst := -1, 0
	for i, p := range visible {
		if w := tracks[p.Column].weight(); w > 0 && w >= worst {
			drop, worst = i, w
		}
	}
	return drop
}

// shrinkRequired is the last resort in terminals that are too narrow for the columns that must stay. It shrinks
// flexible columns to 5 cells, then drops columns from the end.
func shrinkRequired(tracks []Track, visible []Placed, w, total int) (remaining []Placed, used int) {
	const bare = 5
	for {
		total -= squeeze(tracks, visible, total-w, bare)
		if total <= w || len(visible) <= 1 {
			break
		}
		total -= visible[len(visible)-1].Width + Gap
		visible = visible[:len(visible)-1]
	}
	if total > w && len(visible) == 1 {
		visible[0].Width = max(1, w)
		total = visible[0].Width
	}
	return visible, total
}

// squeeze takes up to missing cells from flexible columns, the widest first, and returns the number of cells taken.
func squeeze(tracks []Track, visible []Placed, missing, limit int) (got int) {
	for missing > 0 {
		widest := -1
		for i, p := range visible {
			if tracks[p.Column].Flexible && p.Width > limit && (widest < 0 || p.Width > visible[widest].Width) {
				widest = i
			}
		}
		if widest < 0 {
			break
		}
		visible[widest].Width--
		missing--
		got++
	}
	return got
}

// distribute gives the remaining room to columns that were cut, the narrowest first.
func distribute(tracks []Track, visible []Placed, room int) {
	for ; room > 0; room-- {
		least := -1
		for i, p := range visible {
			if p.Width < min(tracks[p.Column].Natural, 2*widthCap) && (least < 0 || p.Width < visible[least].Width) {
				least = i
			}
		}
		if least < 0 {
			return
		}
		visible[least].Width++
	}
}

func arrangeScrolled(tracks []Track, w, offset int) []Placed {
	if len(tracks) == 0 {
		return nil
	}
	kept := []Placed{{0, min(tracks[0].Natural, softCap)}}
	used := kept[0].Width
	for i := 1 + min(offset, len(tracks)-2); i < len(tracks) && i > 0; i++ {
		room := w - used - Gap
		width := min(tracks[i].Natural, widthCap)
		if width > room {
			if room >= minWidth && tracks[i].Flexible {
				kept = append(kept, Placed{i, room})
			}
			break
		}
		kept = append(kept, Placed{i, width})
		used += Gap + width
	}
	return kept
}

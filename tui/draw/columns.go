package draw

import (
	"cmp"
	"slices"
)

// Track is one column as the layout sees it.
type Track struct {
	Natural  int // cells that the widest text needs
	Priority int // the highest goes first where room is short; 0 stays
	Flexible bool
	Soft     int // what it is cut to before others are dropped; softCap if 0
	// Same says that all rows that were seen have the same, so that it goes first; Kept, that it stays in any case.
	Same, Kept bool
}

// sameWeight puts columns that are the same in every row before all others where one has to go.
const sameWeight = 1000

// weight decides which column goes first: the heaviest; 0 stays.
func (t *Track) weight() int {
	switch {
	case t.Kept:
		return 0
	case t.Same:
		return sameWeight + t.Priority
	}
	return t.Priority
}

// Placed is a column that has room, and how much.
type Placed struct{ Column, Width int }

// Gap is the cells between columns.
const Gap = 2

const (
	// widthCap keeps one long name from taking a whole wide terminal.
	widthCap = 64
	// softCap is what a flexible column is cut to before others are dropped, floor
	// what it is cut to when nothing more can be dropped.
	softCap = 18
	floor   = 8
	// useful is what a flexible column must have to be taken back.
	useful = 12
	// spared is how many cells a column that is cut anyway gives up before another is dropped: a name that is two cells
	// shorter says more than no size.
	spared = 2
)

// Arrange fits columns into w cells: flexible ones shrink to softCap, then columns drop
// by priority; what is left over goes to dropped ones that fit after all, the most
// important first, then back to the shrunken ones.
//
// With offset > 0 the first column stays and the offset next ones are scrolled
// away; the rest takes its natural width, as far as there is room.
func Arrange(tracks []Track, w, offset int) []Placed {
	if offset > 0 {
		return arrangeScrolled(tracks, w, offset)
	}
	kept := make([]Placed, len(tracks))
	total := -Gap
	for i, t := range tracks {
		kept[i] = Placed{i, t.least()}
		total += kept[i].Width + Gap
	}
	for total > w {
		drop := lastToKeep(tracks, kept)
		if i := cutMost(tracks, kept); i >= 0 && total-w <= spared {
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
	total -= squeeze(tracks, kept, total-w, floor)
	if total > w {
		kept, total = inside(tracks, kept, w, total)
	}
	spread(tracks, kept, w-total)
	return kept
}

// least is the width that a column has before others are dropped for its sake.
func (t *Track) least() int {
	if t.Flexible {
		return min(t.Natural, cmp.Or(t.Soft, softCap))
	}
	return min(t.Natural, widthCap)
}

// refill takes columns back that fit, flexible ones cut if need be, into what the
// dropping of wider ones has left.
func refill(tracks []Track, kept []Placed, w, total int) (filled []Placed, used int) {
	for {
		best, width := -1, 0
		for i := range tracks {
			t := &tracks[i]
			room := t.within(w - total - Gap)
			dropped := !slices.ContainsFunc(kept, func(p Placed) bool { return p.Column == i })
			if dropped && room > 0 && (best < 0 || t.weight() < tracks[best].weight()) {
				best, width = i, room
			}
		}
		if best < 0 {
			return kept, total
		}
		at := slices.IndexFunc(kept, func(p Placed) bool { return p.Column > best })
		if at < 0 {
			at = len(kept)
		}
		kept = slices.Insert(kept, at, Placed{best, width})
		total += Gap + width
	}
}

// within is the width that a dropped column would have in some room, 0 if that is too little.
func (t *Track) within(room int) int {
	switch {
	case t.least() <= room:
		return t.least()
	case t.Flexible && room >= useful:
		return room
	}
	return 0
}

// cutMost is the flexible column that is cut by most, -1 if none is; never the first, which says what a row is.
func cutMost(tracks []Track, kept []Placed) int {
	at, most := -1, 0
	for i, p := range kept {
		if cut := tracks[p.Column].Natural - p.Width; p.Column > 0 && tracks[p.Column].Flexible && cut > most {
			at, most = i, cut
		}
	}
	return at
}

// lastToKeep is the position of the column to drop next, -1 if all must stay.
func lastToKeep(tracks []Track, kept []Placed) int {
	drop, worst := -1, 0
	for i, p := range kept {
		if w := tracks[p.Column].weight(); w > 0 && w >= worst {
			drop, worst = i, w
		}
	}
	return drop
}

// inside is the last resort, in terminals that are narrower than what must stay: names are cut to what hardly says something, then
// the last columns go.
func inside(tracks []Track, kept []Placed, w, total int) (fewer []Placed, used int) {
	const bare = 5
	for {
		total -= squeeze(tracks, kept, total-w, bare)
		if total <= w || len(kept) <= 1 {
			break
		}
		total -= kept[len(kept)-1].Width + Gap
		kept = kept[:len(kept)-1]
	}
	if total > w && len(kept) == 1 {
		kept[0].Width = max(1, w)
		total = kept[0].Width
	}
	return kept, total
}

// squeeze takes missing cells from flexible columns, from the widest first, and says how many it got.
func squeeze(tracks []Track, kept []Placed, missing, least int) (got int) {
	for missing > 0 {
		widest := -1
		for i, p := range kept {
			if tracks[p.Column].Flexible && p.Width > least && (widest < 0 || p.Width > kept[widest].Width) {
				widest = i
			}
		}
		if widest < 0 {
			break
		}
		kept[widest].Width--
		missing--
		got++
	}
	return got
}

// spread gives room that is left to flexible columns that were cut, to the narrowest first.
func spread(tracks []Track, kept []Placed, room int) {
	for ; room > 0; room-- {
		least := -1
		for i, p := range kept {
			if p.Width < min(tracks[p.Column].Natural, 2*widthCap) && (least < 0 || p.Width < kept[least].Width) {
				least = i
			}
		}
		if least < 0 {
			return
		}
		kept[least].Width++
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
			if room >= floor && tracks[i].Flexible {
				kept = append(kept, Placed{i, room})
			}
			break
		}
		kept = append(kept, Placed{i, width})
		used += Gap + width
	}
	return kept
}

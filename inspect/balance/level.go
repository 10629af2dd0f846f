package balance

// rounds bounds the search for the lowest level: each round moves one piece or two.
const rounds = 20_000

// level brings the fullest bin down to a target, or as low as it can, by moves and exchanges that each
// make it lower.
func (p *problem) level(target float64) *layout {
	l := p.layout()
	members := make([][]int, len(p.bins)) // what lies where, in no order
	for x := range p.pieces {
		members[p.pieces[x].bin] = append(members[p.pieces[x].bin], x)
	}
	for range rounds {
		from := l.fullest()
		if l.load[from] <= target {
			break
		}
		x, to, back, ok := l.better(from, members)
		if !ok {
			break
		}
		shift(members, x, from, to)
		l.put(x, to)
		if back >= 0 {
			shift(members, back, to, from)
			l.put(back, from)
		}
	}
	return l
}

func shift(members [][]int, x, from, to int) {
	list := members[from]
	for i := range list {
		if list[i] == x {
			members[from] = append(list[:i], list[i+1:]...)
			break
		}
	}
	members[to] = append(members[to], x)
}

// better finds the move out of the fullest bin, or the exchange with one of the emptiest, after
// which the fuller of the two is as low as possible. back is -1 for a move.
func (l *layout) better(from int, members [][]int) (x, to, back int, ok bool) {
	best := l.load[from] * (1 - tolerance)
	targets := l.emptiest(from)
	x, to, back = -1, -1, -1
	consider := func(a, target, b int) {
		move, size := l.pieces[a].load, l.pieces[a].size
		if b >= 0 {
			move -= l.pieces[b].load
			size -= l.pieces[b].size
		}
		if move <= 0 || size > l.room[target] || -size > l.room[from] {
			return
		}
		if level := max(l.load[from]-move, l.load[target]+move); level < best {
			best, x, to, back = level, a, target, b
		}
	}
	for _, a := range members[from] {
		consider(a, targets[0], -1)
	}
	if x >= 0 {
		return x, to, back, true
	}
	const few = 8 // exchanges with fuller bins gain less and less
	for i, target := range targets {
		for _, a := range members[from] {
			if i > 0 {
				consider(a, target, -1)
			}
			if i >= few {
				continue
			}
			for _, b := range members[target] {
				consider(a, target, b)
			}
		}
	}
	return x, to, back, x >= 0
}

package simulate

import (
	"math"
	"math/bits"
)

const (
	// Latencies are counted in bars of which 512 are between a number of nanoseconds and twice that: what is read of them is exact to 1 in 1000.
	barBits = 9
	bars    = (64 - barBits) << barBits
)

// window is what one part did in one window.
type window struct {
	length        float64 // seconds that count
	count, failed int64
	before, after int // requests under way when counting began and ended
	overrun       bool
	proxied       float64
	nodes         []use
}

// use is what a node did.
type use struct {
	busy, ran, waited, blocked, waits float64 // seconds
	tasks, grouped                    int64
}

// batch is what was answered in one stretch of time, of all parts.
type batch struct {
	count uint64
	sum   sum
	bars  []uint32
}

// sum adds up whole numbers, exactly: in whatever order parts are simulated, it comes to the same.
type sum struct{ high, low uint64 }

func (s *sum) add(high, low uint64) {
	var carry uint64
	s.low, carry = bits.Add64(s.low, low, 0)
	s.high += high + carry
}

func (s sum) float() float64 { return float64(s.high)*(1<<64) + float64(s.low) }

// tally is all that is counted, by one of those who simulate side by side.
type tally struct {
	windows  []window // of part after part
	batches  []batch
	squares  sum
	least    uint64
	greatest uint64
	counted  int64
	batch    float64 // seconds
}

func newTally(p *plan) *tally {
	t := &tally{
		windows: make([]window, len(p.parts)*p.windows), batches: make([]batch, batches), least: math.MaxUint64,
		batch: p.length * float64(p.windows) / batches,
	}
	for i := range t.batches {
		t.batches[i].bars = make([]uint32, bars)
	}
	return t
}

// add takes over what another one counted.
func (t *tally) add(o *tally) {
	for i := range o.windows {
		if o.windows[i].nodes != nil {
			t.windows[i] = o.windows[i]
		}
	}
	for i := range o.batches {
		a, b := &t.batches[i], &o.batches[i]
		a.count += b.count
		a.sum.add(b.sum.high, b.sum.low)
		for j, n := range b.bars {
			a.bars[j] += n
		}
	}
	t.squares.add(o.squares.high, o.squares.low)
	t.least, t.greatest = min(t.least, o.least), max(t.greatest, o.greatest)
	t.counted += o.counted
}

// bar is where a latency is counted, middle what a bar stands for.
func bar(v uint64) int {
	if v < 1<<barBits {
		return int(v)
	}
	shift := bits.Len64(v) - barBits - 1
	return (shift+1)<<barBits + int(v>>shift) - 1<<barBits
}

func middle(i int) float64 {
	if i < 1<<barBits {
		return float64(i)
	}
	shift := i>>barBits - 1
	return (float64(i&(1<<barBits-1)+1<<barBits) + 0.5) * math.Ldexp(1, shift)
}

// quantile is the latency in nanoseconds that so many of 1 have, or less; NaN of nothing.
func quantile(counts []uint64, q float64) float64 {
	var total uint64
	for _, n := range counts {
		total += n
	}
	if total == 0 {
		return math.NaN()
	}
	rank := uint64(math.Ceil(q * float64(total)))
	var sum uint64
	for i, n := range counts {
		if sum += n; sum >= max(rank, 1) {
			return middle(i)
		}
	}
	return math.NaN()
}

// beginCounting ends the warm-up.
func (s *sim) beginCounting(at float64) {
	s.warm = false
	s.proxied = 0
	for i := range s.nodes {
		s.nodes[i].reset(at)
	}
	s.stats.before = s.flying
}

// count takes a request's end, if it is in the time that counts.
func (s *sim) count(r *request) {
	if s.warm || r.ends < s.plan.warm || r.ends >= s.end {
		return
	}
	if r.failed {
		s.stats.failed++
		return
	}
	s.stats.count++
	t := s.tally
	t.counted++
	perWindow := batches / s.plan.windows
	at := min(int((r.ends-s.plan.warm)/t.batch), perWindow-1)
	b := &t.batches[s.index%s.plan.windows*perWindow+at]
	v := uint64(math.Round((r.ends - r.begun) * 1e9))
	b.count++
	b.sum.add(0, v)
	b.bars[bar(v)]++
	t.squares.add(bits.Mul64(v, v))
	t.least, t.greatest = min(t.least, v), max(t.greatest, v)
}

// finish ends the window.
func (s *sim) finish(at float64) {
	w := s.stats
	if s.warm {
		s.beginCounting(at)
		at = s.plan.warm
	}
	w.length = at - s.plan.warm
	w.after = s.flying
	w.proxied = s.proxied
	w.nodes = make([]use, len(s.nodes))
	for i := range s.nodes {
		n := &s.nodes[i]
		n.advance(at)
		w.nodes[i] = use{n.busy, n.ran, n.waited, n.blocked, n.waits, n.tasks, n.grouped}
	}
}

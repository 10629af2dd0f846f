package whatif

import (
	"context"
	"math"
	"slices"
	"time"
	"unsafe"

	"kitescope/engine"
	"kitescope/engine/dist"
	"kitescope/engine/segment"
	"kitescope/replay"
)

// curve is how many times as much a distance costs where all vectors that are searched in turn take so many bytes, as where they
// take the least: what caches and memory make of it. Measured here.
type curve struct {
	bytes      []float64 // rising
	scan, walk []float64 // read in order, as row by row, and one here and one there, as in a graph; 1 at first, never falling
	// jump is what a row that is anywhere costs in place of the next one, in the fewest bytes.
	jump float64
}

// at is the factor for so many bytes, between what was measured by the logarithm of the bytes.
func (c *curve) at(s replay.State, bytes float64) float64 {
	y := c.scan
	if s == replay.Indexed {
		y = c.walk
	}
	i, found := slices.BinarySearch(c.bytes, bytes)
	switch {
	case len(y) == 0:
		return 1
	case found || i == 0:
		return y[i]
	case i == len(y):
		return y[i-1]
	}
	part := math.Log(bytes/c.bytes[i-1]) / math.Log(c.bytes[i]/c.bytes[i-1])
	return y[i-1] + part*(y[i]-y[i-1])
}

// most are the factors where vectors are in no cache.
func (c *curve) most() (scan, walk float64) {
	if len(c.bytes) == 0 {
		return 1, 1
	}
	return c.scan[len(c.scan)-1], c.walk[len(c.walk)-1]
}

// fewestBytes are in a core's own cache everywhere.
const fewestBytes = 128 << 10

// measureMemory computes distances to the vectors of a segment, repeated until they fill memory of several sizes.
func measureMemory(ctx context.Context, t *table, s *segment.Segment) (curve, error) {
	t.artifacts.step("measure memory")
	var c curve
	k, err := dist.New(s.Metric, s.Vectors.Element, t.artifacts.options.Profile, s.Vectors.Dim)
	if err != nil {
		return c, err
	}
	query, err := k.Query(t.sample.requests[0].Vectors.Row(0))
	if err != nil {
		return c, err
	}
	all, err := repeat(s.Vectors, max(t.artifacts.limits.Far, fewestBytes))
	if err != nil {
		return c, err
	}
	defer all.Release()
	p := &pacer{kernel: k, query: unsafe.Pointer(&query[0]), cpu: t.sample.cpu, out: make([]float32, 256), state: 1}
	var scan, walk []float64
	for bytes := fewestBytes; ; bytes *= 4 {
		rows := min(all.Rows, max(1, bytes/all.Stride))
		if err := ctx.Err(); err != nil {
			return c, err
		}
		v, err := all.Slice(0, rows)
		if err != nil {
			return c, err
		}
		c.bytes = append(c.bytes, float64(rows*all.Stride))
		scan, walk = append(scan, p.least(v, p.scan)), append(walk, p.least(v, p.walk))
		if rows == all.Rows {
			break
		}
	}
	c.jump = max(1, walk[0]/scan[0])
	c.scan, c.walk = rising(scan), rising(walk)
	return c, nil
}

// rising divides by the first, and leaves out what noise makes fall.
func rising(list []float64) []float64 {
	first, highest := list[0], 1.0
	for i := range list {
		highest = max(highest, list[i]/first)
		list[i] = min(highest, 20)
	}
	return list
}

// repeat fills so many bytes with the rows of v, over and over.
func repeat(v *engine.Vectors, bytes int64) (*engine.Vectors, error) {
	r, err := engine.NewVectors(v.Element, v.Dim, int(max(1, bytes/int64(v.Stride))))
	if err != nil {
		return nil, err
	}
	for i := range r.Rows {
		copy(r.Row(i), v.Row(i%v.Rows))
	}
	return r, nil
}

// pacer times distances.
type pacer struct {
	kernel *dist.Kernel
	query  unsafe.Pointer
	cpu    func() time.Duration
	out    []float32
	ids    [32]uint32
	state  uint64
}

// least is the time of a row in nanoseconds, the least of some passes over all rows, after one that brings them into the cache: what the memory can
// do, whoever else is at it.
func (p *pacer) least(v *engine.Vectors, pass func(*engine.Vectors)) float64 {
	const passes, fewest = 4, 8_000 // rows of a pass
	times := max(1, fewest/v.Rows)
	best := math.Inf(1)
	for i := range passes {
		used, began := time.Duration(0), time.Now()
		if p.cpu != nil {
			used = p.cpu()
		}
		for range times {
			pass(v)
		}
		took := time.Since(began)
		if p.cpu != nil {
			if used = p.cpu() - used; used > 0 {
				took = min(took, used)
			}
		}
		if i > 0 {
			best = min(best, float64(took)/float64(times*v.Rows))
		}
	}
	return max(best, 1e-3)
}

func (p *pacer) scan(v *engine.Vectors) {
	for row := 0; row < v.Rows; row += len(p.out) {
		n := min(len(p.out), v.Rows-row)
		p.kernel.Scan(p.query, unsafe.Pointer(&v.Row(row)[0]), uintptr(v.Stride), p.out[:n])
	}
}

func (p *pacer) walk(v *engine.Vectors) {
	for row := 0; row < v.Rows; row += len(p.ids) {
		n := min(len(p.ids), v.Rows-row)
		for j := range n {
			p.state ^= p.state << 13
			p.state ^= p.state >> 7
			p.state ^= p.state << 17
			p.ids[j] = uint32(p.state % uint64(v.Rows)) //nolint:gosec // rows fit
		}
		p.kernel.Gather(p.query, v.Base(), uintptr(v.Stride), p.ids[:n], p.out[:n])
	}
}

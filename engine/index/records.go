package index

import (
	"encoding/binary"
	"fmt"
	"math"
	"runtime"
	"sync"
	"sync/atomic"

	"kitescope/engine"
	"kitescope/engine/dist"
	"kitescope/engine/hnsw"
)

// records is the layout that hnswlib and knowhere's fork share: for each node a record with its level-0 links and
// its vector, followed by the upper links, node by node.
type records struct {
	n, dim  int
	element dist.Element
	m, m0   int
	size    int  // of a record
	vector  int  // offset of the vector in its record
	label   int  // offset of the u64 label, 0 without labels
	deleted bool // bit 0 of the third byte marks a deleted node (hnswlib only)

	at int // offset of the first record in the file

	split *splitRecords // the records if they were already split; nil if they are in the file
}

// maxNodes bounds the ids of a graph, because the top bit of a link is hnsw.End.
const maxNodes = 1<<31 - 1

// chunk is the approximate number of bytes of a file that are copied in one step, after which their pages are
// released. It is large compared with the cost of a system call, and small compared with any relevant file.
const chunk = 4 << 20

// load splits the records, in parallel, and checks each link. The caller has checked that the records are present.
func (r *records) load(c *cursor, ix *hnsw.Index) error {
	if r.split != nil {
		return r.split.moveTo(r, ix)
	}
	vectors, err := engine.NewVectors(r.element, r.dim, r.n)
	if err != nil {
		return err
	}
	ix.Vectors = vectors
	ix.M, ix.M0 = r.m, r.m0
	ix.Base = engine.Uint32s(r.n * r.m0)
	if r.label > 0 {
		ix.Labels = make([]int64, r.n)
	}
	var deleted deletions
	err = parallel(r.n, max(1, chunk/r.size), func(from, to int) error {
		for i := from; i < to; i++ {
			rec := c.data[r.at+i*r.size : r.at+(i+1)*r.size]
			if err := r.links(rec, i, ix.Base[i*r.m0:(i+1)*r.m0]); err != nil {
				return err
			}
			copy(vectors.Row(i), rec[r.vector:])
			if r.label > 0 {
				ix.Labels[i] = int64(binary.LittleEndian.Uint64(rec[r.label:]))
			}
			if r.deleted && rec[2]&1 != 0 {
				deleted.add(i)
			}
		}
		if c.discard != nil {
			c.discard(r.at+from*r.size, r.at+to*r.size)
		}
		return nil
	})
	if err != nil {
		vectors.Release()
		return err
	}
	ix.Deleted = deleted.bitset(r.n)
	if identity(ix.Labels) {
		ix.Labels = nil
	}
	return nil
}

// links copies the level-0 links of node i. Slots after the count keep their content, with the bit hnsw.End set, so
// that the file can be written again unchanged.
func (r *records) links(rec []byte, i int, slots []uint32) error {
	for j := range slots {
		slots[j] = le32(rec[4:], j)
	}
	return r.check(int(binary.LittleEndian.Uint16(rec)), i, slots)
}

// upper reads, at the cursor, for each node a u32 length in bytes and its links above level 0: blocks of u16 count,
// u16, u32 links[M]. The first pass collects the levels. The second pass copies the links and checks each against
// the level of its target.
func (r *records) upper(c *cursor, g *hnsw.Graph) {
	start := c.at
	block := 4 + 4*r.m
	g.Levels = make([]uint8, r.n)
	g.UpperAt = make([]uint32, r.n)
	blocks := 0
	for i := range r.n {
		n := c.u32("the length of a node's upper links")
		if n == 0 {
			if c.err != nil {
				return
			}
			continue
		}
		level := int(n) / block
		if int(n)%block != 0 || level > math.MaxUint8 {
			c.fail(c.at-4, fmt.Sprintf("a length of node %d's upper links in blocks of %d", i, block), "%d", n)
		}
		c.bytes(int(n), "upper links")
		if c.err != nil {
			return
		}
		g.Levels[i], g.UpperAt[i] = uint8(level), uint32(blocks)
		blocks += level
	}
	g.Upper = make([]uint32, blocks*r.m)
	up := cursor{data: c.data, at: start}
	for i := range r.n {
		up.at += 4
		for l := range int(g.Levels[i]) {
			to := (int(g.UpperAt[i]) + l) * r.m
			r.block(&up, g, i, l+1, g.Upper[to:to+r.m])
		}
		if up.err != nil {
			break
		}
	}
	c.err = up.err
}

// block reads the links of node i on one level above 0.
func (r *records) block(c *cursor, g *hnsw.Graph, i, level int, slots []uint32) {
	n := int(c.u32("a count of links") & math.MaxUint16)
	if n > r.m {
		c.fail(c.at-4, fmt.Sprintf("at most %d links of node %d on level %d", r.m, i, level), "%d", n)
	}
	links := c.array(uint64(len(slots)), 4, "links")
	if c.err != nil {
		return
	}
	for j := range slots {
		v := le32(links, j)
		if j >= n {
			slots[j] = v | hnsw.End
			continue
		}
		if v >= uint32(r.n) || int(g.Levels[v]) < level {
			c.fail(c.at-len(links)+4*j, fmt.Sprintf("a link of node %d to a node on level %d", i, level), "node %d", v)
			return
		}
		slots[j] = v
	}
}

// checkEntry checks the entry point against the levels. entryAt and levelAt are the offsets of the two fields.
func checkEntry(g *hnsw.Graph, entryAt, levelAt int) error {
	n := len(g.Levels)
	if n == 0 {
		if g.MaxLevel != -1 {
			return notFound(levelAt, "the highest level -1 of no nodes", g.MaxLevel)
		}
		return nil
	}
	if int64(g.Entry) >= int64(n) {
		return notFound(entryAt, fmt.Sprintf("an entry point among %d nodes", n), g.Entry)
	}
	top := 0
	for _, l := range g.Levels {
		top = max(top, int(l))
	}
	if g.MaxLevel != top {
		return notFound(levelAt, fmt.Sprintf("the highest level of the nodes, %d", top), g.MaxLevel)
	}
	if int(g.Levels[g.Entry]) != top {
		return &FormatError{
			Offset: entryAt, Expected: fmt.Sprintf("an entry point on level %d", top),
			Found: fmt.Sprintf("node %d on level %d", g.Entry, g.Levels[g.Entry]),
		}
	}
	return nil
}

// deletions collects deleted nodes from several goroutines.
type deletions struct {
	mu   sync.Mutex
	rows []int
}

func (d *deletions) add(i int) {
	d.mu.Lock()
	d.rows = append(d.rows, i)
	d.mu.Unlock()
}

// bitset returns nil if no node was deleted.
func (d *deletions) bitset(n int) *engine.Bitset {
	if len(d.rows) == 0 {
		return nil
	}
	b := engine.NewBitset(n)
	for _, i := range d.rows {
		b.Set(i)
	}
	return b
}

// identity reports whether the labels are the row numbers.
func identity(labels []int64) bool {
	for i, l := range labels {
		if l != int64(i) {
			return false
		}
	}
	return true
}

// parallel calls work for the rows [0, n), step rows at a time, on all processors. It returns the error of the
// lowest rows that failed, independent of scheduling.
func parallel(n, step int, work func(from, to int) error) error {
	workers := min(runtime.GOMAXPROCS(0), (n+step-1)/step)
	if workers <= 1 {
		for from := 0; from < n; from += step {
			if err := work(from, min(from+step, n)); err != nil {
				return err
			}
		}
		return nil
	}
	var (
		next  atomic.Int64
		wg    sync.WaitGroup
		mu    sync.Mutex
		first error
		where = n
	)
	for range workers {
		wg.Go(func() {
			for {
				from := int(next.Add(1)-1) * step
				if from >= n {
					return
				}
				if err := work(from, min(from+step, n)); err != nil {
					mu.Lock()
					if from < where {
						first, where = err, from
					}
					mu.Unlock()
					return // the other workers process earlier rows, and then stop
				}
			}
		})
	}
	wg.Wait()
	return first
}

package rounds

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/bits"
)

var errBroken = errors.New("the difference does not match the previous state")

// A difference between two texts is a list of steps: how many bytes are copied, from where (behind what was copied last, as a signed
// number), and how many new ones follow, with these.

const (
	// block is how much of two texts must be the same to be copied.
	block = 16
	// maxBlocks bounds the index of the text before; of a longer one fewer places are known.
	maxBlocks = 1 << 16
)

// appendDifference appends what turns one text into another.
func appendDifference(out, before, now []byte) []byte {
	d := differ{out: out, before: before, now: now}
	head := commonPrefix(before, now)
	tail := commonPrefixReversed(before[head:], now[head:])
	if head > 0 {
		d.copy(0, head)
	}
	d.middle(head, len(now)-tail)
	if tail > 0 {
		d.copy(len(before)-tail, tail)
	}
	d.flush()
	return d.out
}

// differ writes steps; a copy waits for the new bytes behind it.
type differ struct {
	out, before, now []byte
	from, length     int // the copy that waits
	next             int // where one is expected to begin
	literal          []byte
}

func (d *differ) copy(from, length int) {
	if len(d.literal) == 0 && d.length > 0 && from == d.from+d.length {
		d.length += length
		return
	}
	d.flush()
	d.from, d.length = from, length
}

func (d *differ) flush() {
	if d.length == 0 && len(d.literal) == 0 {
		return
	}
	d.out = binary.AppendUvarint(d.out, uint64(d.length))
	if d.length > 0 {
		d.out = binary.AppendVarint(d.out, int64(d.from-d.next))
		d.next = d.from + d.length
	}
	d.out = binary.AppendUvarint(d.out, uint64(len(d.literal)))
	d.out = append(d.out, d.literal...)
	d.length, d.literal = 0, nil
}

// middle writes now[at:end], which neither begins nor ends as the text before does.
func (d *differ) middle(at, end int) {
	if end-at < block || len(d.before) < block {
		d.literal = d.now[at:end]
		return
	}
	step := block
	for len(d.before)/step > maxBlocks {
		step *= 2
	}
	places := make(map[uint64]int32, len(d.before)/step+1)
	for i := len(d.before) / step * step; i >= 0; i -= step {
		if i+block <= len(d.before) {
			places[hash(d.before[i:])] = int32(i)
		}
	}
	begin := at // of what is new
	for at+block <= end {
		i, ok := places[hash(d.now[at:])]
		if !ok || !bytes.Equal(d.before[i:int(i)+block], d.now[at:at+block]) {
			at++
			continue
		}
		from, n := int(i), block+commonPrefix(d.before[int(i)+block:], d.now[at+block:end])
		for at > begin && from > 0 && d.before[from-1] == d.now[at-1] {
			at, from, n = at-1, from-1, n+1
		}
		d.literal = d.now[begin:at]
		d.copy(from, n)
		at += n
		begin = at
	}
	d.literal = d.now[begin:end]
}

func hash(b []byte) uint64 {
	hi, lo := bits.Mul64(binary.LittleEndian.Uint64(b)^0x9e3779b97f4a7c15, binary.LittleEndian.Uint64(b[8:])^0xd1b54a32d192ed03)
	return hi ^ lo
}

func commonPrefix(a, b []byte) int {
	n := min(len(a), len(b))
	i := 0
	for i+8 <= n && binary.LittleEndian.Uint64(a[i:]) == binary.LittleEndian.Uint64(b[i:]) {
		i += 8
	}
	for i < n && a[i] == b[i] {
		i++
	}
	return i
}

func commonPrefixReversed(a, b []byte) int {
	n := min(len(a), len(b))
	i := 0
	for i < n && a[len(a)-1-i] == b[len(b)-1-i] {
		i++
	}
	return i
}

// applyDifference is the text that a difference leads to, which may not be longer than limit.
func applyDifference(before, steps []byte, limit int) ([]byte, error) {
	var now []byte
	next := 0
	r := reader{b: steps}
	for len(r.b) > 0 {
		if n := r.length(len(before)); n > 0 {
			from := next + int(r.varint())
			if r.err != nil || from < 0 || from > len(before)-n || len(now)+n > limit {
				return nil, errBroken
			}
			now = append(now, before[from:from+n]...)
			next = from + n
		}
		now = append(now, r.text(limit-len(now))...)
		if r.err != nil {
			return nil, r.err
		}
	}
	return now, nil
}

// reader takes numbers and texts off bytes from outside; err is sticky.
type reader struct {
	b   []byte
	err error
}

func (r *reader) fail() {
	if r.err == nil {
		r.err = errBroken
	}
	r.b = nil
}

func (r *reader) uvarint() uint64 {
	v, n := binary.Uvarint(r.b)
	if n <= 0 {
		r.fail()
		return 0
	}
	r.b = r.b[n:]
	return v
}

func (r *reader) varint() int64 {
	v, n := binary.Varint(r.b)
	if n <= 0 {
		r.fail()
		return 0
	}
	r.b = r.b[n:]
	return v
}

// length is a number that may not be larger than most.
func (r *reader) length(most int) int {
	v := r.uvarint()
	if most < 0 || v > uint64(most) {
		r.fail()
		return 0
	}
	return int(v)
}

// text is as many bytes as a number before them says; they are part of what is read.
func (r *reader) text(most int) []byte {
	n := r.length(min(most, len(r.b)))
	if r.err != nil || n > len(r.b) {
		r.fail()
		return nil
	}
	t := r.b[:n:n]
	r.b = r.b[n:]
	return t
}

func (r *reader) byte() byte {
	if len(r.b) == 0 {
		r.fail()
		return 0
	}
	c := r.b[0]
	r.b = r.b[1:]
	return c
}

package index

import (
	"encoding/binary"
	"fmt"
	"math"
)

// cursor reads the fields of a file in order. After the first error, which it keeps, every read returns zero. A
// header can therefore be read as a whole and checked once.
type cursor struct {
	data []byte
	at   int
	err  error

	// discard releases the pages of data[from:to], which are not read again. It is nil if the caller owns the
	// bytes.
	discard func(from, to int)
}

// FormatError reports a file that violates its format.
type FormatError struct {
	Offset   int    // in the file
	Expected string // expected value
	Found    string // actual value
}

func (e *FormatError) Error() string {
	return fmt.Sprintf("offset %d: expected %s, found %s", e.Offset, e.Expected, e.Found)
}

// notFound returns the error for a value that differs from the expected one.
func notFound[T any](at int, expected string, found T) error {
	return &FormatError{Offset: at, Expected: expected, Found: fmt.Sprint(found)}
}

// fail records an error unless one is already recorded.
func (c *cursor) fail(at int, expected, found string, args ...any) {
	if c.err == nil {
		c.err = &FormatError{Offset: at, Expected: expected, Found: fmt.Sprintf(found, args...)}
	}
}

// left returns the number of unread bytes.
func (c *cursor) left() int { return len(c.data) - c.at }

// bytes returns the next n bytes, in place.
func (c *cursor) bytes(n int, what string) []byte {
	if c.err != nil {
		return nil
	}
	if n < 0 || n > c.left() {
		c.fail(c.at, fmt.Sprintf("%d bytes of %s", n, what), "%d bytes to the end of the file", c.left())
		return nil
	}
	b := c.data[c.at : c.at+n : c.at+n]
	c.at += n
	return b
}

// array returns the next n elements of size bytes each, in place. It divides the remaining bytes instead of
// multiplying n, because n may be any value.
func (c *cursor) array(n uint64, size int, what string) []byte {
	if c.err != nil {
		return nil
	}
	if n > uint64(c.left()/size) {
		c.fail(c.at, fmt.Sprintf("%d %s of %d bytes", n, what, size), "%d bytes to the end of the file", c.left())
		return nil
	}
	return c.bytes(int(n)*size, what)
}

// vector reads faiss's VECTOR: a u64 count, and that number of elements of size bytes.
func (c *cursor) vector(size int, what string) []byte {
	n := c.u64("the count of " + what)
	return c.array(n, size, what)
}

func (c *cursor) u8(what string) uint8 {
	if b := c.bytes(1, what); b != nil {
		return b[0]
	}
	return 0
}

func (c *cursor) u32(what string) uint32 {
	if b := c.bytes(4, what); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

func (c *cursor) u64(what string) uint64 {
	if b := c.bytes(8, what); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

func (c *cursor) i32(what string) int32 { return int32(c.u32(what)) }

// count reads a u64 count.
func (c *cursor) count(what string) int {
	at := c.at
	n := c.u64(what)
	if n > math.MaxInt {
		c.fail(at, what, "%d", n)
		return 0
	}
	return int(n)
}

// expect fails unless ok. The error is at the field before the cursor, which has size bytes.
func (c *cursor) expect(ok bool, size int, expected, found string, args ...any) {
	if c.err == nil && !ok {
		c.fail(c.at-size, expected, found, args...)
	}
}

// end fails if bytes remain.
func (c *cursor) end() {
	if c.err == nil && c.left() > 0 {
		c.fail(c.at, "the end of the file", "%d more bytes", c.left())
	}
}

// le32 returns the i-th little-endian uint32 of b.
func le32(b []byte, i int) uint32 { return binary.LittleEndian.Uint32(b[4*i:]) }

// le64 returns the i-th little-endian uint64 of b.
func le64(b []byte, i int) uint64 { return binary.LittleEndian.Uint64(b[8*i:]) }

// float32s copies b, which may be unaligned, into aligned values.
func float32s(b []byte) []float32 {
	v := make([]float32, len(b)/4)
	for i := range v {
		v[i] = math.Float32frombits(le32(b, i))
	}
	return v
}

// int64s copies b into aligned values.
func int64s(b []byte) []int64 {
	v := make([]int64, len(b)/8)
	for i := range v {
		v[i] = int64(le64(b, i))
	}
	return v
}

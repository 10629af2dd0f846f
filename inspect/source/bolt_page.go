package source

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
)

// This file reads a bbolt file and checks all bounds. The bbolt library maps the file into memory and trusts
// its content: a page number out of range causes a panic, and a file that shrinks or is truncated causes a
// SIGBUS, which recover cannot catch. This is not acceptable for a tool that reads files from other people.
// Therefore the few structures that are needed are read here with pread.
//
// The layout is that of bbolt (go.etcd.io/bbolt internal/common: page.go, meta.go, bucket.go, inode.go),
// version 2, little-endian:
//
//	page    id u64, flags u16, count u16, overflow u32, then
//	meta    magic, version, page size, flags: u32 each; root page u64, sequence u64,
//	        free list u64, pages in use u64, transaction u64, FNV-1a of all before
//	branch  count x {key offset u32, key size u32, page u64}, offsets from the element
//	leaf    count x {flags u32, key offset u32, key size u32, value size u32}
//	bucket  a leaf value with flag 1: root page u64, sequence u64, and if the root
//	        page is 0 a whole page right after it
const (
	pageHeaderSize = 16
	elementSize    = 16
	bucketHeader   = 16
	metaSize       = 64

	boltMagic   = 0xED0CDAED
	boltVersion = 2

	flagBranch = 0x01
	flagLeaf   = 0x02
	flagMeta   = 0x04
	flagBucket = 0x01

	minPageSize = 512
	maxPageSize = 64 << 10
	// maxNodeBytes bounds one page with its overflow. The largest values of etcd have a few MiB
	// (--max-request-bytes, 1.5 MiB by default).
	maxNodeBytes = 256 << 20
	// maxPages keeps page offsets far from integer overflow.
	maxPages = 1 << 40
	// maxTreeDepth is far more than a file of any size needs.
	maxTreeDepth = 40
)

// boltMeta is the content of a meta page. A file has two.
type boltMeta struct {
	pageSize int
	root     uint64
	// pages is the number of pages in use, the high-water mark.
	pages uint64
	txid  uint64
}

// nextMetaAt returns the next possible offset of the second meta page after at.
func nextMetaAt(at int) int {
	if at == 0 {
		return minPageSize
	}
	return at * 2
}

func parseMeta(b []byte) (boltMeta, error) {
	if len(b) < pageHeaderSize+metaSize {
		return boltMeta{}, io.ErrUnexpectedEOF
	}
	b = b[pageHeaderSize:]
	u32, u64 := binary.LittleEndian.Uint32, binary.LittleEndian.Uint64
	m := boltMeta{pageSize: int(u32(b[8:])), root: u64(b[16:]), pages: u64(b[40:]), txid: u64(b[48:])}
	sum := fnv.New64a()
	_, _ = sum.Write(b[:metaSize-8])
	switch {
	case u32(b) != boltMagic:
		return m, errors.New("not a bbolt meta page")
	case u32(b[4:]) != boltVersion:
		return m, fmt.Errorf("unknown bbolt version %d", u32(b[4:]))
	case u64(b[metaSize-8:]) != sum.Sum64():
		return m, errors.New("meta page checksum does not match")
	case m.pageSize < minPageSize || m.pageSize > maxPageSize || m.pageSize&(m.pageSize-1) != 0:
		return m, fmt.Errorf("invalid page size %d", m.pageSize)
	case m.pages > maxPages:
		return m, fmt.Errorf("invalid page count %d", m.pages)
	}
	return m, nil
}

// readMeta returns the newest of the valid meta pages.
func readMeta(r io.ReaderAt) (boltMeta, error) {
	buf := make([]byte, pageHeaderSize+metaSize)
	var best boltMeta
	firstErr := error(nil)
	for at := 0; at <= maxPageSize; at = nextMetaAt(at) {
		n, err := r.ReadAt(buf, int64(at))
		if err != nil && !errors.Is(err, io.EOF) {
			return boltMeta{}, err
		}
		m, err := parseMeta(buf[:n])
		switch {
		case err == nil && (best.pageSize == 0 || m.txid > best.txid) && (at == 0 || at == m.pageSize):
			best = m
		case err != nil && firstErr == nil:
			firstErr = err
		}
	}
	if best.pageSize == 0 {
		return best, firstErr
	}
	return best, nil
}

// node is one page with its overflow.
type node struct {
	id    uint64
	flags uint16
	count int
	// data is the whole node, including the page header.
	data []byte
}

// pageError reports an invalid page.
type pageError struct {
	id  uint64
	why string
}

func (e *pageError) Error() string { return fmt.Sprintf("page %d is damaged: %s", e.id, e.why) }

func parseNode(id uint64, data []byte) (node, error) {
	if len(data) < pageHeaderSize {
		return node{}, &pageError{id, "it is cut off"}
	}
	n := node{
		id: id, data: data,
		flags: binary.LittleEndian.Uint16(data[8:]), count: int(binary.LittleEndian.Uint16(data[10:])),
	}
	switch {
	case n.flags != flagBranch && n.flags != flagLeaf:
		return n, &pageError{id, fmt.Sprintf("its type is %#x, not a branch or leaf", n.flags)}
	case pageHeaderSize+n.count*elementSize > len(data):
		return n, &pageError{id, fmt.Sprintf("%d records do not fit", n.count)}
	case n.count == 0 && !zeros(data[pageHeaderSize:min(len(data), pageHeaderSize+elementSize)]):
		return n, &pageError{id, "it has records, and their count is 0"}
	}
	return n, nil
}

func zeros(b []byte) bool { return bytes.Count(b, []byte{0}) == len(b) }

// nodeSize returns the size in bytes of the page at the start of data, including its overflow.
func nodeSize(data []byte, pageSize int) int64 {
	return (int64(binary.LittleEndian.Uint32(data[12:])) + 1) * int64(pageSize)
}

// extent returns the offsets of element i: the start and the end of its key, and the end of its value.
func (n node) extent(i int) (from, key, end uint64) {
	at := pageHeaderSize + i*elementSize
	e := n.data[at : at+elementSize]
	if n.flags == flagBranch {
		key = uint64(at) + uint64(binary.LittleEndian.Uint32(e)) + uint64(binary.LittleEndian.Uint32(e[4:]))
		return uint64(at) + uint64(binary.LittleEndian.Uint32(e)), key, key
	}
	from = uint64(at) + uint64(binary.LittleEndian.Uint32(e[4:]))
	key = from + uint64(binary.LittleEndian.Uint32(e[8:]))
	return from, key, key + uint64(binary.LittleEndian.Uint32(e[12:]))
}

// element returns the extent of element i. It returns an error unless the element is inside the page and starts
// directly after the previous element, as bbolt writes them. The first element must start after the element
// table, which verifies the count, and the last must be followed by zeros.
func (n node) element(i int) (from, key, end uint64, err error) {
	from, key, end = n.extent(i)
	before := uint64(pageHeaderSize + n.count*elementSize)
	if i > 0 {
		_, _, before = n.extent(i - 1)
	}
	switch {
	case end > uint64(len(n.data)):
		err = &pageError{n.id, fmt.Sprintf("record %d points outside of it", i)}
	case i == n.count-1 && end < uint64(len(n.data)) && n.data[end] != 0:
		err = &pageError{n.id, fmt.Sprintf("record %d ends before its bytes do", i)}
	case from != before:
		err = &pageError{n.id, fmt.Sprintf("record %d of %d does not follow the one before it", i, n.count)}
	}
	return from, key, end, err
}

// branch returns the child page of element i.
func (n node) branch(i int) (page uint64, err error) {
	_, _, _, err = n.element(i)
	return binary.LittleEndian.Uint64(n.data[pageHeaderSize+i*elementSize+8:]), err
}

// leaf returns the key and the value of element i, and whether it is a bucket.
func (n node) leaf(i int) (key, value []byte, bucket bool, err error) {
	from, keyEnd, end, err := n.element(i)
	if err != nil {
		return nil, nil, false, err
	}
	flags := binary.LittleEndian.Uint32(n.data[pageHeaderSize+i*elementSize:])
	return n.data[from:keyEnd:keyEnd], n.data[keyEnd:end:end], flags&flagBucket != 0, nil
}

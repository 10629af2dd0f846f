package source

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
)

// boltFile reads nodes of a bbolt file.
type boltFile struct {
	in   *input
	meta boltMeta
	// salvage converts damage into gaps.
	salvage bool
	gaps    *gapList
}

// inFile reports whether page id is inside the file.
func (f *boltFile) inFile(id uint64) bool {
	return id >= 2 && id < f.meta.pages && id < uint64(f.in.size)/uint64(f.meta.pageSize)
}

// read reads a node. It reuses buf if it is large enough.
func (f *boltFile) read(id uint64, buf []byte) (node, []byte, error) {
	if id < 2 || id >= f.meta.pages {
		return node{}, buf, &pageError{id, "no such page"}
	}
	at := int64(id) * int64(f.meta.pageSize)
	buf = grow(buf, f.meta.pageSize)
	if err := f.readAt(buf, id, at); err != nil {
		return node{}, buf, err
	}
	size := nodeSize(buf, f.meta.pageSize)
	if size > maxNodeBytes || at+size > int64(f.meta.pages)*int64(f.meta.pageSize) {
		return node{}, buf, &pageError{id, fmt.Sprintf("invalid size of %d bytes", size)}
	}
	if size > int64(f.meta.pageSize) {
		if at+size > f.in.size {
			return node{}, buf, &pageError{id, "it is beyond the end of the file"}
		}
		head := len(buf)
		buf = grow(buf, int(size))
		if err := f.readAt(buf[head:], id, at+int64(head)); err != nil {
			return node{}, buf, err
		}
	}
	if got := binary.LittleEndian.Uint64(buf); got != id {
		return node{}, buf, &pageError{id, fmt.Sprintf("it claims to be page %d", got)}
	}
	n, err := parseNode(id, buf)
	return n, buf, err
}

func (f *boltFile) readAt(buf []byte, id uint64, at int64) error {
	_, err := f.in.ReadAt(buf, at)
	if errors.Is(err, io.EOF) {
		return &pageError{id, "it is beyond the end of the file"}
	}
	if err != nil {
		return fmt.Errorf("page %d: %w", id, cause(err))
	}
	return nil
}

// grow returns a slice of n bytes that starts with the content of buf.
func grow(buf []byte, n int) []byte {
	if cap(buf) >= n {
		return buf[:n]
	}
	bigger := make([]byte, n)
	copy(bigger, buf)
	return bigger
}

// bucket returns the root page of a top-level bucket or, if the bucket is inline, its page.
func (f *boltFile) bucket(name string) (root uint64, inline []byte, err error) {
	found := false
	err = f.walk(f.meta.root, func(n node) error {
		for i := range n.count {
			key, value, isBucket, err := n.leaf(i)
			if err != nil {
				return err
			}
			if !isBucket || string(key) != name {
				continue
			}
			if len(value) < bucketHeader {
				return &pageError{n.id, "a bucket is cut off"}
			}
			found, root = true, binary.LittleEndian.Uint64(value)
			if root == 0 {
				inline = append([]byte(nil), value[bucketHeader:]...)
			}
		}
		return nil
	})
	if err == nil && !found {
		err = errNoBucket
	}
	return root, inline, err
}

var errNoBucket = errors.New("no such bucket")

// walk visits the leaves below root in order. It is intended for small trees.
func (f *boltFile) walk(root uint64, visit func(node) error) error {
	leaves, err := f.leaves(root)
	if err != nil {
		return err
	}
	var buf []byte
	for _, id := range leaves {
		n, b, err := f.read(id, buf)
		if buf = b; err != nil {
			return err
		}
		if n.flags != flagLeaf {
			return &pageError{id, "a branch among leaves"}
		}
		if err := visit(n); err != nil {
			return err
		}
	}
	return nil
}

// leaves returns the leaf pages below root in key order. All leaves of a bbolt tree have the same depth, so it
// reads level by level and does not read the leaves. Callers must check that these pages are leaves.
func (f *boltFile) leaves(root uint64) ([]uint64, error) {
	level := []uint64{root}
	seen := newPageSet(f.meta.pages)
	for range maxTreeDepth {
		sample, err := f.sample(level)
		if err != nil {
			return nil, err
		}
		if sample.flags == flagLeaf {
			return level, nil
		}
		if level, err = f.children(level, seen); err != nil {
			return nil, err
		}
	}
	return nil, &pageError{root, "its tree is too deep"}
}

// sweep finds the leaves of the "key" bucket without its tree, by reading every page of the file. It makes a
// file readable whose upper pages are lost. It also finds leaves that bbolt has replaced. They are harmless,
// because a revision never changes: they repeat known records or restore compacted records. The result is
// sorted by last revision, so newer records always follow older ones, as in the tree.
func (f *boltFile) sweep() []uint64 {
	type found struct{ id, last uint64 }
	var leaves []found
	var buf []byte
	for id := uint64(2); f.inFile(id); id++ {
		n, b, err := f.read(id, buf)
		if buf = b; err != nil || n.flags != flagLeaf || n.count == 0 {
			continue
		}
		first, _, _, err := n.leaf(0)
		if err != nil || !isRevision(first) {
			continue
		}
		last, _, _, err := n.leaf(n.count - 1)
		if err != nil || !isRevision(last) {
			continue
		}
		leaves = append(leaves, found{id, binary.BigEndian.Uint64(last)})
	}
	slices.SortStableFunc(leaves, func(a, b found) int { return cmp.Compare(a.last, b.last) })
	ids := make([]uint64, len(leaves))
	for i, l := range leaves {
		ids[i] = l.id
	}
	return ids
}

// isRevision reports whether a key of the bucket is a revision.
func isRevision(key []byte) bool {
	return (len(key) == revisionBytes || len(key) == tombstoneBytes) && key[8] == '_'
}

// sample reads one node of a level: the first node or, in salvage mode, the first undamaged node.
func (f *boltFile) sample(level []uint64) (n node, err error) {
	for _, id := range level {
		if n, _, err = f.read(id, nil); err == nil || !f.salvage {
			break
		}
	}
	return n, err
}

// children returns the pages below a level of branches.
func (f *boltFile) children(level []uint64, seen pageSet) ([]uint64, error) {
	var below []uint64
	var buf []byte
	for _, id := range level {
		n, b, err := f.read(id, buf)
		buf = b
		if err == nil && n.flags != flagBranch {
			err = &pageError{id, "a leaf among branches"}
		}
		if err == nil {
			below, err = f.appendChildren(below, n, seen)
		}
		if err != nil {
			return nil, err
		}
	}
	return below, nil
}

func (f *boltFile) appendChildren(below []uint64, n node, seen pageSet) ([]uint64, error) {
	for i := range n.count {
		child, err := n.branch(i)
		if err != nil {
			return below, err
		}
		if child < 2 || child >= f.meta.pages {
			return below, &pageError{n.id, fmt.Sprintf("it points to page %d: no such page", child)}
		}
		if !seen.add(child) {
			return below, &pageError{n.id, fmt.Sprintf("it points to page %d, in use elsewhere", child)}
		}
		below = append(below, child)
	}
	return below, nil
}

// pageSet holds the pages that a tree uses, because a damaged tree may have cycles.
type pageSet map[uint64]struct{}

func newPageSet(pages uint64) pageSet {
	const most = 1 << 16
	return make(pageSet, int(min(pages, most)))
}

func (s pageSet) add(id uint64) bool {
	if _, ok := s[id]; ok {
		return false
	}
	s[id] = struct{}{}
	return true
}

package gobuild

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
)

// The table of functions as Go 1.20 to 1.26 lay it out: runtime/symtab.go (pcHeader, moduledata),
// runtime/runtime2.go (_func), internal/abi/symtab.go, cmd/link/internal/ld/{pcln,symtab}.go.
const (
	pclnMagic = 0xfffffff1 // abi.Go120PCLnTabMagic

	pcdataInlTreeIndex = 2 // abi.PCDATA_InlTreeIndex
	funcdataInlTree    = 3 // abi.FUNCDATA_InlTree
	flagAsm            = 4 // abi.FuncFlagAsm

	funcFixed   = 44 // size of _func, before its arrays
	inlinedSize = 16 // of runtime.inlinedCall

	// Words of moduledata: slices take three.
	moduleNames, moduleCU, moduleFiles, modulePC, moduleFuncs, moduleTab = 1, 4, 7, 10, 13, 16
	moduleGofunc, moduleWords                                            = 40, 41

	maxFunctions = 16 << 20
	maxRuns      = 4 << 20   // of one function
	maxSteps     = 512 << 20 // of all functions
	maxEdges     = 4 << 20   // Milvus has a tenth of it
	maxTables    = 32        // that are tried before none is found
)

// errNoTable says that a file has no table of functions of a layout that is known.
var errNoTable = errors.New("no table of functions of Go 1.20 to 1.26")

// pclntab is the table that the runtime makes its stack traces from. No flag strips it.
type pclntab struct {
	order   binary.ByteOrder
	quantum uint64
	names   []byte
	cus     []byte
	files   []byte
	pcs     []byte
	funcs   []byte
	trees   []byte // go:func.*
	count   int
	// What was read so far: names and files by offset, their bytes, and the steps of tables of program counters.
	named, filed map[uint32]string
	text         int
	steps        int
}

// function is a _func.
type function struct {
	name, pcfile, pcln, pctree uint32
	cu                         uint32
	start                      int32
	size                       uint64
	tree                       uint32 // offset into trees, or noTree
	assembly                   bool
}

const noTree = ^uint32(0)

// readTable finds the table in an executable.
func readTable(im *image) (t *pclntab, err error) {
	defer protect(&err)
	if im.table != 0 {
		if t, err := im.tableAt(im.table); err == nil {
			return t, nil
		}
	}
	magic := make([]byte, 4)
	im.order.PutUint32(magic, pclnMagic)
	tried := 0
	for _, m := range im.mem {
		b, err := im.read(m.off, m.n)
		if err != nil {
			return nil, err
		}
		for at := 0; tried < maxTables; at += 4 {
			i := bytes.Index(b[at:], magic)
			if i < 0 {
				break
			}
			at += i
			if !header(b[at:]) {
				continue
			}
			tried++
			if t, err := im.tableAt(m.addr + uint64(at)); err == nil {
				return t, nil
			}
		}
	}
	return nil, errNoTable
}

// header reports whether a pcHeader may begin here: after the magic number two zeros, the size of
// instructions and that of pointers.
func header(b []byte) bool {
	return len(b) >= 8 && b[4] == 0 && b[5] == 0 && (b[6] == 1 || b[6] == 2 || b[6] == 4) && (b[7] == 4 || b[7] == 8)
}

// tableAt reads the table whose pcHeader is at addr: a moduledata has to point to it.
func (im *image) tableAt(addr uint64) (*pclntab, error) {
	h, err := im.at(addr, 8)
	if err != nil {
		return nil, err
	}
	size := int(h[7])
	if im.order.Uint32(h) != pclnMagic || !header(h) {
		return nil, errNoTable
	}
	rest, err := im.at(addr+8, uint64(8*size))
	if err != nil {
		return nil, err
	}
	fields := make([]uint64, 8)
	for i := range fields {
		fields[i] = im.word(rest[i*size:], addr+8+uint64(i*size), size)
	}
	count := fields[0]
	if count > maxFunctions {
		return nil, fmt.Errorf("%d functions", count)
	}
	module, err := im.findModule(addr, fields, size)
	if err != nil {
		return nil, err
	}
	t := &pclntab{order: im.order, quantum: uint64(h[6]), count: int(count), named: map[uint32]string{}, filed: map[uint32]string{}}
	for _, part := range []struct {
		to   *[]byte
		at   int
		unit uint64
	}{{&t.names, moduleNames, 1}, {&t.cus, moduleCU, 4}, {&t.files, moduleFiles, 1}, {&t.pcs, modulePC, 1}, {&t.funcs, moduleFuncs, 1}} {
		n := module[part.at+1]
		if n == 0 || n > uint64(im.size) {
			return nil, errNoTable
		}
		if *part.to, err = im.at(module[part.at], n*part.unit); err != nil {
			return nil, fmt.Errorf("table of functions: %w", err)
		}
	}
	if t.trees, err = im.at(module[moduleGofunc], 0); err != nil {
		return nil, fmt.Errorf("inline trees: %w", err)
	}
	return t, nil
}

// findModule looks through the data for the moduledata of the table: its first word points to the header,
// and those of its slices to where the header says.
func (im *image) findModule(addr uint64, fields []uint64, size int) ([]uint64, error) {
	offsets := map[int]uint64{moduleNames: fields[3], moduleCU: fields[4], moduleFiles: fields[5], modulePC: fields[6], moduleFuncs: fields[7], moduleTab: fields[7]}
	pointers := im.spellings(addr)
	for _, m := range im.mem {
		if !m.data {
			continue
		}
		b, err := im.read(m.off, m.n)
		if err != nil {
			return nil, err
		}
		for at := 0; at+moduleWords*size <= len(b); at += size {
			v := im.word(b[at:], m.addr+uint64(at), size)
			if v == 0 || (v != pointers[0] && v != pointers[1] && v&low36 != pointers[2]) {
				continue
			}
			words := im.moduleAt(b[at:], m.addr+uint64(at), size)
			if fits(words, addr, offsets) {
				return words, nil
			}
		}
	}
	return nil, errNoTable
}

// low36 are the bits of a pointer that Apple's linker leaves for the address where it chains pointers
// (mach-o/fixup-chains.h: dyld_chained_ptr_64_rebase.target).
const low36 = 1<<36 - 1

// spellings are the ways in which a file can hold a pointer to addr: as it is, as the distance from the
// image's base, as one of those in a chain.
func (im *image) spellings(addr uint64) [3]uint64 {
	return [3]uint64{addr, addr - im.base, addr & low36}
}

// moduleAt reads a moduledata, and takes pointers out of chains where its first one is in one.
func (im *image) moduleAt(b []byte, addr uint64, size int) []uint64 {
	words := make([]uint64, moduleWords)
	for i := range words {
		words[i] = im.word(b[i*size:], addr+uint64(i*size), size)
	}
	return words
}

// fits reports whether words are the moduledata of the table at addr, and makes addresses of its pointers.
func fits(words []uint64, addr uint64, offsets map[int]uint64) bool {
	move, mask := addr-words[0], ^uint64(0)
	if words[0]>>36 != 0 && words[0] != addr {
		mask = low36
		move = addr - words[0]&low36
	}
	for at, off := range offsets {
		words[at] = words[at]&mask + move
		if words[at] != addr+off {
			return false
		}
	}
	words[moduleGofunc] = words[moduleGofunc]&mask + move
	return true
}

// function reads the entry i of the table.
func (t *pclntab) function(i int) (f function, ok bool) {
	tab := i * 8
	if tab+12 > len(t.funcs) {
		return f, false
	}
	entry, next := t.order.Uint32(t.funcs[tab:]), t.order.Uint32(t.funcs[tab+8:])
	at := uint64(t.order.Uint32(t.funcs[tab+4:]))
	if at+funcFixed > uint64(len(t.funcs)) || next < entry {
		return f, false
	}
	b := t.funcs[at:]
	u32 := func(off int) uint32 { return t.order.Uint32(b[off:]) }
	f = function{name: u32(4), pcfile: u32(20), pcln: u32(24), cu: u32(32), start: int32(u32(36)), size: uint64(next - entry), tree: noTree, assembly: b[41]&flagAsm != 0}
	pcdata, funcdata := uint64(u32(28)), uint64(b[43])
	if pcdata > 64 || funcFixed+4*(pcdata+funcdata) > uint64(len(b)) {
		return f, false
	}
	if pcdata > pcdataInlTreeIndex {
		f.pctree = u32(funcFixed + 4*pcdataInlTreeIndex)
	}
	if funcdata > funcdataInlTree {
		f.tree = u32(funcFixed + 4*int(pcdata) + 4*funcdataInlTree)
	}
	return f, true
}

// name is the name at an offset, as the linker has it.
func (t *pclntab) name(off uint32) string {
	if s, ok := t.named[off]; ok {
		return s
	}
	s := t.string(t.names, off)
	t.named[off] = s
	return s
}

// string is the text at an offset of a table, up to the next zero.
func (t *pclntab) string(table []byte, off uint32) string {
	if uint64(off) >= uint64(len(table)) {
		return ""
	}
	b, _, ok := bytes.Cut(table[off:], []byte{0})
	if t.text += len(b); !ok || t.text > len(t.names)+len(t.files) {
		return "" // texts do not overlap; see check
	}
	return string(b)
}

// check reports a table that gives more than it holds: in a damaged file many entries may share one part of it.
func (t *pclntab) check(edges int) error {
	if t.steps > maxSteps || t.text > len(t.names)+len(t.files) || edges > maxEdges {
		return errors.New("damaged table of functions: its parts overlap")
	}
	return nil
}

// file is the path of a file of the function's unit, "" if there is none.
func (t *pclntab) file(f function, i int32) string {
	at := (uint64(f.cu) + uint64(max(i, 0))) * 4
	if i < 0 || at+4 > uint64(len(t.cus)) {
		return ""
	}
	off := t.order.Uint32(t.cus[at:])
	s, ok := t.filed[off]
	if !ok {
		s = t.string(t.files, off)
		t.filed[off] = s
	}
	return s
}

// run says that a value holds up to a program counter, counted from the function's entry.
type run struct {
	end uint64
	val int32
}

// runs decodes a table of program counters (runtime/symtab.go: step).
func (t *pclntab) runs(to []run, off uint32) []run {
	to = to[:0]
	if off == 0 || uint64(off) >= uint64(len(t.pcs)) {
		return to
	}
	b := t.pcs[off:]
	pc, val := uint64(0), int32(-1)
	for len(to) < maxRuns {
		step, n := binary.Uvarint(b)
		if n <= 0 || (step == 0 && len(to) > 0) {
			break
		}
		b = b[n:]
		val += int32(-(uint32(step) & 1) ^ (uint32(step) >> 1))
		ahead, n := binary.Uvarint(b)
		if n <= 0 {
			break
		}
		b = b[n:]
		pc += uint64(uint32(ahead)) * t.quantum
		to = append(to, run{pc, val})
	}
	t.steps += len(to)
	return to
}

// value is what holds at a program counter, -1 if nothing does.
func value(runs []run, pc uint64) int32 {
	lo, hi := 0, len(runs)
	for lo < hi {
		if mid := (lo + hi) / 2; runs[mid].end <= pc {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo == len(runs) {
		return -1
	}
	return runs[lo].val
}

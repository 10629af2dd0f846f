package gobuild

import (
	"cmp"
	"debug/dwarf"
	"debug/elf"
	"debug/macho"
	"debug/pe"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
)

// image is an executable file, whatever its format, as memory that can be read by address.
type image struct {
	r     io.ReaderAt
	size  int64
	order binary.ByteOrder
	// mem is what the file maps into memory, and base the lowest address of an image that may be moved.
	mem  []mapping
	base uint64
	// table is the address of the section that holds the table of functions, 0 if no section is named so.
	table uint64
	// text is where the code begins in the file.
	text int64
	// moved are the words of a position-independent ELF file that its loader fills in.
	moved map[uint64]uint64
	// goNote is the ELF note that holds Go's build id; nil if there is none.
	goNote []byte

	debug    bool // has DWARF
	sections int64
	mapped   uint64 // bytes that mem has together
	dwarf    func() (*dwarf.Data, error)
}

type mapping struct {
	addr   uint64
	off, n int64
	data   bool // may hold pointers: not code
}

// errNotExecutable is of a file that no operating system would run.
var errNotExecutable = errors.New("not an executable (ELF, Mach-O or PE)")

// maxDebug bounds the bytes of debugging information that are read, unpacked: Go's own largest programs have a tenth of it.
const maxDebug = 1 << 30

// maxNotes bounds the sections of notes that are read: there are two or three.
const maxNotes = 64

// openImage reads the headers of an executable. The packages of debug/ say of themselves that they are not
// hardened against hostile files, so what they do is done under protect.
func openImage(r io.ReaderAt, size int64) (im *image, err error) {
	defer protect(&err)
	magic := make([]byte, 4)
	if _, err := io.ReadFull(io.NewSectionReader(r, 0, 4), magic); err != nil {
		return nil, errNotExecutable
	}
	im = &image{r: r, size: size}
	switch {
	case string(magic) == "\x7fELF":
		err = im.readELF()
	case magic[0] == 'M' && magic[1] == 'Z':
		err = im.readPE()
	case string(magic) == "\xca\xfe\xba\xbe":
		err = im.readFat()
	case string(magic[1:]) == "\xfa\xed\xfe" || string(magic[:3]) == "\xfe\xed\xfa":
		err = im.readMachO()
	default:
		return nil, errNotExecutable
	}
	if err != nil {
		return nil, fmt.Errorf("damaged executable: %w", err)
	}
	return im, nil
}

// protect turns a panic over the bytes of a file into an error.
func protect(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("damaged file: %v", p)
	}
}

// add maps a part of the file; what lies beyond its end is not there. Parts may overlap a little, where a page
// holds the end of one and the beginning of another; a file that is mapped again and again is damaged.
func (im *image) add(addr uint64, off, n uint64, data bool) {
	if off >= uint64(im.size) || n == 0 {
		return
	}
	n = min(n, uint64(im.size)-off)
	if im.mapped += n; addr+n < addr || im.mapped > 2*uint64(im.size) {
		return
	}
	im.mem = append(im.mem, mapping{addr: addr, off: int64(off), n: int64(n), data: data})
}

func (im *image) readELF() error {
	f, err := elf.NewFile(im.r)
	if err != nil {
		return err
	}
	im.order = f.ByteOrder
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD {
			im.add(p.Vaddr, p.Off, p.Filesz, p.Flags&elf.PF_X == 0)
		}
	}
	notes := 0
	for _, s := range f.Sections {
		switch {
		case s.Name == ".gopclntab" || s.Name == ".data.rel.ro.gopclntab":
			im.table = s.Addr
		case s.Name == ".text":
			im.text = int64(s.Offset)
		case s.Type == elf.SHT_NOTE && notes < maxNotes:
			notes++
			im.readNotes(int64(s.Offset), int64(min(s.FileSize, 1<<16)))
		}
		im.sawDebug(s.Name, s.Size)
	}
	im.moved = relative(f, im)
	im.dwarf = f.DWARF
	return nil
}

// goBuildIDNote is the type of Go's note (cmd/internal/buildid/note.go).
const goBuildIDNote = 4

// readNotes looks for Go's among the notes of an ELF section: sizes of name and contents, a type, both padded to 4 bytes.
func (im *image) readNotes(off, n int64) {
	b, err := im.read(off, n)
	if err != nil {
		return
	}
	for len(b) >= 12 {
		name, desc, typ := int(im.order.Uint32(b)), int(im.order.Uint32(b[4:])), im.order.Uint32(b[8:])
		b = b[12:]
		padded := (name + 3) &^ 3
		if name > len(b) || desc > len(b) || padded+desc > len(b) {
			return
		}
		if typ == goBuildIDNote && strings.TrimRight(string(b[:name]), "\x00") == "Go" {
			im.goNote = b[padded : padded+desc]
		}
		b = b[min(len(b), (padded+desc+3)&^3):]
	}
}

// relative are the words that the loader of a position-independent file adds its own place to.
func relative(f *elf.File, im *image) map[uint64]uint64 {
	if f.Type != elf.ET_DYN || f.Class != elf.ELFCLASS64 {
		return nil // 32-bit files keep the value in place
	}
	kinds := map[elf.Machine]uint32{
		elf.EM_X86_64: uint32(elf.R_X86_64_RELATIVE), elf.EM_AARCH64: uint32(elf.R_AARCH64_RELATIVE), elf.EM_PPC64: uint32(elf.R_PPC64_RELATIVE),
		elf.EM_S390: uint32(elf.R_390_RELATIVE), elf.EM_RISCV: uint32(elf.R_RISCV_RELATIVE), elf.EM_LOONGARCH: uint32(elf.R_LARCH_RELATIVE),
	}
	kind, known := kinds[f.Machine]
	if !known {
		return nil
	}
	found := map[uint64]uint64{}
	left := uint64(im.size)
	for _, s := range f.Sections {
		if s.Type != elf.SHT_RELA || //nolint:misspell // ELF's word
			s.Flags&elf.SHF_ALLOC == 0 || s.FileSize > left {
			continue
		}
		left -= s.FileSize
		b, err := im.read(int64(s.Offset), int64(s.FileSize))
		if err != nil {
			continue
		}
		for ; len(b) >= 24; b = b[24:] {
			if uint32(im.order.Uint64(b[8:])) == kind {
				found[im.order.Uint64(b)] = im.order.Uint64(b[16:])
			}
		}
	}
	return found
}

func (im *image) readFat() error {
	fat, err := macho.NewFatFile(im.r)
	if err != nil {
		return err
	}
	// All parts of a universal file are of the same build, so the first one stands for them.
	first := fat.Arches[0]
	im.r, im.size = io.NewSectionReader(im.r, int64(first.Offset), int64(first.Size)), min(im.size, int64(first.Size))
	return im.readMachO()
}

func (im *image) readMachO() error {
	f, err := macho.NewFile(im.r)
	if err != nil {
		return err
	}
	im.order = f.ByteOrder
	for _, l := range f.Loads {
		if s, ok := l.(*macho.Segment); ok {
			im.add(s.Addr, s.Offset, s.Filesz, s.Name != "__TEXT" && s.Name != "__LINKEDIT" && s.Name != "__DWARF")
			if s.Name == "__TEXT" {
				im.base = s.Addr
			}
		}
	}
	for _, s := range f.Sections {
		switch s.Name {
		case "__gopclntab":
			im.table = s.Addr
		case "__text":
			im.text = int64(s.Offset)
		}
		im.sawDebug(s.Name, s.Size)
	}
	im.dwarf = f.DWARF
	return nil
}

func (im *image) readPE() error {
	f, err := pe.NewFile(im.r)
	if err != nil {
		return err
	}
	im.order = binary.LittleEndian
	switch h := f.OptionalHeader.(type) {
	case *pe.OptionalHeader64:
		im.base = h.ImageBase
	case *pe.OptionalHeader32:
		im.base = uint64(h.ImageBase)
	}
	for _, s := range f.Sections {
		im.add(im.base+uint64(s.VirtualAddress), uint64(s.Offset), uint64(s.Size), s.Characteristics&pe.IMAGE_SCN_MEM_EXECUTE == 0)
		if s.Name == ".text" {
			im.text = int64(s.Offset)
		}
		im.sawDebug(s.Name, uint64(s.Size))
	}
	im.dwarf = f.DWARF
	return nil
}

// sawDebug notes the sections that debugging information takes; a linker may have packed them.
func (im *image) sawDebug(name string, size uint64) {
	name = strings.TrimLeft(name, "._")
	if !strings.HasPrefix(name, "debug_") && !strings.HasPrefix(name, "zdebug_") {
		return
	}
	im.sections += int64(min(size, maxDebug))
	if strings.TrimPrefix(name, "z") == "debug_info" {
		im.debug = true
	}
}

// read takes bytes of the file, never more than it has.
func (im *image) read(off, n int64) ([]byte, error) {
	if off < 0 || n < 0 || off > im.size || n > im.size-off {
		return nil, io.ErrUnexpectedEOF
	}
	b := make([]byte, n)
	if _, err := im.r.ReadAt(b, off); err != nil {
		return nil, err
	}
	return b, nil
}

// at takes n bytes of memory; 0 means all up to the end of what is mapped there.
func (im *image) at(addr, n uint64) ([]byte, error) {
	for _, m := range im.mem {
		if addr < m.addr || addr-m.addr >= uint64(m.n) {
			continue
		}
		in := addr - m.addr
		left := uint64(m.n) - in
		n = cmp.Or(n, left)
		if n > left {
			return nil, io.ErrUnexpectedEOF
		}
		return im.read(m.off+int64(in), int64(n))
	}
	return nil, fmt.Errorf("address %#x is not in the file", addr)
}

// word takes one pointer out of memory that was read from addr, as the loader would leave it.
func (im *image) word(b []byte, addr uint64, size int) uint64 {
	if v, ok := im.moved[addr]; ok {
		return v
	}
	if size == 4 {
		return uint64(im.order.Uint32(b))
	}
	return im.order.Uint64(b)
}

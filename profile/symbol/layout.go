package symbol

import (
	"debug/elf"
	"errors"

	"kitescope/profile"
)

// segment is a part of a file that is loaded: PT_LOAD.
type segment struct {
	offset, size uint64 // in the file
	virtual      uint64
	memory       uint64
	executable   bool
}

// layout leads from offsets into a file to the addresses that its symbols have.
type layout struct {
	segments []segment
	// debug says that the headers are of a debug file: their offsets and sizes are those of a file
	// without code (objcopy --only-keep-debug), and only their addresses can be used.
	debug bool
}

func layoutOf(e *elf.File) layout {
	l := layout{debug: true}
	for _, p := range e.Progs {
		if p.Type != elf.PT_LOAD {
			continue
		}
		s := segment{p.Off, p.Filesz, p.Vaddr, p.Memsz, p.Flags&elf.PF_X != 0}
		l.segments = append(l.segments, s)
		if s.executable && s.size > 0 && hasCode(e, s) {
			l.debug = false
		}
	}
	return l
}

// hasCode reports whether a section of code that lies in the file is in the segment.
func hasCode(e *elf.File, s segment) bool {
	for _, section := range e.Sections {
		if section.Type == elf.SHT_PROGBITS && section.Flags&elf.SHF_EXECINSTR != 0 && section.Addr >= s.virtual && section.Addr < s.virtual+s.memory {
			return true
		}
	}
	return len(e.Sections) == 0
}

var (
	errPlace   = errors.New("the profile does not record where it was mapped")
	errOutside = errors.New("some addresses lie outside of its code")
	errDebug   = errors.New("its debug file has no code addresses; put the library itself next to it, stripped or not")
)

// page is the size by which the kernel rounds the addresses of segments down.
const page = 4096

// address is what an address in a mapping is in the file's own terms. first is the offset of the
// file's first mapping of code.
func (l *layout) address(m *profile.Mapping, address, first uint64) (uint64, error) {
	if m.Limit == 0 || address < m.Start || address >= m.Limit {
		return 0, errPlace
	}
	offset := address - m.Start + m.Offset
	if !l.debug {
		for _, s := range l.segments {
			if s.executable && offset >= s.offset && offset-s.offset < s.size {
				return offset - s.offset + s.virtual, nil
			}
		}
		return 0, errOutside
	}
	// The first mapping of code begins with the page that the segment of code begins in.
	var code *segment
	for i := range l.segments {
		if s := &l.segments[i]; s.executable {
			if code != nil {
				return 0, errDebug
			}
			code = s
		}
	}
	// Where nothing tells the offset of the mapping, it is 0, which is true only of code that stands first in the file.
	if code == nil || offset < first || first == 0 && code.virtual&^(page-1) > lowest(l.segments)&^(page-1) {
		return 0, errDebug
	}
	virtual := code.virtual&^(page-1) + (offset - first)
	if virtual < code.virtual || virtual-code.virtual >= code.memory {
		return 0, errOutside
	}
	return virtual, nil
}

func lowest(segments []segment) uint64 {
	low := ^uint64(0)
	for _, s := range segments {
		low = min(low, s.virtual)
	}
	return low
}

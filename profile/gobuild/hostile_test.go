// Nothing runs side by side here, so that the race detector would find nothing, in as much time again.

//go:build !race

package gobuild

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"os"
	"testing"
)

// TestFilesThatAskForTooMuch changes the headers of a program so that they ask for more work or memory than
// the file is worth. That it ends, long before the tests' time is up, is what is tested.
func TestFilesThatAskForTooMuch(t *testing.T) {
	whole, err := os.ReadFile(unpacked(t, "linux-amd64"))
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func([]byte) []byte{
		"mapped ten thousand times": mappedOften, "sections as large as can be": sections(1 << 62), "all sections the whole file": sections(0),
		"ten thousand tables": manyTables,
	} {
		b := change(bytes.Clone(whole))
		r, size := bytes.NewReader(b), int64(len(b))
		if _, err := readBinary(r, size); err != nil {
			t.Logf("%s: %v", name, err)
		}
		im, err := openImage(r, size)
		if err == nil {
			_, err = im.calls(t.Context())
		}
		t.Logf("%s: %v", name, err)
	}
}

// mappedOften gives an ELF file a table of ten thousand segments, each of which is the whole file, and takes
// away the sections that would make the search unnecessary.
func mappedOften(b []byte) []byte {
	const many, entry = 10_000, 56
	at, size := uint64(len(b)), uint64(len(b))
	for i := range uint64(many) {
		p := elf.Prog64{Type: uint32(elf.PT_LOAD), Flags: uint32(elf.PF_R), Vaddr: i << 40, Filesz: size, Memsz: size}
		b = append(b, make([]byte, entry)...)
		if _, err := binary.Encode(b[at+i*entry:], binary.LittleEndian, p); err != nil {
			panic(err)
		}
	}
	binary.LittleEndian.PutUint64(b[32:], at)   // e_phoff
	binary.LittleEndian.PutUint16(b[56:], many) // e_phnum
	binary.LittleEndian.PutUint64(b[40:], 0)    // e_shoff
	binary.LittleEndian.PutUint32(b[60:], 0)    // e_shnum, e_shstrndx
	return b
}

// sections makes all sections as large as can be, or the whole file.
func sections(size uint64) func([]byte) []byte {
	return func(b []byte) []byte {
		at, n := binary.LittleEndian.Uint64(b[40:]), uint64(binary.LittleEndian.Uint16(b[60:]))
		for i := range n {
			header := b[at+i*64:]
			if size > 0 {
				binary.LittleEndian.PutUint64(header[32:], size)
				continue
			}
			binary.LittleEndian.PutUint64(header[24:], 0) // sh_offset
			binary.LittleEndian.PutUint64(header[32:], uint64(len(b)))
		}
		return b
	}
}

// manyTables ends the real table of functions and adds ten thousand headers of others.
func manyTables(b []byte) []byte {
	binary.LittleEndian.PutUint64(b[40:], 0)
	binary.LittleEndian.PutUint32(b[60:], 0)
	fake := []byte{0xf1, 0xff, 0xff, 0xff, 0, 0, 1, 8}
	if at := bytes.Index(b, fake); at >= 0 {
		b[at+8]++ // another number of functions
	}
	text := bytes.Index(b, []byte("Go build ID"))
	for i := range 10_000 {
		copy(b[text+4096+i*16:], fake)
	}
	return b
}

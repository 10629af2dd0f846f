package profiletest

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"strings"
	"testing"
)

// Binary returns an ELF file that holds only Go's build information (debug/buildinfo): the import path of a
// main package and its build settings, e.g. "-pgo=/src/default.pgo".
func Binary(t testing.TB, main string, settings ...string) []byte {
	t.Helper()
	var info strings.Builder
	info.WriteString("path\t" + main + "\n")
	for _, s := range settings {
		info.WriteString("build\t" + s + "\n")
	}
	const align, inline, sentinel = 16, 2, 16
	mark := bytes.Repeat([]byte{'*'}, sentinel)
	data := append([]byte("\xff Go buildinf:"), 8, inline)
	data = append(data, make([]byte, align)...)
	for _, text := range []string{"go1.26.8", string(mark) + info.String() + string(mark)} {
		data = binary.AppendUvarint(data, uint64(len(text)))
		data = append(data, text...)
	}
	const headers, address = 64 + 56, 0x1000
	data = append(make([]byte, 2*64-headers), data...) // aligned, as the reader requires
	var out bytes.Buffer
	for _, part := range []any{
		&elf.Header64{
			Ident: [elf.EI_NIDENT]byte{
				0x7f, 'E', 'L', 'F', byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT),
			},
			Type: uint16(elf.ET_EXEC), Machine: uint16(elf.EM_X86_64), Version: uint32(elf.EV_CURRENT),
			Phoff: 64, Ehsize: 64, Phentsize: 56, Phnum: 1,
		},
		&elf.Prog64{
			Type: uint32(elf.PT_LOAD), Flags: uint32(elf.PF_R | elf.PF_W), Off: headers, Vaddr: address + headers,
			Filesz: uint64(len(data)), Memsz: uint64(len(data)), Align: align,
		},
		data,
	} {
		if err := binary.Write(&out, binary.LittleEndian, part); err != nil {
			t.Fatal(err)
		}
	}
	return out.Bytes()
}

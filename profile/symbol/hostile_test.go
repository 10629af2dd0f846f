package symbol

import (
	"bytes"
	"compress/zlib"
	"context"
	"debug/elf"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// section is a section of a file that a test writes. Its size is that of its data unless one is claimed.
type section struct {
	name    string
	kind    elf.SectionType
	flags   elf.SectionFlag
	link    uint32
	data    []byte
	claimed uint64
}

// written is the path of an ELF file of some sections.
func written(t *testing.T, sections ...section) string {
	t.Helper()
	const header = 64
	all := append([]section{{}}, sections...)
	all = append(all, section{name: ".shstrtab", kind: elf.SHT_STRTAB})
	names, at := []byte{0}, make([]uint32, len(all))
	for i, s := range all {
		at[i] = uint32(len(names))
		names = append(append(names, s.name...), 0)
	}
	all[len(all)-1].data = names
	var body, table bytes.Buffer
	for i, s := range all {
		size := s.claimed
		if size == 0 {
			size = uint64(len(s.data))
		}
		err := binary.Write(&table, binary.LittleEndian, elf.Section64{
			Name: at[i], Type: uint32(s.kind), Flags: uint64(s.flags), Off: header + uint64(body.Len()), Size: size, Link: s.link, Entsize: 24, Addr: 0x1000,
		})
		if err != nil {
			t.Fatal(err)
		}
		body.Write(s.data)
	}
	h := elf.Header64{
		Type: uint16(elf.ET_DYN), Machine: uint16(elf.EM_X86_64), Version: 1, Shoff: header + uint64(body.Len()),
		Ehsize: header, Shentsize: 64, Shnum: uint16(len(all)), Shstrndx: uint16(len(all) - 1),
	}
	copy(h.Ident[:], elf.ELFMAG+"\x02\x01\x01")
	var out bytes.Buffer
	if err := binary.Write(&out, binary.LittleEndian, h); err != nil {
		t.Fatal(err)
	}
	out.Write(body.Bytes())
	out.Write(table.Bytes())
	path := filepath.Join(t.TempDir(), "lib.so")
	if err := os.WriteFile(path, out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func buildIDNote() section {
	return section{name: ".note.gnu.build-id", kind: elf.SHT_NOTE, data: []byte("\x04\x00\x00\x00\x04\x00\x00\x00\x03\x00\x00\x00GNU\x00\xab\xcd\xef\x01")}
}

// bomb are zeros, compressed, of which a header says how many they are.
func bomb(t *testing.T, header []byte) []byte {
	t.Helper()
	b := bytes.NewBuffer(header)
	z := zlib.NewWriter(b)
	if _, err := z.Write(make([]byte, 8<<20)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestHostileFiles: what a file claims is not what is taken for it.
func TestHostileFiles(t *testing.T) {
	const claimed = 1 << 44
	compressed := bomb(t, binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64([]byte{1, 0, 0, 0, 0, 0, 0, 0}, claimed), 1))
	old := bomb(t, binary.BigEndian.AppendUint64([]byte("ZLIB"), claimed))
	code := section{name: ".text", kind: elf.SHT_PROGBITS, flags: elf.SHF_ALLOC | elf.SHF_EXECINSTR, data: make([]byte, 64)}
	symbols := section{name: ".symtab", kind: elf.SHT_SYMTAB, link: 4, data: append(make([]byte, 24), "\x01\x00\x00\x00\x12\x00\x02\x00\x00\x10\x00\x00\x00\x00\x00\x00\x10\x00\x00\x00\x00\x00\x00\x00"...)}
	strings4 := section{name: ".strtab", kind: elf.SHT_STRTAB, data: []byte("\x00f\x00")}
	for name, c := range map[string]struct {
		sections []section
		problem  string
		hasID    bool
	}{
		"sound":                {[]section{buildIDNote(), code, symbols, strings4}, "", true},
		"symbols compressed":   {[]section{buildIDNote(), {name: ".symtab", kind: elf.SHT_SYMTAB, flags: elf.SHF_COMPRESSED, data: compressed}}, `its section ".symtab" is compressed`, false},
		"symbols without end":  {[]section{buildIDNote(), {name: ".symtab", kind: elf.SHT_SYMTAB, claimed: claimed}}, "more than 5000000 symbols", true},
		"exported without end": {[]section{buildIDNote(), {name: ".dynsym", kind: elf.SHT_DYNSYM, claimed: claimed}}, "more than 5000000 symbols", true},
		"DWARF of old":         {[]section{buildIDNote(), code, symbols, strings4, {name: ".zdebug_info", kind: elf.SHT_PROGBITS, data: old}, {name: ".zdebug_abbrev", kind: elf.SHT_PROGBITS, data: old}}, "", true},
		"DWARF":                {[]section{buildIDNote(), code, symbols, strings4, {name: ".debug_info", kind: elf.SHT_PROGBITS, flags: elf.SHF_COMPRESSED, data: compressed}}, "", true},
		"a note too long":      {[]section{{name: ".note", kind: elf.SHT_NOTE, data: buildIDNote().data, claimed: claimed}, code, symbols, strings4}, "", false},
	} {
		path := written(t, c.sections...)
		id, _ := buildIDOf(path)
		if (id == "abcdef01") != c.hasID {
			t.Errorf("%s: build id %q", name, id)
		}
		m, err := open(context.Background(), []string{path})
		if c.problem != "" {
			if err == nil || !strings.Contains(err.Error(), c.problem) {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if f, ok := m.table.find(0x1004); !ok || f.name != "f" {
			t.Errorf("%s: %v", name, f)
		}
	}
}

package symbol

import (
	"cmp"
	"debug/elf"
	"slices"
	"strings"
)

// function is a function of a symbol table.
type function struct {
	from, to uint64
	name     string
	rank     uint8 // which of several names at one address is shown: the smallest
	open     bool  // it ends where the next one begins, at to at the latest
}

// table are functions in the order of their addresses.
type table struct {
	functions []function
	// reach[i] is the largest end of functions[:i+1]: below it nothing before needs to be looked at.
	reach []uint64
}

// maxSymbols bounds a symbol table. The largest programs have about a million.
const maxSymbols = 5_000_000

// tableOf makes a table of .symtab, and of .dynsym where there is none.
func tableOf(e *elf.File) (t table, err error) {
	defer func() {
		if x := recover(); x != nil {
			t, err = table{}, errDamaged
		}
	}()
	for _, kind := range []elf.SectionType{elf.SHT_SYMTAB, elf.SHT_DYNSYM} {
		if s := e.SectionByType(kind); s != nil && s.Size > maxSymbols*elf.Sym64Size {
			return t, errTooMany
		}
	}
	symbols, err := e.Symbols()
	exported := err != nil || !anyFunction(symbols)
	if exported {
		symbols, err = e.DynamicSymbols()
	}
	if err != nil {
		return t, errNoSymbols
	}
	for i := range symbols {
		s := &symbols[i]
		if !isFunction(s) || !inCode(e, s) {
			continue
		}
		f := function{from: s.Value, to: s.Value + s.Size, name: s.Name, rank: rankOf(s)}
		if s.Size == 0 {
			f.rank += 16
			// Without a size it goes on to the next function, which has to be known for that.
			if exported {
				continue
			}
			f.open, f.to = true, e.Sections[s.Section].Addr+e.Sections[s.Section].Size
		}
		t.functions = append(t.functions, f)
	}
	t.sort()
	return t, nil
}

func anyFunction(symbols []elf.Symbol) bool {
	return slices.ContainsFunc(symbols, func(s elf.Symbol) bool { return isFunction(&s) })
}

func isFunction(s *elf.Symbol) bool {
	switch elf.ST_TYPE(s.Info) {
	case elf.STT_FUNC, elf.STT_GNU_IFUNC:
		return s.Section != elf.SHN_UNDEF && s.Name != ""
	case elf.STT_NOTYPE: // hand-written assembly; names that begin so are labels of compilers and mapping symbols of ARM
		return s.Section != elf.SHN_UNDEF && s.Name != "" && !strings.HasPrefix(s.Name, "$") && !strings.HasPrefix(s.Name, ".L")
	default:
		return false
	}
}

// inCode reports whether a symbol is of a section of code.
func inCode(e *elf.File, s *elf.Symbol) bool {
	return int(s.Section) < len(e.Sections) && e.Sections[s.Section].Flags&elf.SHF_EXECINSTR != 0
}

// rankOf prefers functions to labels, and what the linker exports to what is weak or local.
func rankOf(s *elf.Symbol) uint8 {
	rank := uint8(0)
	if elf.ST_TYPE(s.Info) == elf.STT_NOTYPE {
		rank += 8
	}
	switch elf.ST_BIND(s.Info) {
	case elf.STB_GLOBAL:
	case elf.STB_WEAK:
		rank++
	default:
		rank += 2
	}
	return rank
}

func (t *table) sort() {
	slices.SortFunc(t.functions, func(a, b function) int {
		// Of functions at one address the one that is shown comes last, so that it is found first.
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(b.rank, a.rank), cmp.Compare(a.to, b.to),
			cmp.Compare(len(b.name), len(a.name)), cmp.Compare(b.name, a.name))
	})
	t.reach = make([]uint64, len(t.functions))
	next := ^uint64(0) // the address of the next function that begins elsewhere
	for i := len(t.functions) - 1; i >= 0; i-- {
		f := &t.functions[i]
		if i+1 < len(t.functions) && t.functions[i+1].from > f.from {
			next = t.functions[i+1].from
		}
		if f.open {
			f.to = min(f.to, next)
		}
	}
	reach := uint64(0)
	for i := range t.functions {
		reach = max(reach, t.functions[i].to)
		t.reach[i] = reach
	}
}

// find is the innermost function that an address lies in.
func (t *table) find(address uint64) (function, bool) {
	at, _ := slices.BinarySearchFunc(t.functions, address, func(f function, a uint64) int {
		if f.from <= a {
			return -1
		}
		return 1
	})
	for i := at - 1; i >= 0 && t.reach[i] > address; i-- {
		if f := t.functions[i]; address < f.to {
			return f, true
		}
	}
	return function{}, false
}

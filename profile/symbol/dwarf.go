package symbol

import (
	"cmp"
	"debug/dwarf"
	"debug/elf"
	"slices"
	"strings"
)

// maxDWARF bounds the debug information of a file that is read for lines, uncompressed: it is
// held in memory. Names come from the symbol table all the same.
const maxDWARF = 512 << 20

// source knows lines and inlined calls.
type source struct {
	data  *dwarf.Data
	units []unit // in the order of their addresses
	rows  int    // of all tables of units
}

// unit is a range of addresses of a compilation unit.
type unit struct {
	from, to uint64
	entry    *dwarf.Entry
	loaded   *loadedUnit // shared by all ranges of the unit
}

// loadedUnit are the tables of a compilation unit, which are made when it is first asked for.
type loadedUnit struct {
	// from and to are where its entries are.
	from, to dwarf.Offset
	done     bool
	lines    []lineRow
	calls    []call
	// reach[i] is the largest end of calls[:i+1].
	reach []uint64
	files []*dwarf.LineFile
}

// lineRow is a row of the line table; end marks the end of a sequence.
type lineRow struct {
	address      uint64
	file         string
	line, column int64
	end          bool
}

// call is a function, or one that was inlined: a range of its addresses.
type call struct {
	from, to uint64
	depth    int
	inlined  bool
	name     string // the linker's, if known
	file     string // in which it is declared
	start    int64
	// where it was called from
	callFile             string
	callLine, callColumn int64
}

// sourceOf reads DWARF, nil if there is none that can be used.
func sourceOf(e *elf.File) (s *source) {
	defer func() {
		if recover() != nil { // debug/dwarf is not written for damaged files
			s = nil
		}
	}()
	size := uint64(0)
	for _, section := range e.Sections {
		isOld := strings.HasPrefix(section.Name, ".zdebug")
		if section.Type == elf.SHT_NOBITS || !isOld && !strings.HasPrefix(section.Name, ".debug") {
			continue
		}
		if isOld {
			section.Open() // which is when its Size becomes that of what is unpacked
		}
		if size += min(section.Size, maxDWARF+1); size > maxDWARF {
			return nil
		}
	}
	if size == 0 {
		return nil
	}
	data, err := e.DWARF()
	if err != nil {
		return nil
	}
	s = &source{data: data}
	r := data.Reader()
	last := &loadedUnit{}
	for len(s.units) < maxRows {
		entry, err := r.Next()
		if err != nil || entry == nil {
			break
		}
		last.to = entry.Offset
		last = &loadedUnit{from: entry.Offset, to: ^dwarf.Offset(0)}
		if entry.Tag == dwarf.TagCompileUnit {
			if ranges, err := data.Ranges(entry); err == nil {
				for _, x := range ranges {
					s.units = append(s.units, unit{x[0], x[1], entry, last})
				}
			}
		}
		r.SkipChildren()
	}
	slices.SortFunc(s.units, func(a, b unit) int { return cmp.Compare(a.from, b.from) })
	return s
}

// frames adds to what the symbol table says.
func (s *source) frames(address uint64, outer frame) (frames []frame) {
	defer func() {
		if recover() != nil {
			frames = []frame{outer}
		}
	}()
	at, _ := slices.BinarySearchFunc(s.units, address, func(u unit, a uint64) int {
		if u.from <= a {
			return -1
		}
		return 1
	})
	if at--; at < 0 || address >= s.units[at].to {
		return []frame{outer}
	}
	u := s.load(&s.units[at])
	row := u.row(address)
	line, column := row.line, row.column
	inside := u.at(address)
	if len(inside) == 0 {
		outer.line, outer.column, outer.function.File = line, column, row.file
		return []frame{outer}
	}
	for _, c := range inside { // innermost first
		f := frame{line: line, column: column}
		f.function.SystemName, f.function.File, f.function.StartLine = c.name, c.file, c.start
		if !c.inlined {
			f.function.SystemName = outer.function.SystemName
		}
		frames = append(frames, f)
		line, column = c.callLine, c.callColumn
		if !c.inlined {
			return frames
		}
		if f.function.SystemName == "" {
			frames = frames[:len(frames)-1]
		}
	}
	outer.line, outer.column, outer.function.File = line, column, inside[len(inside)-1].callFile
	return append(frames, outer)
}

const (
	// maxRows bounds the tables of all units. Ranges may be shared by any number of functions of a hostile file.
	maxRows = 10_000_000
	// maxInlined bounds how deep calls lie in each other.
	maxInlined = 256
)

func (s *source) load(x *unit) *loadedUnit {
	u := x.loaded
	if u.done {
		return u
	}
	u.done = true
	if lines, err := s.data.LineReader(x.entry); err == nil && lines != nil {
		var row dwarf.LineEntry
		for ; s.rows < maxRows && lines.Next(&row) == nil; s.rows++ {
			r := lineRow{address: row.Address, line: int64(row.Line), column: int64(row.Column), end: row.EndSequence}
			if row.File != nil {
				r.file = row.File.Name
			}
			u.lines = append(u.lines, r)
		}
		u.files = lines.Files()
		slices.SortStableFunc(u.lines, func(a, b lineRow) int {
			if a.address == b.address && a.end != b.end { // the end of one sequence is not of the next
				if a.end {
					return -1
				}
				return 1
			}
			return cmp.Compare(a.address, b.address)
		})
	}
	s.loadCalls(x.entry, u)
	slices.SortStableFunc(u.calls, func(a, b call) int { return cmp.Compare(a.from, b.from) })
	reach := uint64(0)
	for i := range u.calls {
		reach = max(reach, u.calls[i].to)
		u.reach = append(u.reach, reach)
	}
	return u
}

// row is the row of the line table that an address lies in.
func (u *loadedUnit) row(address uint64) lineRow {
	at, _ := slices.BinarySearchFunc(u.lines, address, func(r lineRow, a uint64) int {
		if r.address <= a {
			return -1
		}
		return 1
	})
	if at == 0 || u.lines[at-1].end {
		return lineRow{}
	}
	return u.lines[at-1]
}

// at are the function and inlined calls at an address, innermost first.
func (u *loadedUnit) at(address uint64) []call {
	var inside []call
	at, _ := slices.BinarySearchFunc(u.calls, address, func(c call, a uint64) int {
		if c.from <= a {
			return -1
		}
		return 1
	})
	for i := at - 1; i >= 0 && u.reach[i] > address; i-- {
		if c := u.calls[i]; address < c.to {
			inside = append(inside, c)
		}
	}
	slices.Reverse(inside)
	slices.SortStableFunc(inside, func(a, b call) int { return cmp.Compare(b.depth, a.depth) })
	return inside
}

// loadCalls collects the functions of a unit and what was inlined into them.
func (s *source) loadCalls(top *dwarf.Entry, u *loadedUnit) {
	r := s.data.Reader()
	r.Seek(top.Offset)
	if entry, err := r.Next(); err != nil || entry == nil || !entry.Children {
		return
	}
	for depth := 1; depth > 0 && s.rows < maxRows; {
		entry, err := r.Next()
		if err != nil || entry == nil {
			return
		}
		if entry.Tag == 0 {
			depth--
			continue
		}
		switch entry.Tag {
		case dwarf.TagSubprogram, dwarf.TagInlinedSubroutine:
			s.addCall(entry, u, depth)
		case dwarf.TagLexDwarfBlock, dwarf.TagNamespace, dwarf.TagStructType, dwarf.TagClassType:
		default:
			if entry.Children {
				r.SkipChildren()
			}
			continue
		}
		switch {
		case !entry.Children:
		case depth > maxInlined:
			r.SkipChildren()
		default:
			depth++
		}
	}
}

func (s *source) addCall(entry *dwarf.Entry, u *loadedUnit, depth int) {
	ranges, err := s.data.Ranges(entry)
	if err != nil || len(ranges) == 0 {
		return
	}
	c := call{depth: depth, inlined: entry.Tag == dwarf.TagInlinedSubroutine}
	s.declared(entry, u, &c, 0)
	if c.inlined {
		c.callFile = u.file(entry.Val(dwarf.AttrCallFile))
		c.callLine, _ = entry.Val(dwarf.AttrCallLine).(int64)
		c.callColumn, _ = entry.Val(dwarf.AttrCallColumn).(int64)
	}
	for _, x := range ranges[:min(len(ranges), maxRows-s.rows)] {
		c.from, c.to = x[0], x[1]
		u.calls = append(u.calls, c)
		s.rows++
	}
}

// declared takes name and place from an entry and from what it refers to.
func (s *source) declared(entry *dwarf.Entry, u *loadedUnit, c *call, hops int) {
	if linkage, ok := entry.Val(dwarf.AttrLinkageName).(string); ok {
		c.name = linkage
	} else if name, ok := entry.Val(dwarf.AttrName).(string); ok && c.name == "" {
		c.name = name
	}
	if c.start == 0 {
		c.start, _ = entry.Val(dwarf.AttrDeclLine).(int64)
		c.file = u.file(entry.Val(dwarf.AttrDeclFile))
	}
	if hops > 4 {
		return
	}
	for _, attr := range []dwarf.Attr{dwarf.AttrAbstractOrigin, dwarf.AttrSpecification} {
		offset, ok := entry.Val(attr).(dwarf.Offset)
		if !ok {
			continue
		}
		r := s.data.Reader()
		r.Seek(offset)
		origin, err := r.Next()
		switch {
		case err != nil || origin == nil:
		case offset >= u.from && offset < u.to:
			s.declared(origin, u, c, hops+1)
		default: // of another unit, whose files have other numbers
			s.declared(origin, &loadedUnit{}, c, hops+1)
		}
	}
}

func (u *loadedUnit) file(value any) string {
	i, ok := value.(int64)
	if !ok || i < 0 || i >= int64(len(u.files)) || u.files[i] == nil {
		return ""
	}
	return u.files[i].Name
}

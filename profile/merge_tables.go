package profile

import (
	"encoding/binary"
	"strings"
)

// mergeTables are the tables of a result, in which equal entries are there once, and where the entries of the profile
// that is being added lie in them (google/pprof profile/merge.go: profileMerger).
type mergeTables struct {
	to, from  *Profile
	labels    *labelTable
	mappings  map[mappingKey]int32
	functions map[Function]uint32
	locations map[string]uint32
	key       []byte
	memory    int64 // what the tables and their maps take, roughly

	// Of each entry of from, where it is in to; missing if that is not known yet. Before it is looked up in a map, it
	// is compared with what had the same index in the profile before: the profiles of a process are alike.
	mappingAt               []int32
	functionAt, functionWas []uint32
	locationAt, locationWas []uint32
}

// mappingKey tells mappings apart: those of the same file at different addresses are equal.
type mappingKey struct {
	size, offset uint64
	file         string
}

func (t *mergeTables) init(to *Profile) {
	*t = mergeTables{
		to: to, labels: newLabelTable(), mappings: map[mappingKey]int32{}, functions: map[Function]uint32{}, locations: map[string]uint32{},
	}
}

// unknownMapping says that a mapping was not yet looked up.
const unknownMapping = -2

func keyOf(m *Mapping) mappingKey {
	const page = 0x1000 // sizes that differ by less are the same
	k := mappingKey{size: (m.Limit - m.Start + page - 1) / page * page, offset: m.Offset, file: m.BuildID}
	if k.file == "" {
		k.file = m.File
	}
	return k
}

// begin begins a profile.
func (t *mergeTables) begin(from *Profile) {
	t.from = from
	t.mappingAt = t.mappingAt[:0]
	for i := range from.Mappings {
		at, ok := t.mappings[keyOf(&from.Mappings[i])]
		if !ok {
			at = unknownMapping
		}
		t.mappingAt = append(t.mappingAt, at)
	}
	t.functionAt, t.functionWas = refill(t.functionWas, len(from.Functions)), t.functionAt
	t.locationAt, t.locationWas = refill(t.locationWas, len(from.Locations)), t.locationAt
	if len(t.to.Mappings) == 0 && len(from.Mappings) > 0 {
		t.mapping(0) // the first is the program itself and stays the first
	}
	t.guess()
}

// guess finds what is where it was for the profile before: in the order of the tables, which is that of memory.
func (t *mergeTables) guess() {
	for i, was := range t.functionWas[:min(len(t.functionWas), len(t.functionAt))] {
		if was != missing && t.to.Functions[was] == t.from.Functions[i] {
			t.functionAt[i] = was
		}
	}
	for i, was := range t.locationWas[:min(len(t.locationWas), len(t.locationAt))] {
		if was != missing && t.isAt(was, uint32(i)) {
			t.locationAt[i] = was
		}
	}
}

// refill is a slice of n times missing.
func refill(s []uint32, n int) []uint32 {
	s = s[:0]
	for range n {
		s = append(s, missing)
	}
	return s
}

// mapping is where a mapping of from is.
func (t *mergeTables) mapping(i int32) int32 {
	if i == NoMapping {
		return NoMapping
	}
	if at := t.mappingAt[i]; at != unknownMapping {
		return at
	}
	m := &t.from.Mappings[i]
	k := keyOf(m)
	at, ok := t.mappings[k]
	if !ok {
		at = int32(len(t.to.Mappings))
		own := *m
		own.File, own.BuildID = strings.Clone(m.File), strings.Clone(m.BuildID)
		t.to.Mappings = append(t.to.Mappings, own)
		k.file = strings.Clone(k.file)
		t.mappings[k] = at
		t.memory += int64(len(m.File)+len(m.BuildID)+len(k.file)) + 300
	}
	t.mappingAt[i] = at
	return at
}

// function is where a function of from is.
func (t *mergeTables) function(i uint32) uint32 {
	if at := t.functionAt[i]; at != missing {
		return at
	}
	f := &t.from.Functions[i]
	at, ok := t.functions[*f]
	if !ok {
		at = uint32(len(t.to.Functions))
		own := cloned(*f)
		t.to.Functions = append(room(t.to.Functions, 1), own)
		t.functions[own] = at
		t.memory += int64(len(f.Name)+len(f.File)) + 250
		if f.SystemName != f.Name {
			t.memory += int64(len(f.SystemName))
		}
	}
	t.functionAt[i] = at
	return at
}

// cloned is a function whose names do not keep all names of its file in memory.
func cloned(f Function) Function {
	isSame := f.Name == f.SystemName
	f.Name, f.File = strings.Clone(f.Name), strings.Clone(f.File)
	if isSame {
		f.SystemName = f.Name
	} else {
		f.SystemName = strings.Clone(f.SystemName)
	}
	return f
}

// location is where a location of from is.
func (t *mergeTables) location(i uint32) uint32 {
	if at := t.locationAt[i]; at != missing {
		return at
	}
	l := t.from.Locations[i]
	lines := t.from.LinesOf(i)
	if l.Mapping != NoMapping { // the program may lie elsewhere in each process
		was := t.from.Mappings[l.Mapping].Start
		l.Mapping = t.mapping(l.Mapping)
		l.Address += t.to.Mappings[l.Mapping].Start - was
	}
	at := t.locationByKey(&l, lines)
	t.locationAt[i] = at
	return at
}

// isAt reports whether the location at an index is that of from, as far as its functions are known.
func (t *mergeTables) isAt(at, i uint32) bool {
	have, l := &t.to.Locations[at], &t.from.Locations[i]
	address, mapping := l.Address, l.Mapping
	if mapping != NoMapping {
		was := t.from.Mappings[mapping].Start
		if mapping = t.mappingAt[mapping]; mapping < 0 {
			return false
		}
		address += t.to.Mappings[mapping].Start - was
	}
	if have.Address != address || have.Mapping != mapping || have.Folded != l.Folded || have.Lines != l.Lines {
		return false
	}
	lines := t.from.LinesOf(i)
	for j, known := range t.to.LinesOf(at) {
		if known.Function != t.functionAt[lines[j].Function] || known.Line != lines[j].Line || known.Column != lines[j].Column {
			return false
		}
	}
	return true
}

func (t *mergeTables) locationByKey(l *Location, lines []Line) uint32 {
	k := binary.LittleEndian.AppendUint64(t.key[:0], l.Address)
	k = binary.LittleEndian.AppendUint32(k, uint32(l.Mapping))
	k = append(k, byte(bit(l.Folded)))
	for _, line := range lines {
		k = binary.AppendUvarint(k, uint64(t.function(line.Function)))
		k = binary.AppendVarint(k, line.Line)
		k = binary.AppendVarint(k, line.Column)
	}
	t.key = k
	at, ok := t.locations[string(k)]
	if !ok {
		at = uint32(len(t.to.Locations))
		l.FirstLine, l.Lines = uint32(len(t.to.Lines)), uint32(len(lines))
		t.to.Locations = append(room(t.to.Locations, 1), *l)
		for _, line := range lines {
			line.Function = t.function(line.Function)
			t.to.Lines = append(room(t.to.Lines, 1), line)
		}
		t.locations[string(k)] = at
		t.memory += int64(len(k)) + 32*int64(len(lines)) + 150
	}
	return at
}

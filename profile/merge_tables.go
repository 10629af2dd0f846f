package profile

import (
	"encoding/binary"
	"strings"
)

// mergeTables holds the deduplicated tables of a result, and maps the entries of the profile being added to
// entries of these tables (google/pprof profile/merge.go: profileMerger).
type mergeTables struct {
	to, from  *Profile
	labels    *labelTable
	mappings  map[mappingKey]int32
	functions map[Function]uint32
	locations map[string]uint32
	key       []byte
	memory    int64 // approximate size of the tables and their maps, in bytes

	// These tables map an entry of from to its index in to; missing if not yet known. An entry is compared with
	// the entry of the same index in the previous profile before it is looked up in a map, because profiles of
	// a process are similar.
	mappingAt                  []int32
	functionAt, prevFunctionAt []uint32
	locationAt, prevLocationAt []uint32
}

// mappingKey identifies a mapping. Mappings of the same file at different addresses are equal.
type mappingKey struct {
	size, offset uint64
	file         string
}

func (t *mergeTables) init(to *Profile) {
	*t = mergeTables{
		to: to, labels: newLabelTable(), mappings: map[mappingKey]int32{}, functions: map[Function]uint32{},
		locations: map[string]uint32{},
	}
}

// unknownMapping marks a mapping that was not yet looked up.
const unknownMapping = -2

func keyOf(m *Mapping) mappingKey {
	const page = 0x1000 // sizes are rounded up to pages
	k := mappingKey{size: (m.Limit - m.Start + page - 1) / page * page, offset: m.Offset, file: m.BuildID}
	if k.file == "" {
		k.file = m.File
	}
	return k
}

// begin prepares the tables for a profile.
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
	t.functionAt, t.prevFunctionAt = refill(t.prevFunctionAt, len(from.Functions)), t.functionAt
	t.locationAt, t.prevLocationAt = refill(t.prevLocationAt, len(from.Locations)), t.locationAt
	if len(t.to.Mappings) == 0 && len(from.Mappings) > 0 {
		t.mapping(0) // the first is the program itself and stays the first
	}
	t.guess()
}

// guess resolves the entries that have the same index as in the previous profile. It goes through the tables
// in memory order.
func (t *mergeTables) guess() {
	for i, was := range t.prevFunctionAt[:min(len(t.prevFunctionAt), len(t.functionAt))] {
		if was != missing && t.to.Functions[was] == t.from.Functions[i] {
			t.functionAt[i] = was
		}
	}
	for i, was := range t.prevLocationAt[:min(len(t.prevLocationAt), len(t.locationAt))] {
		if was != missing && t.isAt(was, uint32(i)) {
			t.locationAt[i] = was
		}
	}
}

// refill returns a slice with n times missing.
func refill(s []uint32, n int) []uint32 {
	s = s[:0]
	for range n {
		s = append(s, missing)
	}
	return s
}

// mapping returns the index in to of a mapping of from.
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

// function returns the index in to of a function of from.
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

// cloned returns a copy of f whose names do not keep the whole name table of its file in memory.
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

// location returns the index in to of a location of from.
func (t *mergeTables) location(i uint32) uint32 {
	if at := t.locationAt[i]; at != missing {
		return at
	}
	l := t.from.Locations[i]
	lines := t.from.LinesOf(i)
	if l.Mapping != NoMapping { // the program may be mapped at another address in each process
		was := t.from.Mappings[l.Mapping].Start
		l.Mapping = t.mapping(l.Mapping)
		l.Address += t.to.Mappings[l.Mapping].Start - was
	}
	at := t.locationByKey(&l, lines)
	t.locationAt[i] = at
	return at
}

// isAt reports whether the location with index at in to equals location i of from, as far as its functions
// are resolved.
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
		if known.Function != t.functionAt[lines[j].Function] || known.Line != lines[j].Line ||
			known.Column != lines[j].Column {
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

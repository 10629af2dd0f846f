package profile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"kitescope/internal/words"
)

// Builder collects samples one at a time and makes a Profile. It is meant for formats in which a stack is a
// list of names. It interns equal functions, locations, stacks and label sets, and adds up samples with equal
// stacks and labels.
type Builder struct {
	p         Profile
	functions map[Function]uint32
	mappings  map[Mapping]int32
	locations map[string]uint32
	labels    map[string]uint32
	texts     textNumbers // used for label keys
	samples   map[string]int
	key       []byte
	limits    Limits
	memory    int64 // approximate size of the tables and their maps, in bytes
}

// NewBuilder returns a Builder for samples with one value of each type.
func NewBuilder(types ...ValueType) *Builder {
	return &Builder{
		p:         Profile{Types: types, Starts: []uint32{0}, LabelSets: [][]Label{nil}},
		functions: map[Function]uint32{}, mappings: map[Mapping]int32{}, locations: map[string]uint32{},
		labels: map[string]uint32{"": 0}, samples: map[string]int{}, limits: Limits{}.orDefaults(),
	}
}

// Limit sets MaxMemory and MaxSamples (of distinct samples), which Sample enforces. The defaults apply until
// it is called.
func (b *Builder) Limit(l Limits) { b.limits = l.orDefaults() }

// Function returns the index of a function, adding it if necessary.
func (b *Builder) Function(f Function) uint32 {
	given := len(f.Name) + len(f.File)
	f.Name, f.SystemName, f.File = truncateName(f.Name), truncateName(f.SystemName), truncateName(f.File)
	i, ok := b.functions[f]
	if !ok {
		b.noteLong(given != len(f.Name)+len(f.File))
		i = uint32(len(b.p.Functions))
		b.p.Functions = append(b.p.Functions, f)
		b.functions[f] = i
		b.memory += int64(len(f.Name)+len(f.SystemName)+len(f.File)) + 200
	}
	return i
}

// Mapping returns the index of a mapping, adding it if necessary.
func (b *Builder) Mapping(m Mapping) int32 {
	given := len(m.File)
	m.File, m.BuildID = truncateName(m.File), truncateName(m.BuildID)
	i, ok := b.mappings[m]
	if !ok {
		b.noteLong(given != len(m.File))
		i = int32(len(b.p.Mappings))
		b.p.Mappings = append(b.p.Mappings, m)
		b.mappings[m] = i
		b.memory += int64(len(m.File)+len(m.BuildID)) + 250
	}
	return i
}

// Location returns the index of a location, adding it if necessary: an address in a mapping (or NoMapping)
// with its known lines, innermost first.
func (b *Builder) Location(mapping int32, address uint64, lines ...Line) uint32 {
	k := binary.AppendVarint(b.key[:0], int64(mapping))
	k = binary.AppendUvarint(k, address)
	for _, l := range lines {
		k = binary.AppendUvarint(k, uint64(l.Function))
		k = binary.AppendVarint(binary.AppendVarint(k, l.Line), l.Column)
	}
	b.key = k
	i, ok := b.locations[string(k)]
	if !ok {
		i = uint32(len(b.p.Locations))
		b.p.Locations = append(b.p.Locations, Location{
			Mapping: mapping, Address: address, FirstLine: uint32(len(b.p.Lines)), Lines: uint32(len(lines)),
		})
		b.p.Lines = append(b.p.Lines, lines...)
		b.locations[string(k)] = i
		b.memory += int64(len(k)) + 24*int64(len(lines)) + 100
	}
	return i
}

// Frame returns the location of a function for which only the name and the mapping are known, adding it if
// necessary.
func (b *Builder) Frame(name string, mapping int32) uint32 {
	return b.Location(mapping, 0, Line{Function: b.Function(Function{Name: name, SystemName: name})})
}

// check returns an error if the Profile exceeds the limits.
func (b *Builder) check() error {
	if b.memory > b.limits.MaxMemory {
		return tooLarge("it would take more than %s of memory", words.Bytes(b.limits.MaxMemory))
	}
	if b.p.Len() > b.limits.MaxSamples {
		return tooLarge("more than %d different samples", b.limits.MaxSamples)
	}
	return nil
}

// errTooMany is returned when 32-bit indexes overflow.
var errTooMany = errors.New("more frames than a profile can hold (4 billion)")

// Sample adds values to the sample with the given stack (leaf first) and labels. It returns an error if the
// Profile becomes too large.
func (b *Builder) Sample(stack []uint32, values []int64, labels ...Label) error {
	if len(values) != len(b.p.Types) {
		return fmt.Errorf("a sample has %d values instead of %d", len(values), len(b.p.Types))
	}
	set := b.labelSet(labels)
	k := binary.LittleEndian.AppendUint32(b.key[:0], set)
	for _, l := range stack {
		k = binary.LittleEndian.AppendUint32(k, l)
	}
	b.key = k
	i, ok := b.samples[string(k)]
	if !ok {
		if len(b.p.Stacks)+len(stack) > math.MaxUint32 {
			return errTooMany
		}
		i = b.p.Len()
		b.samples[string(k)] = i
		b.p.Stacks = append(b.p.Stacks, stack...)
		b.p.Starts = append(b.p.Starts, uint32(len(b.p.Stacks)))
		b.p.Values = append(b.p.Values, values...)
		b.p.LabelOf = append(b.p.LabelOf, set)
		b.memory += 8*int64(len(stack)+len(values)) + 100
		return b.check()
	}
	own := b.p.Values[i*len(values):]
	for j, v := range values {
		own[j] += v
	}
	return nil
}

func (b *Builder) labelSet(labels []Label) uint32 {
	if len(labels) == 0 {
		return 0
	}
	k := b.texts.appendLabels(b.key[:0], labels)
	b.key = k
	i, ok := b.labels[string(k)]
	if !ok {
		i = uint32(len(b.p.LabelSets))
		b.p.LabelSets = append(b.p.LabelSets, append([]Label(nil), labels...))
		b.labels[string(k)] = i
		b.memory += 2*int64(len(k)) + 100
		for _, l := range labels {
			b.memory += int64(len(l.Key)+len(l.Str)+len(l.Unit)) + 64
		}
	}
	return i
}

// Note adds count to the Note with the given text.
func (b *Builder) Note(what string, count int64) {
	for i := range b.p.Notes {
		if b.p.Notes[i].What == what {
			b.p.Notes[i].Count += count
			return
		}
	}
	b.p.Notes = append(b.p.Notes, Note{What: what, Count: count})
}

// Meta returns the Profile under construction, for setting its period, time, duration, default type and
// origin.
func (b *Builder) Meta() *Profile { return &b.p }

// Profile returns the finished Profile. The Builder must not be used afterwards.
func (b *Builder) Profile() *Profile {
	if len(b.p.LabelSets) == 1 {
		b.p.LabelOf = nil
	}
	return &b.p
}

// AddType appends a type. Samples that were added before get the value of the type with index like, or 0 if
// like is negative. It is meant for formats that declare their types late.
func (b *Builder) AddType(t ValueType, like int) {
	n := len(b.p.Types)
	values := make([]int64, 0, b.p.Len()*(n+1))
	for i := range b.p.Len() {
		own := b.p.Values[i*n : (i+1)*n]
		v := int64(0)
		if like >= 0 {
			v = own[like]
		}
		values = append(append(values, own...), v)
	}
	b.p.Values = values
	b.p.Types = append(b.p.Types, t)
}

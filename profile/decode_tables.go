package profile

import (
	"context"
	"encoding/binary"

	"kitescope/internal/hints"
	"kitescope/internal/words"
)

// decoder holds a profile while it is read: its tables, with ids and name numbers as in the file.
type decoder struct {
	limits       Limits
	in           *counter
	isCompressed bool
	window       window
	memory       int64 // bytes in maps and their keys; tables are counted by capacity

	samples
	types     []rawType
	mappings  []rawMapping
	functions []rawFunction
	locations []Location // Mapping is a reference
	lines     []Line     // Function is a reference
	comments  []uint64
	texts     texts
	single    [16]uint64 // fields 7 to 15 with a single number
	period    rawType
	conflicts int64 // fields that occurred again with a different number

	mappingIDs, functionIDs, locationIDs ids
}

// Decoded messages. Names are numbers in the name table.
type (
	rawType    struct{ kind, unit uint64 }
	rawMapping struct {
		Mapping
		file, buildID uint64
	}
	rawFunction struct {
		name, systemName, file uint64
		start                  int64
	}
)

// texts is the name table: all names concatenated, and the end of each.
type texts struct {
	all  []byte
	ends []int
}

// Numbers of the fields of message Profile (google/pprof proto/profile.proto).
const (
	profileSampleType = 1
	profileSample     = 2
	profileMapping    = 3
	profileLocation   = 4
	profileFunction   = 5
	profileString     = 6
	profileDropFrames = 7
	profileKeepFrames = 8
	profileTime       = 9
	profileDuration   = 10
	profilePeriodType = 11
	profilePeriod     = 12
	profileComment    = 13
	profileDefault    = 14
	profileDocURL     = 15
)

// maxTag is the maximum length in bytes of a field's tag together with its length or number.
const maxTag = 2 * binary.MaxVarintLen64

// fields reads the fields of the message Profile, each as soon as it is complete.
func (d *decoder) fields(ctx context.Context) error {
	w := &d.window
	fills := int64(-1)
	for {
		if w.end-w.at < maxTag {
			if err := w.ensure(ctx, maxTag); err != nil {
				return err
			}
		}
		if w.at == w.end {
			return nil
		}
		if w.read != fills { // more bytes were read
			fills = w.read
			if err := d.checkMemory(); err != nil {
				return err
			}
		}
		f, err := d.header()
		if err != nil {
			return err
		}
		if f.wire != wireBytes {
			if err := d.number(&f); err != nil {
				return err
			}
			continue
		}
		if f.number == 0 || f.number > profileDocURL {
			if err := w.skip(ctx, f.value); err != nil {
				return err
			}
			continue
		}
		if f.value > maxField {
			return malformed("field %d is of %s", f.number, words.Bytes(int64(min(f.value, 1<<62))))
		}
		if n := int(f.value); w.end-w.at < n {
			if err := w.ensure(ctx, n); err != nil {
				return err
			}
			if w.end-w.at < n {
				return errTruncated
			}
		}
		f.data = w.buf[w.at : w.at+int(f.value)]
		w.at += int(f.value)
		if err := d.message(&f); err != nil {
			return err
		}
	}
}

// header reads a tag from the window and the number after it: the field's value or the length of its data.
func (d *decoder) header() (f field, err error) {
	w := &d.window
	b := w.buf[w.at:w.end]
	tag, n := uvarint(b)
	if n <= 0 {
		return f, shortOrBad(n)
	}
	f.number, f.wire = tag>>3, byte(tag&7)
	var k int
	switch f.wire {
	case wireVarint, wireBytes:
		if f.value, k = uvarint(b[n:]); k <= 0 {
			return f, shortOrBad(k)
		}
	case wire64:
		k = 8
	case wire32:
		k = 4
	default:
		return f, malformed("field %d has unknown type %d", f.number, f.wire)
	}
	if n+k > len(b) {
		return f, errTruncated
	}
	w.at += n + k
	return f, nil
}

func shortOrBad(n int) error {
	if n == 0 {
		return errTruncated
	}
	return malformed("a number of more than %d bytes", binary.MaxVarintLen64)
}

// number reads a numeric field of Profile.
func (d *decoder) number(f *field) error {
	if f.number == 0 || f.number > profileDocURL {
		return nil
	}
	switch f.number {
	case profileSampleType, profileSample, profileMapping, profileLocation, profileFunction, profileString,
		profilePeriodType:
		return f.need(wireBytes)
	}
	if err := f.need(wireVarint); err != nil {
		return err
	}
	switch f.number {
	case profileComment:
		return d.comment(f.value)
	case profileTime:
		if d.single[profileTime] != 0 {
			return errConcatenated
		}
	}
	d.set(&d.single[f.number], f.value)
	return nil
}

var errConcatenated = &hints.Error{
	Err:    malformed("it holds several profiles one after the other"),
	Advice: "pull each into its own file, then merge the files: kitescope profile merge",
}

// message reads a length-delimited field of Profile.
func (d *decoder) message(f *field) error {
	switch f.number {
	case profileSample:
		return d.sample(f.data)
	case profileLocation:
		return d.location(f.data)
	case profileFunction:
		return d.function(f.data)
	case profileString:
		if len(f.data) > maxName {
			return tooLarge("a name of %s", words.Bytes(int64(len(f.data))))
		}
		return d.name(f.data)
	case profileMapping:
		return d.mapping(f.data)
	case profileSampleType:
		t, err := d.valueType(f.data)
		d.types = append(d.types, t)
		if len(d.types) > maxTypes {
			return tooLarge("more than %d values a sample", maxTypes)
		}
		return err
	case profilePeriodType:
		var err error
		d.period, err = d.valueType(f.data)
		return err
	case profileComment:
		return f.each(d.comment)
	}
	return f.need(wireVarint)
}

// name appends to the name table.
func (d *decoder) name(b []byte) (err error) {
	if len(d.texts.all) > maxNames {
		return tooLarge("more than %s of names", words.Bytes(maxNames))
	}
	if d.texts.all, err = roomIn(d, d.texts.all, len(b)); err != nil {
		return err
	}
	if d.texts.ends, err = roomIn(d, d.texts.ends, 1); err != nil {
		return err
	}
	d.texts.all = append(d.texts.all, b...)
	d.texts.ends = append(d.texts.ends, len(d.texts.all))
	if len(d.texts.ends) == 1 && len(b) > 0 {
		return malformed("its table of names does not begin with an empty one")
	}
	return nil
}

func (d *decoder) comment(v uint64) (err error) {
	d.comments, err = roomIn(d, d.comments, 1)
	d.comments = append(d.comments, v)
	return err
}

func (d *decoder) valueType(b []byte) (rawType, error) {
	var v [3]uint64
	err := d.scalars(b, v[:])
	return rawType{v[1], v[2]}, err
}

func (d *decoder) mapping(b []byte) error {
	var v [11]uint64
	if err := d.scalars(b, v[:]); err != nil {
		return err
	}
	if err := d.id(&d.mappingIDs, v[1]); err != nil {
		return err
	}
	var err error
	d.mappings, err = roomIn(d, d.mappings, 1)
	d.mappings = append(d.mappings, rawMapping{Mapping{
		Start: v[2], Limit: v[3], Offset: v[4],
		HasFunctions: v[7] != 0, HasFilenames: v[8] != 0, HasLineNumbers: v[9] != 0, HasInlineFrames: v[10] != 0,
	}, v[5], v[6]})
	return err
}

func (d *decoder) function(b []byte) error {
	var v [6]uint64
	if err := d.scalars(b, v[:]); err != nil {
		return err
	}
	if err := d.id(&d.functionIDs, v[1]); err != nil {
		return err
	}
	var err error
	d.functions, err = roomIn(d, d.functions, 1)
	d.functions = append(d.functions, rawFunction{v[2], v[3], v[4], int64(v[5])})
	return err
}

// ref returns the stored form of a reference. It checks the memory limit regularly because a single message
// may fill the map of far ids.
func (d *decoder) ref(s *ids, id uint64) (uint32, error) {
	const often = 1 << 14
	known := len(s.overflow)
	ref := s.ref(id)
	if len(s.overflow) > known && len(s.overflow)%often == 0 {
		return ref, d.checkMemory()
	}
	return ref, nil
}

// id records the id of the next entry of a table.
func (d *decoder) id(s *ids, id uint64) error {
	if s.entryIDs == nil && id == uint64(s.count)+1 {
		s.count++
		return nil
	}
	own, err := roomIn(d, s.entryIDs, s.count+1-len(s.entryIDs))
	if err != nil {
		return err
	}
	s.entryIDs = own
	for i := len(own); i < s.count; i++ { // the ids up to here were 1, 2, 3, ...
		s.entryIDs = append(s.entryIDs, uint64(i)+1)
	}
	s.entryIDs = append(s.entryIDs, id)
	s.count++
	return nil
}

func (d *decoder) location(b []byte) error {
	l := Location{FirstLine: uint32(len(d.lines))}
	var v [6]uint64
	for len(b) > 0 {
		f, rest, err := next(b)
		if err != nil {
			return err
		}
		b = rest
		switch f.number {
		case 1, 2, 3, 5: // id, mapping, address, folded
			if err := f.need(wireVarint); err != nil {
				return err
			}
			d.set(&v[f.number], f.value)
		case 4:
			if err := f.need(wireBytes); err != nil {
				return err
			}
			var line [4]uint64
			if err := d.scalars(f.data, line[:]); err != nil {
				return err
			}
			if d.lines, err = roomIn(d, d.lines, 1); err != nil {
				return err
			}
			function, err := d.ref(&d.functionIDs, line[1])
			if err != nil {
				return err
			}
			d.lines = append(d.lines, Line{Function: function, Line: int64(line[2]), Column: int64(line[3])})
		}
	}
	if err := d.id(&d.locationIDs, v[1]); err != nil {
		return err
	}
	l.Address, l.Folded = v[3], v[5] != 0
	l.Lines = uint32(len(d.lines)) - l.FirstLine
	l.Mapping = NoMapping
	if v[2] != 0 {
		l.Mapping = int32(d.mappingIDs.ref(v[2]))
	}
	var err error
	d.locations, err = roomIn(d, d.locations, 1)
	d.locations = append(d.locations, l)
	return err
}

// progress returns the fraction of the input that was read, 0 if it is unknown or not yet meaningful.
func (d *decoder) progress() float64 {
	const least = 4 << 20 // read-ahead is negligible from this size on
	if d.limits.Size < least || d.in.n < least/4 || d.in.n > d.limits.Size {
		return 0
	}
	return float64(d.in.n) / float64(d.limits.Size)
}

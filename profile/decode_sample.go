package profile

import (
	"bytes"
	"encoding/binary"
	"math"
)

// samples holds the columns of the samples while they are read. Stacks are references to ids, and label sets
// are raw bytes of the file.
type samples struct {
	starts  []uint32
	stacks  []uint32
	values  []int64
	labelOf []uint32
	width   int // values per sample; -1 before the first sample

	sets    map[string]uint32 // encoded labels of a sample: index in raw, plus 1
	raw     []string
	lastRaw []byte // labels of the previous sample
	lastSet uint32
	scratch []byte
}

func (s *samples) init(limits Limits) {
	// A frame takes one or two bytes of a compressed file. This is only the initial capacity.
	n := int(min(max(1<<10, limits.Size), 1<<19))
	s.stacks = make([]uint32, 0, n)
	s.starts = append(make([]uint32, 0, n/64), 0)
	s.values = make([]int64, 0, n/32)
	s.width = -1
}

// sample reads a Sample. Decoding spends nearly all of its time here, so the common field encodings are
// recognized by their first byte. All others go through next.
func (d *decoder) sample(b []byte) error {
	if len(d.starts) > d.limits.MaxSamples {
		return tooLarge("more than %d samples", d.limits.MaxSamples)
	}
	if cap(d.stacks)-len(d.stacks) < len(b) { // a frame takes at least one byte
		var err error
		if d.stacks, err = roomFor(d, d.stacks, len(b), d.progress()); err != nil {
			return err
		}
	}
	if len(d.starts) == cap(d.starts) {
		var err error
		if d.starts, err = roomFor(d, d.starts, 1, d.progress()); err != nil {
			return err
		}
	}
	before := len(d.values)
	d.scratch = d.scratch[:0]
	for len(b) > 1 {
		tag, length := b[0], int(b[1])
		isShort := length < 0x80 && length+2 <= len(b)
		var err error
		switch {
		case tag == 1<<3|wireBytes && isShort:
			err = d.frames(b[2 : 2+length])
		case tag == 2<<3|wireBytes && isShort:
			err = d.packedValues(b[2:2+length], before)
		case tag == 3<<3|wireBytes && isShort:
			d.scratch = append(d.scratch, b[:2+length]...)
		default:
			b, err = d.sampleField(b, before)
			if err != nil {
				return err
			}
			continue
		}
		if err != nil {
			return err
		}
		b = b[2+length:]
	}
	if len(b) > 0 {
		return malformed("sample %d ends within a field", len(d.starts))
	}
	return d.endSample(len(d.values) - before)
}

// sampleField reads the next field of a sample and returns the remaining bytes.
func (d *decoder) sampleField(b []byte, before int) ([]byte, error) {
	f, rest, err := next(b)
	if err != nil {
		return nil, err
	}
	switch f.number {
	case 1:
		if f.wire == wireBytes {
			return rest, d.frames(f.data)
		}
		if err := f.need(wireVarint); err != nil {
			return nil, err
		}
		ref, err := d.ref(&d.locationIDs, f.value)
		if err != nil {
			return nil, err
		}
		d.stacks = append(d.stacks, ref)
	case 2:
		if f.wire == wireBytes {
			return rest, d.packedValues(f.data, before)
		}
		if err := f.need(wireVarint); err != nil {
			return nil, err
		}
		return rest, d.value(f.value, before)
	case 3:
		if err := f.need(wireBytes); err != nil {
			return nil, err
		}
		d.scratch = append(d.scratch, 3<<3|wireBytes)
		d.scratch = binary.AppendUvarint(d.scratch, uint64(len(f.data)))
		d.scratch = append(d.scratch, f.data...)
	}
	return rest, nil
}

// frames appends packed location ids. The caller has made room for them.
func (d *decoder) frames(b []byte) error {
	n := len(d.stacks)
	out := d.stacks[n : n+len(b)]
	top, k := d.locationIDs.top, 0
	for i := 0; i < len(b); k++ {
		v := uint64(b[i])
		switch {
		case v < 0x80:
			i++
		case i+1 < len(b) && b[i+1] < 0x80:
			v = v&0x7f | uint64(b[i+1])<<7
			i += 2
		case i+2 < len(b) && b[i+2] < 0x80:
			v = v&0x7f | uint64(b[i+1]&0x7f)<<7 | uint64(b[i+2])<<14
			i += 3
		default:
			var size int
			if v, size = uvarint(b[i:]); size <= 0 {
				return malformed("sample %d ends within the id of a location", len(d.starts))
			}
			i += size
		}
		if v-1 >= firstOverflow {
			ref, err := d.ref(&d.locationIDs, v)
			if err != nil {
				return err
			}
			out[k] = ref
			continue
		}
		out[k] = uint32(v - 1)
		top = max(top, uint32(v))
	}
	d.locationIDs.top = top
	d.stacks = d.stacks[:n+k]
	return nil
}

func (d *decoder) packedValues(b []byte, before int) error {
	for len(b) > 0 {
		v, n := uvarint(b)
		if n <= 0 {
			return malformed("sample %d ends within a value", len(d.starts))
		}
		if err := d.value(v, before); err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}

func (d *decoder) value(v uint64, before int) error {
	if len(d.values)-before >= maxTypes {
		return tooLarge("sample %d has more than %d values", len(d.starts), maxTypes)
	}
	if len(d.values) == cap(d.values) {
		var err error
		if d.values, err = roomFor(d, d.values, 1, d.progress()); err != nil {
			return err
		}
	}
	d.values = append(d.values, int64(v))
	return nil
}

// endSample completes a sample.
func (d *decoder) endSample(values int) error {
	if d.width < 0 {
		d.width = values
	}
	if values != d.width {
		return malformed("sample %d has %d values, earlier ones have %d", len(d.starts), values, d.width)
	}
	if values == 0 {
		return malformed("sample %d has no values", len(d.starts))
	}
	if len(d.stacks) > math.MaxUint32 {
		return tooLarge("more than 4 billion frames")
	}
	if len(d.scratch) > 0 || d.labelOf != nil {
		if err := d.labels(); err != nil {
			return err
		}
	}
	d.starts = append(d.starts, uint32(len(d.stacks)))
	return nil
}

// labels records the labels of a sample, which are in d.scratch. Equal sets are stored once.
func (d *decoder) labels() (err error) {
	if d.labelOf == nil {
		if d.labelOf, err = roomIn(d, d.labelOf, cap(d.starts)); err != nil {
			return err
		}
		d.labelOf = d.labelOf[:len(d.starts)-1]
		d.sets = map[string]uint32{}
	}
	set := uint32(0)
	switch {
	case len(d.scratch) == 0:
	case bytes.Equal(d.scratch, d.lastRaw):
		set = d.lastSet
	default:
		var ok bool
		if set, ok = d.sets[string(d.scratch)]; !ok {
			raw := string(d.scratch)
			if d.raw, err = roomIn(d, d.raw, 1); err != nil {
				return err
			}
			d.raw = append(d.raw, raw)
			set = uint32(len(d.raw))
			d.sets[raw] = set
			// This counts the raw bytes, the Labels that finish makes (64 bytes each, from at least 4 raw
			// bytes) and their keys, in two maps and a table.
			d.memory += int64(len(raw))*(1+64/4+2) + 2*mapEntry + 100
			if err := d.checkMemory(); err != nil { // one set may take 64 MiB
				return err
			}
		}
		d.lastRaw, d.lastSet = append(d.lastRaw[:0], d.scratch...), set
	}
	if len(d.labelOf) == cap(d.labelOf) {
		if d.labelOf, err = roomFor(d, d.labelOf, 1, d.progress()); err != nil {
			return err
		}
	}
	d.labelOf = append(d.labelOf, set)
	return nil
}

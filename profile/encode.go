package profile

import (
	"bufio"
	"encoding/binary"
	"io"
	"math/bits"
	"time"

	"github.com/klauspost/compress/gzip"
)

// Encode writes the profile as a pprof file compressed with gzip, as `go tool pprof -proto` does. It does not
// symbolize: a mapping without function names is written as it is. Origin and Notes are lost because the
// format has no fields for them.
func (p *Profile) Encode(w io.Writer) error {
	out := bufio.NewWriterSize(w, 64<<10) // the compressor writes a few hundred bytes at a time
	zip, err := gzip.NewWriterLevel(out, encodeLevel)
	if err != nil {
		return err
	}
	e := &encoder{p: p, w: zip, names: map[string]uint64{"": 0}, order: []string{""}}
	e.profile()
	e.flush(0)
	if e.err != nil {
		return e.err
	}
	if err := zip.Close(); err != nil {
		return err
	}
	return out.Flush()
}

// encodeLevel is the gzip level. The highest levels take three times as long and save a tenth of the size.
const encodeLevel = 1

// encoder writes the messages of a pprof file (google/pprof proto/profile.proto). An id is an index plus 1.
type encoder struct {
	p         *Profile
	w         io.Writer
	err       error
	out       []byte // pending output
	part      []byte // buffer of a nested message
	frames    []byte // buffer of a sample's stack
	names     map[string]uint64
	order     []string
	emptyName uint64   // see nothing
	sets      [][]byte // encoded label sets, nil if not yet used
}

// profile writes the fields in the order of their numbers. All names are numbered before the name table is
// written, including those used by fields after it.
func (e *encoder) profile() {
	p := e.p
	for _, t := range p.Types {
		e.valueType(profileSampleType, t)
	}
	e.sets = make([][]byte, len(p.LabelSets))
	for i := range p.Len() {
		e.sample(i)
		e.flush(64 << 10)
	}
	e.mappings()
	for i := range p.Locations {
		e.location(i)
		e.flush(64 << 10)
	}
	for i := range p.Functions {
		f := &p.Functions[i]
		e.message(profileFunction, uint64(i)+1, e.name(f.Name), e.name(f.SystemName), e.name(f.File),
			uint64(f.StartLine))
		e.flush(64 << 10)
	}
	drop, keep, kind, url := e.name(p.DropFrames), e.name(p.KeepFrames), e.name(p.DefaultType), e.name(p.DocURL)
	period := [2]uint64{e.name(p.PeriodType.Type), e.name(p.PeriodType.Unit)}
	comments := make([]uint64, len(p.Comments))
	for i, c := range p.Comments {
		comments[i] = e.name(c)
	}
	for _, s := range e.order {
		e.bytes(profileString, s)
		e.flush(64 << 10)
	}
	e.number(profileDropFrames, drop)
	e.number(profileKeepFrames, keep)
	e.number(profileTime, uint64(nanos(p.Time)))
	e.number(profileDuration, uint64(p.Duration))
	if period != [2]uint64{} {
		e.message(profilePeriodType, period[:]...)
	}
	e.number(profilePeriod, uint64(p.Period))
	for _, c := range comments { // an empty comment is kept too
		e.out = append(e.out, profileComment<<3|wireVarint)
		e.out = binary.AppendUvarint(e.out, c)
	}
	e.number(profileDefault, kind)
	e.number(profileDocURL, url)
}

// nanos returns a time in nanoseconds since 1970, as in the format. It returns 0 if the time is unknown or
// does not fit into 64 bits.
func nanos(t time.Time) int64 {
	if n := t.UnixNano(); time.Unix(0, n).Equal(t) {
		return n
	}
	return 0
}

// flush writes the pending output if it is longer than limit bytes.
func (e *encoder) flush(limit int) {
	if len(e.out) <= limit || e.err != nil {
		return
	}
	_, e.err = e.w.Write(e.out)
	e.out = e.out[:0]
}

// name returns the number of a name in the name table, adding it if necessary.
func (e *encoder) name(s string) uint64 {
	i, ok := e.names[s]
	if !ok {
		i = uint64(len(e.order))
		e.names[s] = i
		e.order = append(e.order, s)
	}
	return i
}

// addEmptyName returns the number of a second empty name, adding it if necessary. In a label, number 0 means that
// text or unit is missing, and readers skip a label with no text, no unit and the number 0. Such a label is
// written with this name instead.
func (e *encoder) addEmptyName() uint64 {
	if e.emptyName == 0 {
		e.emptyName = uint64(len(e.order))
		e.order = append(e.order, "")
	}
	return e.emptyName
}

func (e *encoder) valueType(number byte, t ValueType) {
	e.message(number, e.name(t.Type), e.name(t.Unit))
}

// message writes a message whose fields 1, 2, 3 and so on are the given numbers.
func (e *encoder) message(number byte, values ...uint64) {
	e.part = appendFields(e.part[:0], values...)
	e.bytes(number, string(e.part))
}

// appendFields appends the values as fields 1, 2, 3 and so on, omitting values of 0.
func appendFields(b []byte, values ...uint64) []byte {
	for i, v := range values {
		if v != 0 {
			b = append(b, byte(i+1)<<3|wireVarint)
			b = binary.AppendUvarint(b, v)
		}
	}
	return b
}

func (e *encoder) number(number byte, v uint64) {
	if v != 0 {
		e.out = append(e.out, number<<3|wireVarint)
		e.out = binary.AppendUvarint(e.out, v)
	}
}

func (e *encoder) bytes(number byte, s string) {
	e.out = append(e.out, number<<3|wireBytes)
	e.out = binary.AppendUvarint(e.out, uint64(len(s)))
	e.out = append(e.out, s...)
}

// uvarintSize returns the encoded length of a number in bytes.
func uvarintSize(v uint64) int { return (bits.Len64(v|1) + 6) / 7 }

// sample writes a Sample. It computes the length first because the length precedes the fields.
func (e *encoder) sample(i int) {
	p := e.p
	stack, values := p.Stack(i), p.Values[i*len(p.Types):][:len(p.Types)]
	var labels []byte
	if p.LabelOf != nil {
		labels = e.labels(p.LabelOf[i])
	}
	frames := e.stack(stack)
	numbers := 0
	for _, v := range values {
		numbers += uvarintSize(uint64(v))
	}
	length := 1 + uvarintSize(uint64(numbers)) + numbers + len(labels)
	if len(frames) > 0 {
		length += 1 + uvarintSize(uint64(len(frames))) + len(frames)
	}
	b := e.out
	b = append(b, profileSample<<3|wireBytes)
	b = binary.AppendUvarint(b, uint64(length))
	if len(frames) > 0 {
		b = append(b, 1<<3|wireBytes)
		b = binary.AppendUvarint(b, uint64(len(frames)))
		b = append(b, frames...)
	}
	b = append(b, 2<<3|wireBytes)
	b = binary.AppendUvarint(b, uint64(numbers))
	for _, v := range values {
		b = binary.AppendUvarint(b, uint64(v))
	}
	b = append(b, labels...)
	e.out = b
}

// stack returns the encoded location ids of a stack, in a buffer that the next call overwrites. It encodes like
// binary.AppendUvarint, but is faster for small numbers, which most are. An index is below 2^32-1.
func (e *encoder) stack(stack []uint32) []byte {
	if need := len(stack) * binary.MaxVarintLen32; len(e.frames) < need {
		e.frames = make([]byte, 2*need)
	}
	b, n := e.frames, 0
	for _, l := range stack {
		switch v := l + 1; {
		case v < 1<<7:
			b[n] = byte(v)
			n++
		case v < 1<<14:
			b[n], b[n+1] = byte(v)|0x80, byte(v>>7)
			n += 2
		case v < 1<<21:
			b[n], b[n+1], b[n+2] = byte(v)|0x80, byte(v>>7)|0x80, byte(v>>14)
			n += 3
		default:
			n += binary.PutUvarint(b[n:], uint64(v))
		}
	}
	return b[:n]
}

// labels returns the encoded fields of a label set.
func (e *encoder) labels(set uint32) []byte {
	if set == 0 || e.sets[set] != nil {
		return e.sets[set]
	}
	b := []byte{}
	for _, l := range e.p.LabelSets[set] {
		key := e.name(l.Key)
		switch {
		case !l.IsNum && l.Str == "":
			e.part = appendFields(e.part[:0], key, e.addEmptyName())
		case !l.IsNum:
			e.part = appendFields(e.part[:0], key, e.name(l.Str))
		case l.Num == 0 && l.Unit == "":
			e.part = appendFields(e.part[:0], key, 0, 0, e.addEmptyName())
		default:
			e.part = appendFields(e.part[:0], key, 0, uint64(l.Num), e.name(l.Unit))
		}
		b = append(b, 3<<3|wireBytes)
		b = binary.AppendUvarint(b, uint64(len(e.part)))
		b = append(b, e.part...)
	}
	e.sets[set] = b
	return b
}

func (e *encoder) mappings() {
	for i := range e.p.Mappings {
		m := &e.p.Mappings[i]
		e.message(profileMapping, uint64(i)+1, m.Start, m.Limit, m.Offset, e.name(m.File), e.name(m.BuildID),
			bit(m.HasFunctions), bit(m.HasFilenames), bit(m.HasLineNumbers), bit(m.HasInlineFrames))
	}
}

func bit(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

func (e *encoder) location(i int) {
	l := &e.p.Locations[i]
	b := appendFields(e.part[:0], uint64(i)+1, uint64(l.Mapping+1), l.Address)
	for _, line := range e.p.LinesOf(uint32(i)) {
		var lineFields [3 * (1 + binary.MaxVarintLen64)]byte
		fields := appendFields(lineFields[:0], uint64(line.Function)+1, uint64(line.Line), uint64(line.Column))
		b = append(b, 4<<3|wireBytes)
		b = binary.AppendUvarint(b, uint64(len(fields)))
		b = append(b, fields...)
	}
	if l.Folded {
		b = append(b, 5<<3|wireVarint, 1)
	}
	e.part = b
	e.bytes(profileLocation, string(b))
}

package render

import (
	"io"
	"strconv"
	"time"
)

// document tells an encoder what there is to say, from outside in.
type document func(e encoder)

// encoder writes nested values in a structured format. Within an object every value
// follows its key. A write error is kept and returned by flush.
type encoder interface {
	beginObject()
	endObject()
	beginList()
	endList()
	key(name string)
	text(s string)
	// texts is a list of strings.
	texts(list []string)
	integer(n int64)
	// id is an int64 that is written as a string: JavaScript and jq lose bits over 2^53.
	id(n int64)
	number(f float64)
	// exact is a number with all its digits: a probability of 1e-12 is not 0.
	exact(f float64)
	// seconds is a duration.
	seconds(ns int64)
	boolean(b bool)
	time(ns int64)
	flush() error
}

// output collects bytes and hands them on in large pieces.
type output struct {
	w   io.Writer
	buf []byte
	err error
}

const pieceSize = 64 << 10

func newOutput(w io.Writer) output { return output{w: w, buf: make([]byte, 0, pieceSize+4<<10)} }

// drain writes when enough has come together, if there is a writer.
func (o *output) drain() {
	if o.w != nil && len(o.buf) >= pieceSize {
		_ = o.flush()
	}
}

func (o *output) flush() error {
	if o.err == nil && len(o.buf) > 0 {
		_, o.err = o.w.Write(o.buf)
	}
	o.buf = o.buf[:0]
	return o.err
}

// appendSeconds appends a duration in seconds, with up to three decimals.
func appendSeconds(dst []byte, ns int64) []byte {
	ms := time.Duration(ns).Round(time.Millisecond).Milliseconds()
	if ms < 0 {
		dst = append(dst, '-')
		ms = -ms
	}
	dst = strconv.AppendInt(dst, ms/1000, 10)
	if ms%1000 == 0 {
		return dst
	}
	frac := ms % 1000
	dst = append(dst, '.', byte('0'+frac/100), byte('0'+frac/10%10), byte('0'+frac%10))
	for dst[len(dst)-1] == '0' {
		dst = dst[:len(dst)-1]
	}
	return dst
}

// appendNumber appends a float with up to four decimals, as a percentage needs.
func appendNumber(dst []byte, f float64) []byte {
	dst = strconv.AppendFloat(dst, f, 'f', 4, 64)
	for dst[len(dst)-1] == '0' {
		dst = dst[:len(dst)-1]
	}
	if dst[len(dst)-1] == '.' {
		dst = dst[:len(dst)-1]
	}
	return dst
}

// appendExact appends the shortest form that reads back as the same number.
func appendExact(dst []byte, f float64) []byte { return strconv.AppendFloat(dst, f, 'g', -1, 64) }

// appendTime appends RFC 3339 in UTC, with milliseconds if there are any.
func appendTime(dst []byte, ns int64) []byte {
	sec, frac := ns/1e9, ns%1e9
	if frac < 0 {
		sec, frac = sec-1, frac+1e9
	}
	days, rest := sec/86400, sec%86400
	if rest < 0 {
		days, rest = days-1, rest+86400
	}
	year, month, day := civil(days)
	if year < 1000 || year > 9999 { // out of RFC 3339's comfort: leave it to the library
		return time.Unix(0, ns).UTC().AppendFormat(dst, time.RFC3339)
	}
	dst = append(dst, byte('0'+year/1000), byte('0'+year/100%10))
	dst = appendTwo(dst, year%100)
	dst = appendTwo(append(dst, '-'), month)
	dst = appendTwo(append(dst, '-'), day)
	dst = appendTwo(append(dst, 'T'), rest/3600)
	dst = appendTwo(append(dst, ':'), rest/60%60)
	dst = appendTwo(append(dst, ':'), rest%60)
	if ms := frac / 1e6; ms != 0 {
		dst = append(dst, '.', byte('0'+ms/100), byte('0'+ms/10%10), byte('0'+ms%10))
	}
	return append(dst, 'Z')
}

func appendTwo(dst []byte, n int64) []byte { return append(dst, byte('0'+n/10), byte('0'+n%10)) }

// civil turns days since 1970-01-01 into a date of the proleptic Gregorian calendar
// (Howard Hinnant, "chrono-compatible low-level date algorithms", civil_from_days). It
// is three times as fast as time.AppendFormat, which matters for a million of them.
func civil(days int64) (year, month, day int64) {
	z := days + 719468
	era := z / 146097
	if z < 0 {
		era = (z - 146096) / 146097
	}
	doe := z - era*146097
	yoe := (doe - doe/1460 + doe/36524 - doe/146096) / 365
	doy := doe - (365*yoe + yoe/4 - yoe/100)
	mp := (5*doy + 2) / 153
	day = doy - (153*mp+2)/5 + 1
	month = mp + 3
	if month > 12 {
		month -= 12
	}
	year = yoe + era*400
	if month <= 2 {
		year++
	}
	return year, month, day
}

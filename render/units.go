package render

import (
	"math"
	"strconv"
	"time"

	"kitescope/inspect/view"
)

// Marks of cells without a value.
const (
	// NoneMark stands for "there is none".
	NoneMark = "-"
	// UnknownMark stands for "it was not looked at".
	UnknownMark = "?"
)

// Text is a cell for people: bytes as "1.2 MiB", ages as "3m12s", counts exact. Nothing
// in it can move a terminal's cursor.
func Text(c view.Cell, k view.Kind) string { return string(AppendText(nil, c, k)) }

// AppendText appends Text.
func AppendText(dst []byte, c view.Cell, k view.Kind) []byte {
	switch c.Absent {
	case view.Unknown:
		return append(dst, UnknownMark...)
	case view.None:
		return append(dst, NoneMark...)
	case view.Present:
	}
	switch k {
	case view.ID, view.Int:
		return strconv.AppendInt(dst, c.Int, 10)
	case view.Bytes:
		return AppendBytes(dst, c.Int)
	case view.Percent:
		return AppendPercent(dst, c.Float)
	case view.Time:
		return appendTime(dst, c.Int-c.Int%1e9)
	case view.Duration:
		return AppendDuration(dst, time.Duration(c.Int))
	case view.Bool:
		if c.Int != 0 {
			return append(dst, "yes"...)
		}
		return append(dst, "no"...)
	case view.List:
		return appendList(dst, c.List, ",")
	case view.Pairs:
		return appendPairs(dst, c.List, ",")
	default:
		return appendHarmless(dst, c.Text)
	}
}

func appendList(dst []byte, list []string, separator string) []byte {
	if len(list) == 0 {
		return append(dst, NoneMark...)
	}
	for i, s := range list {
		if i > 0 {
			dst = append(dst, separator...)
		}
		dst = appendHarmless(dst, s)
	}
	return dst
}

func appendPairs(dst []byte, flat []string, separator string) []byte {
	if len(flat) == 0 {
		return append(dst, NoneMark...)
	}
	for i := 0; i+1 < len(flat); i += 2 {
		if i > 0 {
			dst = append(dst, separator...)
		}
		dst = appendHarmless(dst, flat[i])
		dst = append(dst, '=')
		dst = appendHarmless(dst, flat[i+1])
	}
	return dst
}

var byteUnits = [...]string{" B", " KiB", " MiB", " GiB", " TiB", " PiB", " EiB"}

// AppendBytes appends a size in units of 1024: three significant digits at most, and
// whole bytes below 1024.
func AppendBytes(dst []byte, n int64) []byte {
	unit, f := 0, math.Abs(float64(n))
	for f >= 999.5 && unit < len(byteUnits)-1 && (unit > 0 || f >= 1024) {
		f /= 1024
		unit++
	}
	if n < 0 {
		dst = append(dst, '-')
	}
	decimals := 0
	if unit > 0 && f < 99.95 {
		decimals = 1
	}
	dst = strconv.AppendFloat(dst, f, 'f', decimals, 64)
	return append(dst, byteUnits[unit]...)
}

// AppendPercent appends a percentage with at most one decimal, rounded; but what is not all is not rounded to it:
// 99.97 is not 100. Findings write theirs alike.
func AppendPercent(dst []byte, f float64) []byte {
	const noise = 1e-9 // of sums that come to 100
	switch {
	case f > noise && f < 0.1:
		return append(dst, "<0.1%"...)
	case f < 100-noise:
		f = min(f, 99.9)
	}
	return append(strconv.AppendFloat(dst, math.Round(f*10)/10, 'f', -1, 64), '%')
}

// AppendDuration appends the two greatest units that are not zero: "450ms", "12s",
// "3m12s", "2h5m", "3d4h", "400d".
func AppendDuration(dst []byte, d time.Duration) []byte {
	if d < 0 {
		dst, d = append(dst, '-'), -d
	}
	if d == 0 {
		return append(dst, "0s"...)
	}
	if d < time.Second {
		return append(strconv.AppendInt(dst, max(1, d.Milliseconds()), 10), "ms"...)
	}
	units := [...]struct {
		name   string
		length time.Duration
	}{{"d", 24 * time.Hour}, {"h", time.Hour}, {"m", time.Minute}, {"s", time.Second}}
	for i, u := range units {
		if d < u.length {
			continue
		}
		n := d / u.length
		dst = append(strconv.AppendInt(dst, int64(n), 10), u.name...)
		if i+1 == len(units) || u.name == "d" && n >= 100 {
			return dst
		}
		next := units[i+1]
		if rest := (d - n*u.length) / next.length; rest > 0 {
			dst = append(strconv.AppendInt(dst, int64(rest), 10), next.name...)
		}
		return dst
	}
	return dst
}

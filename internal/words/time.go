package words

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Span formats a duration with about two digits: "13 s", "29 min", "3.5 h", "4 d". It returns "0 s" if d is
// negative.
func Span(d time.Duration) string {
	switch {
	case d < 0:
		return "0 s"
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < 2*time.Minute:
		return fmt.Sprintf("%d s", int(d.Round(time.Second).Seconds()))
	case d < 100*time.Minute:
		return fmt.Sprintf("%d min", int(d.Round(time.Minute).Minutes()))
	case d < 10*time.Hour:
		return strings.TrimSuffix(strconv.FormatFloat(d.Hours(), 'f', 1, 64), ".0") + " h"
	case d < 48*time.Hour:
		return strconv.FormatFloat(d.Hours(), 'f', 0, 64) + " h"
	}
	return fmt.Sprintf("%d d", int(d.Hours()/24))
}

// Age formats a duration for tables, with its largest unit and the next smaller one if that is not zero: "450ms",
// "12s", "3m12s", "2h5m", "3d4h", "400d".
func Age(d time.Duration) string { return string(AppendAge(nil, d)) }

// AppendAge appends Age(d) to dst.
func AppendAge(dst []byte, d time.Duration) []byte {
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

// Latency formats a latency with three digits: "642 µs" ("us" in ASCII), "1.23 ms", "2.03 s". From 100 s it is
// formatted like Age ("3m12s"). It returns "?" if d is negative.
func Latency(d time.Duration, ascii bool) string {
	micro := " µs"
	if ascii {
		micro = " us"
	}
	switch {
	case d < 0:
		return UnknownMark
	case d < time.Microsecond:
		return strconv.FormatInt(int64(d), 10) + " ns"
	case d < 999500*time.Nanosecond:
		return ThreeDigits(float64(d)/1e3) + micro
	case d < 999500*time.Microsecond:
		return ThreeDigits(float64(d)/1e6) + " ms"
	case d < 100*time.Second:
		return ThreeDigits(float64(d)/1e9) + " s"
	}
	return Age(d)
}

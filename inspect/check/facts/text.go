package facts

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Number writes a count with its thousands apart: "6,974".
func Number[N ~int | ~int32 | ~int64](n N) string {
	digits := strconv.FormatInt(int64(n), 10)
	sign := ""
	if digits[0] == '-' {
		sign, digits = "-", digits[1:]
	}
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return sign + digits
}

// Plural counts things: "1 segment", "3 segments", "2 processes".
func Plural[N ~int | ~int32 | ~int64](n N, thing string) string {
	switch {
	case n == 1:
		return "1 " + thing
	case strings.HasSuffix(thing, "s"):
		thing += "e"
	}
	return Number(n) + " " + thing + "s"
}

// Percent writes a share of 0 to 1 as tables do: "28.3 %", with at most one decimal. What is not all is not rounded to it.
func Percent(share float64) string {
	const noise = 1e-9 // of sums that come to 1
	p := 100 * share
	switch {
	case p > noise && p < 0.1:
		return "<0.1 %"
	case p < 100-noise:
		p = min(p, 99.9)
	}
	return strconv.FormatFloat(math.Round(p*10)/10, 'f', -1, 64) + " %"
}

// Span writes how long something takes or has taken, to two digits: "13 s", "29 min", "3.5 h", "4 d".
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

// Few lists the first names of a list: "a, b, c and 4 more".
func Few(names []string) string {
	const most = 4
	switch {
	case len(names) == 0:
		return "none"
	case len(names) == 1:
		return names[0]
	case len(names) <= most:
		last := len(names) - 1
		return strings.Join(names[:last], ", ") + " and " + names[last]
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most-1], ", "), len(names)-most+1)
}

// TimeText is a moment as evidence, "unknown" for none.
func TimeText(t time.Time) string {
	if t.IsZero() {
		return "unknown"
	}
	return t.UTC().Format("2006-01-02 15:04:05Z")
}

// MostCommon is the key with the greatest count, the first in order among equals; "" if there is none.
func MostCommon(counts map[string]int) string {
	best, n := "", 0
	for k, v := range counts {
		if v > n || v == n && k < best {
			best, n = k, v
		}
	}
	return best
}

// Part is a of b, 0 if there is nothing of b.
func Part(a, b int64) float64 {
	if b <= 0 {
		return 0
	}
	return float64(a) / float64(b)
}

// Article is what stands before a word: "an index node".
func Article(word string) string {
	if word != "" && strings.ContainsRune("aeiouAEIOU", rune(word[0])) {
		return "an"
	}
	return "a"
}

// Agree is the form of a verb that goes with a count: agree(n, "has", "have").
func Agree[N ~int | ~int32 | ~int64](n N, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// BytesText writes a size to three digits in the unit that fits: "3.42 GiB".
func BytesText(n int64) string {
	const step = 1024
	if n < step {
		return strconv.FormatInt(n, 10) + " B"
	}
	v, unit := float64(n)/step, 0
	for units := "KMGTP"; v >= step && unit < len(units)-1; unit++ {
		v /= step
	}
	digits := 2
	switch {
	case v >= 100:
		digits = 0
	case v >= 10:
		digits = 1
	}
	return strconv.FormatFloat(v, 'f', digits, 64) + " " + "KMGTP"[unit:unit+1] + "iB"
}

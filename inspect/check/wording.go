package check

import "strconv"

// bytesText writes a size to three digits in the unit that fits: "3.42 GiB".
func bytesText(n int64) string {
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

// agree is the form of a verb that goes with a count: agree(n, "has", "have").
func agree[N ~int | ~int32 | ~int64](n N, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

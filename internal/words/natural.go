package words

import "cmp"

// CompareNatural compares texts and orders runs of digits by their numeric value, so that dml_2 comes before
// dml_10. It compares texts bytewise if they differ only in leading zeros.
func CompareNatural(a, b string) int {
	i, j := 0, 0
	for i < len(a) && j < len(b) {
		if !isDigit(a[i]) || !isDigit(b[j]) {
			if a[i] != b[j] {
				return cmp.Compare(a[i], b[j])
			}
			i, j = i+1, j+1
			continue
		}
		m, n := number(a, i), number(b, j)
		if c := compareNumbers(a[i:m], b[j:n]); c != 0 {
			return c
		}
		i, j = m, n
	}
	if c := cmp.Compare(len(a)-i, len(b)-j); c != 0 {
		return c
	}
	return cmp.Compare(a, b)
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// number returns the index after the run of digits that starts at from.
func number(s string, from int) int {
	for from < len(s) && isDigit(s[from]) {
		from++
	}
	return from
}

func compareNumbers(a, b string) int {
	for len(a) > 1 && a[0] == '0' {
		a = a[1:]
	}
	for len(b) > 1 && b[0] == '0' {
		b = b[1:]
	}
	if len(a) != len(b) {
		return cmp.Compare(len(a), len(b))
	}
	return cmp.Compare(a, b)
}

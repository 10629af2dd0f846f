package expr

import (
	"errors"
	"strings"
)

// oldLike returns a test of a pattern by the rules of 2.1 to 2.3, where % is allowed only at the end.
func oldLike(pattern string) (func(string) bool, error) {
	last := len(pattern) - 1
	for last >= 0 && pattern[last] == '%' && !(last > 0 && pattern[last-1] == '\\') {
		last--
	}
	if last < 0 {
		return func(string) bool { return true }, nil
	}
	body := pattern[:last+1]
	for i := len(body) - 1; i >= 0; i-- {
		if body[i] != '%' {
			continue
		}
		if i == 0 || body[i-1] != '\\' {
			return nil, errors.New("before Milvus 2.4, % is supported only at the end of a pattern")
		}
		i--
	}
	if last == len(pattern)-1 {
		return func(s string) bool { return s == body }, nil
	}
	return func(s string) bool { return strings.HasPrefix(s, body) }, nil
}

package words

import (
	"strings"
	"testing"
)

func TestList(t *testing.T) {
	for want, texts := range map[string]string{"": "", "a": "a", "a or b": "a b", "a, b or c": "a b c"} {
		if got := List("or", strings.Fields(texts)...); got != want {
			t.Errorf("List(%q) = %q, want %q", texts, got, want)
		}
	}
}

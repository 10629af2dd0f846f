package shellquotetest

import (
	"slices"
	"testing"
)

// What a shell would obey is found, whichever way it comes in; what is quoted is words.
func TestShell(t *testing.T) {
	s := New(t)
	for _, command := range []string{"kitescope x;id", "kitescope x&id", "kitescope x|id", "kitescope $(id)", "kitescope `id`", "kitescope x\nid", "kitescope x>file", "kitescope 'x", "kitescope x;nobody"} {
		if words, err := s.Words(t, command); err == nil {
			t.Errorf("%q: %q", command, words)
		}
	}
	words, err := s.Words(t, "kitescope get 'a;id&$(id)' --to='`id`\n'")
	if want := []string{"kitescope", "get", "a;id&$(id)", "--to=`id`\n"}; err != nil || !slices.Equal(words, want) {
		t.Errorf("%q, %v", words, err)
	}
}

package hints_test

import (
	"errors"
	"fmt"
	"testing"

	"kitescope/internal/hints"
)

func TestHints(t *testing.T) {
	plain := errors.New("it failed")
	near := hints.Errorf("try near", "read %s: %w", "x", plain)
	for _, test := range []struct {
		name, hint, text string
		err              error
	}{
		{"nil", "", "", nil},
		{"plain", "", "it failed", plain},
		{"made", "try near", "read x: it failed", near},
		{"wrapped", "try near", "all: read x: it failed", fmt.Errorf("all: %w", near)},
		{"joined", "try near", "it failed\nread x: it failed", errors.Join(plain, near)},
		{"attached", "try", "it failed", hints.Attach(plain, "try")},
		{"attached to nothing", "", "", hints.Attach(nil, "try")},
		{
			"attached to what has advice", "try near", "all: read x: it failed",
			hints.Attach(fmt.Errorf("all: %w", near), "try far"),
		},
		{"the outermost", "try far", "read x: it failed", &hints.Error{Err: near, Advice: "try far"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if hint := hints.Of(test.err); hint != test.hint {
				t.Errorf("hint %q, want %q", hint, test.hint)
			}
			if test.err == nil {
				return
			}
			if test.err.Error() != test.text {
				t.Errorf("error %q, want %q", test.err, test.text)
			}
			if !errors.Is(test.err, plain) {
				t.Error("the error itself is lost")
			}
		})
	}
}

package hints

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestError(t *testing.T) {
	var many []string
	for i := range 51 {
		many = append(many, fmt.Sprintf("name-of-some-length-%d", i))
	}
	for _, test := range []struct {
		word  string
		known []string
		want  string
	}{
		{"segmnts", []string{"nodes", "segments"}, `unknown resource "segmnts"; did you mean segments?`},
		{"node-idle", []string{"idle-node", "busy"}, `unknown resource "node-idle"; did you mean idle-node?`},
		{"x", []string{"nodes", "segments"}, `unknown resource "x"; available: nodes, segments`},
		{"x", many, `unknown resource "x"`},
	} {
		if got := (&UnknownError{What: "resource", Word: test.word, Known: test.known}).Error(); got != test.want {
			t.Errorf("%s, want %s", got, test.want)
		}
	}
}

func TestWords(t *testing.T) {
	known := []string{"collections", "Collation", "columns", "col", "colour"}
	if got := Similar("COL", known); !slices.Equal(got, known[:3]) {
		t.Errorf("near COL: %v", got)
	}
	if got := Similar("colums", known); len(got) == 0 || got[0] != "columns" {
		t.Errorf("near colums: %v", got)
	}
	if got := Similar("", known); len(got) > 0 || Suggestion(got) != "" {
		t.Errorf("near nothing: %v, %q", got, Suggestion(got))
	}
	if got := Suggestion([]string{"a", "b"}); !strings.HasSuffix(got, "did you mean a or b?") {
		t.Errorf("%q", got)
	}
}

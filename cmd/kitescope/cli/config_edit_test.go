package cli

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSetInYAML(t *testing.T) {
	t.Parallel()
	const before = `# the file of mine
theme: dark # at night
views:
  # narrow
  segments:
    columns: [id]
  nodes: {sort: [-cpu]}
`
	after, err := setInYAML([]byte(before), map[string][]string{"columns": {"id", "rows"}}, "views", "segments")
	if err != nil {
		t.Fatal(err)
	}
	const want = `# the file of mine
theme: dark # at night
views:
  # narrow
  segments:
    columns:
      - id
      - rows
  nodes: {sort: [-cpu]}
`
	if diff := cmp.Diff(want, string(after)); diff != "" {
		t.Error(diff)
	}
	for _, x := range []struct {
		text  string
		value any
		path  []string
		want  string
	}{
		{"", "light", []string{"theme"}, "theme: light\n"},
		{"# mine\n", "light", []string{"theme"}, "# mine\ntheme: light\n"},
		{"theme: dark # night\n", "light", []string{"theme"}, "theme: light # night\n"},
		{"theme: dark\nmouse: true\n", nil, []string{"theme"}, "mouse: true\n"},
		{"mouse: true\n", nil, []string{"theme"}, "mouse: true\n"},
		{
			"views:\n",
			[]string{"id"},
			[]string{"views", "nodes", "columns"},
			"views:\n  nodes:\n    columns:\n      - id\n",
		},
	} {
		got, err := setInYAML([]byte(x.text), x.value, x.path...)
		if err != nil || string(got) != x.want {
			t.Errorf("%q with %v at %v is %q, %v; want %q", x.text, x.value, x.path, got, err, x.want)
		}
	}
	for _, text := range []string{"theme: 'dark\n", "- a\n", "views: [a]\n", "a: &a {}\nviews: *a\n"} {
		if got, err := setInYAML([]byte(text), map[string]string{}, "views", "nodes"); err == nil {
			t.Errorf("%q became %q", text, got)
		}
	}
}

package trial

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kitescope/internal/shellquote"
)

func TestSplitWords(t *testing.T) {
	for _, x := range []struct {
		line string
		want []string
		err  error
	}{
		{"a b", []string{"a", "b"}, nil},
		{"  a\t b\n", []string{"a", "b"}, nil},
		{`a 'b c' d`, []string{"a", "b c", "d"}, nil},
		{`a "b c"d`, []string{"a", "b cd"}, nil},
		{`a '' b`, []string{"a", "", "b"}, nil},
		{`a\ b`, []string{"a b"}, nil},
		{`"a\"b\\c\d"`, []string{`a"b\c\d`}, nil},
		{`'a\b'`, []string{`a\b`}, nil},
		{"a \\\nb", []string{"a", "b"}, nil},
		{`{bin} -x '{profile}'`, []string{"{bin}", "-x", "{profile}"}, nil},
		{"a $HOME *", []string{"a", "$HOME", "*"}, nil},
		{`a 'b`, nil, errQuote},
		{`a b\`, nil, errBackslash},
		{" ", nil, errNoCommand},
		{"", nil, errNoCommand},
	} {
		got, err := splitWords(x.line)
		if err != x.err { //nolint:errorlint // these very errors
			t.Errorf("%q: error %v, want %v", x.line, err, x.err)
		}
		if d := cmp.Diff(x.want, got); d != "" {
			t.Errorf("%q: %s", x.line, d)
		}
	}
}

// FuzzSplitWords checks that splitWords reverses quoting.
func FuzzSplitWords(f *testing.F) {
	for _, seed := range []string{"a b", `'a b' "c\"d" e\ f`, "a''b", "\\\n", "{bin} -x"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, line string) {
		words, err := splitWords(line)
		if err != nil {
			return
		}
		again := make([]string, len(words))
		for i, w := range words {
			again[i] = shellquote.Word(w)
		}
		got, err := splitWords(strings.Join(again, " "))
		if err != nil || !slices.Equal(got, words) {
			t.Errorf("%q is read as %q, and quoted again as %q (%v)", line, words, got, err)
		}
		_ = RedactLine(line)
	})
}

func TestPlaceholderValuesAreNotSplit(t *testing.T) {
	p := placeholders{binPlaceholder: "/a b/{run}", runPlaceholder: "7"}
	got := p.expand([]string{"{bin}", "x{run}y", "{other}"})
	if d := cmp.Diff([]string{"/a b/{run}", "x7y", "{other}"}, got); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"KITESCOPE_BIN=/a b/{run}", "KITESCOPE_RUN=7"}, p.environment()); d != "" {
		t.Error(d)
	}
}

func TestRedactLine(t *testing.T) {
	for _, x := range []struct{ line, want string }{
		{"{bin} -n 5", "{bin} -n 5"},
		{"{bin} --token abc -v", "{bin} --token '<redacted>' -v"},
		{"{bin} --token=abc", "{bin} '--token=<redacted>'"},
		{"{bin} -password hunter2", "{bin} -password '<redacted>'"},
		{"env API_KEY=abc DB_PASSWORD=x {bin}", "env 'API_KEY=<redacted>' 'DB_PASSWORD=<redacted>' {bin}"},
		{"hey -H 'Authorization: Bearer abc' http://h/", "hey -H 'Authorization: <redacted>' http://h/"},
		{"hey http://user:pw@host/x", "hey http://host/x"},
		{"sh -c 'TOKEN=abc {bin} --secret def'", "sh -c 'TOKEN=<redacted> {bin} --secret <redacted>'"},
		{"sh -c 'curl http://u:p@h/ && {bin}'", "sh -c 'curl http://h/ && {bin}'"},
		{
			"sh -c 'curl http://h/ -H \"X-Auth-Token: abc\" && {bin}'",
			"sh -c 'curl http://h/ -H \"X-Auth-Token: <redacted>\" && {bin}'",
		},
		{"curl -u me:abc http://h/", "curl -u 'me:<redacted>' http://h/"},
		{"sh -c 'curl -u me:abc http://h/'", "sh -c 'curl -u me:<redacted> http://h/'"},
		{`x -d '{"a": 1, "password": "abc"}'`, `x -d '{"a": 1, "password": "<redacted>"}'`},
		{`x -d '{"password":"abc"}'`, `x -d '{"password":"<redacted>"}'`},
		{"x -dsn 'me:abc@tcp(127.0.0.1:3306)/db'", "x -dsn 'me:<redacted>@tcp(127.0.0.1:3306)/db'"},
		{"env DB_PWD=abc {bin}", "env 'DB_PWD=<redacted>' {bin}"},
		{"hey --header=Authorization:abc", "hey '--header=Authorization:<redacted>'"},
		{"x --db 'Server=h;Password=abc;'", "x --db 'Server=h;Password=<redacted>;'"},
		{"x eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc", "x '<redacted>'"},
		{
			"go build -ldflags '-X main.token=abc -X main.v=1' {pgo}",
			"go build -ldflags '-X main.token=<redacted> -X main.v=1' {pgo}",
		},
		{"{bin} -at 12:30 -size=10:20", "{bin} -at 12:30 -size=10:20"},
		{"a 'b", "<redacted>"},
	} {
		got := RedactLine(x.line)
		if strings.Contains(x.line, "abc") && strings.Contains(got, "abc") || strings.Contains(got, "hunter2") {
			t.Errorf("%q shows a secret: %q", x.line, got)
		}
		if got != x.want {
			t.Errorf("%q is shown as %q, want %q", x.line, got, x.want)
		}
	}
}

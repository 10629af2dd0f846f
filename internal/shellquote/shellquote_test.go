package shellquote

import (
	"encoding/hex"
	"flag"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"kitescope/internal/shellquote/shellquotetest"
)

var update = flag.Bool("update", false, "ask python3 how it reads the literals, into testdata/paste")

// hostile holds names that an attacker would choose, and unusual names that people choose innocently.
var hostile = []string{
	"", "plain", "by-dev/config/queryCoord", "a;id&b", "$(id)", "`id`", "${HOME}", "it's", `"quoted"`, `a'"'b`,
	"two words", "tab\there", "line\nid\n", "cr\rid", "-rf", "--", "a\\", "\\", "~root", "#none", "a#b", "*",
	"[a-z]", "{a,b}", "{1..3}", "{", "}", "{bin}", "!!", "a|b", "a>b", "(x)", "=ls", "a=b", "x\x1b]52;c;aWQ=\a",
	"Müller", "\xff\xfe", "'", "''", "a b' ; id '",
}

// TestWordsInAShell checks that a real shell reads the original words, alone and in commands, and runs nothing
// in them.
func TestWordsInAShell(t *testing.T) {
	shell := shellquotetest.New(t)
	words, args := []string{"say"}, Shell("say", "x")
	for _, name := range hostile {
		words, args = append(words, Word(name)), args.Arg(name)
	}
	for _, x := range []struct {
		command string
		before  int
	}{
		{strings.Join(words, " "), 1},
		{args.String(), 2},
		{Shell("say", "x").Flag("--root=", "").String() + " " + strings.Join(words[1:], " "), 3},
	} {
		got, err := shell.Words(t, x.command)
		if err != nil {
			t.Fatal(err)
		}
		got = slices.DeleteFunc(got[x.before:], func(w string) bool { return w == "--" })
		if diff := cmp.Diff(slices.DeleteFunc(slices.Clone(hostile), func(w string) bool { return w == "--" }),
			got); diff != "" {
			t.Error(diff)
		}
	}
}

func TestWord(t *testing.T) {
	for in, want := range map[string]string{
		"main.f": "main.f", "": "''", "a.(*T).f": "'a.(*T).f'", "it's": `'it'\''s'`, "-x": "-x", "a=b": "a=b",
		"=a": "'=a'", "by-dev/x": "by-dev/x", "a;id": "'a;id'", "{bin}": "{bin}", "{": "'{'",
	} {
		if got := Word(in); got != want {
			t.Errorf("%q: %s, want %s", in, got, want)
		}
	}
}

// TestCommand checks that positional arguments that look like flags come after all flags.
func TestCommand(t *testing.T) {
	for want, c := range map[string]Command{
		"get nodes":                          Shell("get", "nodes"),
		"balance books --plan":               Shell("balance").Arg("books").Word("--plan"),
		"balance --plan -- -rf":              Shell("balance").Arg("-rf").Word("--plan"),
		"put 'a;id&b/config' true":           Shell("put").Arg("a;id&b/config", "true"),
		"put -- -a true":                     Shell("put").Arg("-a", "true"),
		"x --focus=-a -n 3 --sort=-b":        Shell("x").Flag("--focus", "-a").Flag("-n", "3").Flag("--sort=", "-b"),
		"etcdctl '--endpoints=$(id)' defrag": Shell("etcdctl").Flag("--endpoints=", "$(id)").Word("defrag"),
	} {
		if got := c.String(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	base := Shell("a", "b")
	if x, y := base.Word("x").String(), base.Word("y").String(); x != "a b x" || y != "a b y" {
		t.Error("a command that was gone on with changed:", x, y)
	}
}

func TestPython(t *testing.T) {
	for in, want := range map[string]string{
		"books": `"books"`, `a"b\c`: `"a\"b\\c"`, "a\nb\r\t": `"a\x0ab\x0d\x09"`, "Müller": `"Müller"`,
		"\u202e": `"\u202e"`, "\U000e0041": `"\U000e0041"`, "\xff": `"\xff"`, "it's {x} %s": `"it's {x} %s"`,
	} {
		if got := Python(in); got != want {
			t.Errorf("%q: %s, want %s", in, got, want)
		}
	}
	var names, literals []string
	for _, name := range hostile {
		if utf8.ValidString(name) {
			names, literals = append(names, name), append(literals, Python(name))
		}
	}
	// Python reads these literals as Go does: \x of ASCII, \u and \U mean the same in both, and the literals use no
	// other escapes.
	for i, literal := range literals {
		if got, err := strconv.Unquote(literal); err != nil || got != names[i] ||
			strings.ContainsFunc(literal, unicode.IsControl) {
			t.Errorf("%q becomes %s, which is %q: %v", names[i], literal, got, err)
		}
	}
	// The recorded file holds the literals as a real Python read them: -update runs python3 again.
	const recorded = "testdata/python-literals.txt"
	if *update {
		script := "for x in [" + strings.Join(literals, ", ") + "]: print(x.encode().hex() or '-')"
		out, err := exec.CommandContext(t.Context(), "python3", "-c", script).CombinedOutput()
		if err != nil {
			t.Fatal(err, string(out))
		}
		var text strings.Builder
		for i, read := range strings.Fields(string(out)) {
			text.WriteString(read + " " + literals[i] + "\n")
		}
		if err := os.WriteFile(recorded, []byte(text.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	said, err := os.ReadFile(recorded)
	if err != nil {
		t.Fatal(err)
	}
	read := map[string]string{}
	for line := range strings.Lines(string(said)) {
		hexed, literal, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		read[literal] = strings.TrimPrefix(hexed, "-")
	}
	for i, literal := range literals {
		if got, known := read[literal]; !known || got != hex.EncodeToString([]byte(names[i])) {
			t.Errorf("Python reads %s as %q (known: %v), and it stands for %q", literal, got, known, names[i])
		}
	}
}

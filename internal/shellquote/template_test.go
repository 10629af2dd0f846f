package shellquote_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"kitescope/internal/shellquote"
	"kitescope/internal/shellquote/shellquotetest"
)

func TestTemplate(t *testing.T) {
	t.Parallel()
	for _, x := range []struct{ text, want string }{
		{"kubectl logs {pod}", "kubectl logs VALUE"},
		{"echo --name={id} {id}.log", "echo --name=VALUE VALUE.log"},
		{"echo $(wc -l {id})", "echo $(wc -l VALUE)"},
		{`echo "two words" {id} 'x y'`, `echo "two words" VALUE 'x y'`},
		{`echo \"{id}`, `echo \"VALUE`},
		// What is no place stays as it is.
		{"echo {a,b} { true; } ${HOME} {Id} {}", "echo {a,b} { true; } ${HOME} {Id} {}"},
		{"awk '{print}' {id}", "awk '{print}' VALUE"},
		{`echo \{id}`, `echo \{id}`},
		{"echo # it's {id}\necho {id}", "echo # it's {id}\necho VALUE"},
	} {
		tpl, err := shellquote.ParseTemplate(x.text)
		if err != nil {
			t.Errorf("%q: %v", x.text, err)
			continue
		}
		got, _, err := tpl.Fill(func(string) (string, error) { return "VALUE", nil })
		if err != nil || got != x.want {
			t.Errorf("%q became %q, %v; want %q", x.text, got, err, x.want)
		}
	}
}

// TestTemplateRefuses: where quotation cannot be told for sure, nothing is put in.
func TestTemplateRefuses(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`echo "$(echo "{id}")"`, "echo `echo {id}`", `echo $'it\'s {id}'`, `echo ${x:-"{id}"}`, "cat <<EOF\n{id}\nEOF", `echo "{id}`, `echo 'it`,
		`echo $"{id}"`, "echo ${x",
	} {
		if _, err := shellquote.ParseTemplate(text); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
	tpl, err := shellquote.ParseTemplate(`echo "{id}" '{name}' {id}`)
	if err != nil || strings.Join(tpl.Quoted, " ") != "id name" {
		t.Errorf("places between quotation marks: %v, %v", tpl.Quoted, err)
	}
}

// TestTemplateValues: a name out of a cluster is one word of the command, or there is no command. A real shell says so.
func TestTemplateValues(t *testing.T) {
	t.Parallel()
	sh := shellquotetest.New(t)
	evil := []string{
		"plain", "two words", "$(touch owned)", "`touch owned`", "'; touch owned; '", `"; touch owned; "`, "a\\", "*", "~", "$HOME", "a=b", "#x", "",
		"|touch owned", "&touch owned&", "图像", "{a,b}", "!!", ">owned", "'$(touch owned)'", "\\'$(touch owned)",
	}
	for _, text := range []string{"say {id}", "say \"a b\" {id} $(printf %s {id})", "x={id}; say \"$x\"", "say <&0 {id} # it's {id}"} {
		tpl, err := shellquote.ParseTemplate(text)
		if err != nil {
			t.Fatal(err)
		}
		for _, value := range evil {
			command, _, err := tpl.Fill(func(string) (string, error) { return value, nil })
			if err != nil {
				t.Errorf("%q in %q: %v", value, text, err)
				continue
			}
			if words, err := sh.Words(t, command); err != nil || !slices.Contains(words, value) {
				t.Errorf("%s is %q, %v", command, words, err)
			}
		}
	}
	tpl, _ := shellquote.ParseTemplate("rm {id} x{id}")
	for _, value := range []string{"-rf", "a\nb", "a\x1b[2Jb", "a\u202eb", "\xff", "a\x00b"} {
		if command, _, err := tpl.Fill(func(string) (string, error) { return value, nil }); err == nil {
			t.Errorf("%q became %q", value, command)
		}
	}
	unknown := errors.New("unknown")
	if _, _, err := tpl.Fill(func(string) (string, error) { return "", unknown }); !errors.Is(err, unknown) {
		t.Errorf("an unknown value: %v", err)
	}
	if _, quoted, _ := tpl.Fill(func(string) (string, error) { return "plain", nil }); quoted {
		t.Error("a plain value counts as quoted")
	}
	if _, quoted, _ := tpl.Fill(func(string) (string, error) { return "a b", nil }); !quoted {
		t.Error("a quoted value does not count")
	}
}

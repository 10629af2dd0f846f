package rules_test

import (
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"kitescope/inspect/check"
	"kitescope/inspect/check/faulttest"
	"kitescope/inspect/check/rules"
	"kitescope/internal/shellquote/shellquotetest"
)

// Text that an attacker may put into names. lure comes before the name and looks like a flag. poison comes
// after it and contains the characters that a shell interprets.
const (
	lure   = "-;id&"
	poison = ";id&$(id)'\"`id`\\\n\rid"
)

// planted lists the fields with names that outsiders may choose.
var planted = []string{
	"Name", "Root", "MetaPath", "Location", "Address", "HostName", "Endpoint", "ResourceGroup", "Channel", "VChannel",
	"PChannel", "Topic", "Alias", "Value", "Reason",
}

// fixedNames lists types whose names are fixed words of Milvus that checks look for.
var fixedNames = []string{"ConfigEntry", "Setting", "Metric", "Param", "KV", "CallResult", "ProfileShare"}

// plant adds lure and poison to all names in a cluster.
func plant(v reflect.Value, seen map[uintptr]bool) {
	switch v.Kind() { //nolint:exhaustive // only what holds text
	case reflect.Pointer:
		if !v.IsNil() && !seen[v.Pointer()] {
			seen[v.Pointer()] = true
			plant(v.Elem(), seen)
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			plant(v.Index(i), seen)
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			if e := v.MapIndex(key); e.Kind() == reflect.Pointer || e.Kind() == reflect.Slice {
				plant(e, seen)
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			f, name := v.Field(i), v.Type().Field(i).Name
			switch {
			case f.Kind() == reflect.String && f.CanSet() && slices.Contains(planted, name) &&
				!slices.Contains(fixedNames, v.Type().Name()):
				if s := f.String(); s != "" && s != "default" && !strings.HasPrefix(s, lure) {
					f.SetString(lure + s + poison)
				}
			case f.Kind() != reflect.String:
				plant(f, seen)
			}
		}
	}
}

var (
	// shellWord and literal match quoted words of a shell and literals of Python, which both read as plain
	// text.
	shellWord = regexp.MustCompile(`(^|[\s(=:])'(?:[^']|'\\'')*'`)
	literal   = regexp.MustCompile(`(^|[([{=]|, |: )"(?:[^"\\]|\\.)*"`)
	// blanks matches superfluous blanks in a text, which an empty part leaves behind.
	blanks  = regexp.MustCompile(`^ |  | $`)
	flagged = regexp.MustCompile(`(?:etcdctl|kitescope) [^;]* '` + lure)
)

// hostileNames checks that hints stay safe if all names in a cluster contain characters that a shell
// interprets. It parses all hints like a shell and Python. The case's cluster cannot be used afterwards.
func hostileNames(t *testing.T) property {
	t.Helper()
	shell := &reader{Shell: shellquotetest.New(t), read: map[string]bool{}}
	told, checks := 0, map[string]bool{}
	return property{"hints of hostile names", func(t *testing.T, c *faulttest.Case, before *check.Report) {
		t.Helper()
		plant(reflect.ValueOf(before.Cluster), map[uintptr]bool{})
		for _, f := range check.Run(before.Cluster, before.Now, rules.All()).Findings {
			if strings.Contains(f.Advice(), poison[:4]) {
				told++
				checks[f.Check] = true
			}
			checkHint(t, c.Name, f)
			shell.checkCommands(t, c.Name, f)
		}
	}, func(t *testing.T) {
		t.Helper()
		if len(shell.read) < 40 || shell.planted < 8 {
			t.Errorf("a shell read only %d commands, %d of them with planted names", len(shell.read), shell.planted)
		}
		if told < 100 || len(checks) < 15 {
			t.Errorf("only %d hints of %d checks tell a planted name", told, len(checks))
		}
	}}
}

// reader parses the commands of hints with a real shell, each once.
type reader struct {
	*shellquotetest.Shell
	read    map[string]bool
	planted int
}

func (r *reader) checkCommands(t *testing.T, where string, f *check.Finding) {
	t.Helper()
	for _, command := range shellCommands(f) {
		if r.read[command] {
			continue
		}
		r.read[command] = true
		words, err := r.Words(t, command)
		if err != nil {
			t.Errorf("%s: %s: a shell does more with %q than to run one program: %v", where, f.Check, command, err)
		}
		if !strings.Contains(command, poison[:4]) {
			continue
		}
		r.planted++
		if !slices.ContainsFunc(words, func(w string) bool {
			return strings.Contains(w, lure) && strings.Contains(w, poison)
		}) {
			t.Errorf("%s: %s: no word of %q is the name: %q", where, f.Check, command, words)
		}
	}
}

// shellCommands returns the shell commands in the steps of a finding.
func shellCommands(f *check.Finding) (list []string) {
	for _, s := range f.Fix {
		if s.Command != "" && !s.Python {
			list = append(list, string(s.Command))
		}
	}
	return list
}

// inProse matches names of programs and code in texts. Commands belong in steps of their own.
var inProse = regexp.MustCompile(
	`\b(?:kitescope|etcdctl|kubectl|mount) [a-z-]|\b(?:utility|Collection|MilvusClient)[.(]`,
)

func checkHint(t *testing.T, where string, f *check.Finding) {
	t.Helper()
	texts := []string{f.Message, f.Impact}
	for _, s := range f.Fix {
		texts = append(texts, string(s.Text))
		if inProse.MatchString(string(s.Text)) {
			t.Errorf("%s: %s: a command in a sentence: %s", where, f.Check, s.Text)
		}
		checkText(t, where, f, string(s.Text), "\n\r`")
		checkText(t, where, f, string(s.Command), "\r`")
	}
	for _, text := range texts {
		if blanks.MatchString(text) {
			t.Errorf("%s: %s: a blank too many: %q", where, f.Check, text)
		}
	}
}

// checkText checks that a text contains no part of a planted name and no forbidden character outside quotes.
func checkText(t *testing.T, where string, f *check.Finding, text, never string) {
	t.Helper()
	rest := literal.ReplaceAllString(shellWord.ReplaceAllString(text, "${1}WORD"), "${1}TEXT")
	switch {
	case strings.Contains(rest, poison[:4]) || strings.ContainsAny(rest, never):
		t.Errorf("%s: %s: a name is more than a word: %s", where, f.Check, text)
	case flagged.MatchString(text) && !strings.Contains(text, " -- "):
		t.Errorf("%s: %s: a name is a flag: %s", where, f.Check, text)
	}
}

// TestHintsOfHostileRoot checks that hints that write to etcd quote a hostile root path, as a bundle may
// contain it.
func TestHintsOfHostileRoot(t *testing.T) {
	library, err := faulttest.OpenLibrary(faultFolder, snapshotFolder)
	if err != nil {
		t.Fatal(err)
	}
	told := map[string]string{}
	for _, c := range library.Cases {
		if !slices.ContainsFunc(c.Want, func(w faulttest.Want) bool {
			return w.Check == "bad-switches" || w.Check == "auto-balance-off"
		}) {
			continue
		}
		b, err := library.Base(t.Context(), c.Base)
		if err != nil {
			t.Fatal(err)
		}
		cluster, now, err := c.Cluster(t.Context(), b)
		if err != nil {
			t.Fatal(err)
		}
		cluster.Origin.Root = "a;id&b"
		for _, f := range check.Run(cluster, now, rules.All()).Findings {
			if hint := f.Advice(); strings.Contains(hint, "etcdctl put") {
				told[f.Check] = hint
				if !strings.Contains(hint, "etcdctl put 'a;id&b/config/") {
					t.Errorf("%s: %s: %s", c.Name, f.Check, hint)
				}
			}
		}
	}
	if len(told) != 2 {
		t.Errorf("hints with etcdctl put: %v", told)
	}
}

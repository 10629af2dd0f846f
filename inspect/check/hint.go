package check

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"kitescope/inspect/check/facts"
	"kitescope/internal/shellquote"
	"kitescope/internal/words"
)

// Hint is a command or a sentence of a Step. People copy commands, and names in a cluster may be anybody's: a Hint is either a
// text of ours, or made by Advise or Python, which write names so that they are nothing but names to who reads them.
// No other text becomes a Hint; a test looks for conversions.
type Hint string

// ours is a text that stands in the code: only a constant becomes one without a word.
type ours string

// Advise writes a hint with the verbs of fmt: text and names come as words of a shell, which the most are as they are,
// lists of names as few tells them, times and spans as in messages. Hints and commands in it stay as they are.
func Advise(format ours, args ...any) Hint {
	return phrase(format, shellquote.Word, args)
}

// Python writes a hint that is pymilvus code: text and names come as literals.
func Python(format ours, args ...any) Hint {
	return phrase(format, shellquote.Python, args)
}

func phrase(format ours, quote func(string) string, args []any) Hint {
	said := make([]any, len(args))
	for i, arg := range args {
		said[i] = sayable(arg, quote)
	}
	return Hint(fmt.Sprintf(string(format), said...))
}

// sayable is a part of a hint with what is not a number, nor a hint already, quoted.
func sayable(arg any, quote func(string) string) any {
	switch v := arg.(type) {
	case Hint:
		return string(v)
	case shellquote.Command:
		return v.String()
	case time.Duration:
		return words.Span(v)
	case time.Time:
		return facts.TimeText(v)
	case []string:
		list := make([]string, len(v))
		for i, s := range v {
			list[i] = quote(s)
		}
		return words.Few(list)
	case fmt.Stringer:
		// An id's text is its number: it stays one, and prints with %d and %s alike.
		if id := reflect.ValueOf(arg); id.CanInt() && v.String() == strconv.FormatInt(id.Int(), 10) {
			return arg
		}
		return quote(v.String())
	}
	if v := reflect.ValueOf(arg); v.IsValid() && (v.CanInt() || v.CanUint() || v.CanFloat()) {
		return arg
	}
	return quote(fmt.Sprint(arg))
}

// Placed is an address, or what is said of it where it is not known.
func Placed(address string, unknown Hint) Hint {
	if address == "" {
		return unknown
	}
	return Advise("%s", address)
}

// RoleHint is RoleLabel: two words where the role is one of Milvus's.
func RoleHint(role string) Hint {
	if label := facts.RoleLabel(role); label != role {
		return Hint(label)
	}
	return Advise("%s", role)
}

// Kitescope begins one of our own commands.
func Kitescope(words ...ours) shellquote.Command { return command("kitescope", words) }

// Etcdctl begins a command of etcd's own client.
func Etcdctl(words ...ours) shellquote.Command { return command("etcdctl", words) }

func command(program string, words []ours) shellquote.Command {
	all := []string{program}
	for _, w := range words {
		all = append(all, strings.Fields(string(w))...)
	}
	return shellquote.Shell(all...)
}

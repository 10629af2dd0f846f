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

// Hint is a command or a sentence of a Step. Users copy commands, and names in a cluster are untrusted. So a
// Hint is either a constant text or made by Advise or Python, which quote names for the shell or for Python.
// No other text becomes a Hint; a test looks for conversions.
type Hint string

// stringConstant is a text in the code. Only an untyped constant converts to it implicitly.
type stringConstant string

// Advise formats a hint with fmt verbs. Texts and names are quoted as shell words; most need no quotes. Lists
// of names are shortened by words.Summarize, times and durations are written as in messages. Hints and commands are
// inserted unchanged.
func Advise(format stringConstant, args ...any) Hint {
	return formatHint(format, shellquote.Word, args)
}

// Python formats a hint with pymilvus code. Texts and names become literals.
func Python(format stringConstant, args ...any) Hint {
	return formatHint(format, shellquote.Python, args)
}

func formatHint(format stringConstant, quote func(string) string, args []any) Hint {
	said := make([]any, len(args))
	for i, arg := range args {
		said[i] = quoteArg(arg, quote)
	}
	return Hint(fmt.Sprintf(string(format), said...))
}

// quoteArg returns an argument of a hint, quoted unless it is a number or already a hint.
func quoteArg(arg any, quote func(string) string) any {
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
		return words.Summarize(list)
	case fmt.Stringer:
		// The text of an id is its number. It stays a number, so %d and %s print the same.
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

// AddressHint returns an address as a hint, or unknown if the address is "".
func AddressHint(address string, unknown Hint) Hint {
	if address == "" {
		return unknown
	}
	return Advise("%s", address)
}

// RoleHint returns the RoleLabel of a role as a hint. A role that is not one of Milvus's is quoted.
func RoleHint(role string) Hint {
	if label := facts.RoleLabel(role); label != role {
		return Hint(label)
	}
	return Advise("%s", role)
}

// Kitescope returns the start of a kitescope command.
func Kitescope(words ...stringConstant) shellquote.Command { return command("kitescope", words) }

// Etcdctl returns the start of an etcdctl command.
func Etcdctl(words ...stringConstant) shellquote.Command { return command("etcdctl", words) }

func command(program string, words []stringConstant) shellquote.Command {
	all := []string{program}
	for _, w := range words {
		all = append(all, strings.Fields(string(w))...)
	}
	return shellquote.Shell(all...)
}

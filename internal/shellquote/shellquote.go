// Package shellquote writes what people copy and give to a program: words and commands of a shell, literals of Python. What
// enters is text from anywhere, such as a root path out of a bundle that somebody mailed; what leaves means exactly that
// text to the program that it is pasted into, and nothing else. Every command, hint and script that kitescope prints or
// copies has its words from here.
package shellquote

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Word is a text as one word of a POSIX shell (section 2.2 of its Shell Command Language). A word that means itself is
// left as it is; any other stands between single quotation marks, where nothing has a meaning but the mark itself.
func Word(s string) string {
	if s != "" && plain(s) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// plain reports whether a shell leaves a word alone, wherever in a command it stands. An equals sign in front has a
// meaning to zsh, braces to bash with a list or a range between them.
func plain(s string) bool {
	braces := len(s) > 2 && !strings.Contains(s, ",") && !strings.Contains(s, "..")
	for i := range len(s) {
		c := s[i]
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', strings.IndexByte("-_./:,@%+", c) >= 0:
		case c == '=' && i > 0, (c == '{' || c == '}') && braces:
		default:
			return false
		}
	}
	return true
}

// Command is a command for a shell: what a person or a script runs as it stands.
type Command struct{ words, last []string }

// Shell begins a command with words of our own: a program, its subcommands and flags.
func Shell(words ...string) Command { return Command{words: words} }

// Flag adds a flag and its value: two words, or one where the name ends in "=" or the value looks like a flag itself.
func (c Command) Flag(name, value string) Command {
	switch {
	case strings.HasSuffix(name, "="):
		return c.Word(name + value)
	case strings.HasPrefix(value, "-"):
		return c.Word(name + "=" + value)
	}
	return c.Word(name, value)
}

// Word adds words as they are, for flags without values.
func (c Command) Word(words ...string) Command {
	return Command{slices.Concat(c.words, words), c.last}
}

// Arg adds words that are no flags. The first of them that looks like one, and what comes after it, stands at the end of
// the command behind a "--", where neither getopt nor pflag looks for flags.
func (c Command) Arg(words ...string) Command {
	for _, w := range words {
		if len(c.last) > 0 || strings.HasPrefix(w, "-") {
			c.last = slices.Concat(c.last, []string{w})
		} else {
			c.words = slices.Concat(c.words, []string{w})
		}
	}
	return c
}

// String is the command on one line.
func (c Command) String() string {
	words := c.words
	if len(c.last) > 0 {
		words = slices.Concat(words, []string{"--"}, c.last)
	}
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = Word(w)
	}
	return strings.Join(quoted, " ")
}

// Python is a text as a literal of Python (Language Reference, 2.4.1): between double quotation marks, with all that
// is not printable ASCII, or printable at all, escaped. Bytes that are not UTF-8 come as the characters of their values, as
// a literal of text has no bytes.
func Python(s string) string {
	b := append(make([]byte, 0, len(s)+2), '"')
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && size == 1:
			b = fmt.Appendf(b, `\x%02x`, s[0])
		case r == '"', r == '\\':
			b = append(b, '\\', byte(r))
		case strconv.IsPrint(r):
			b = append(b, s[:size]...)
		case r < 0x100:
			b = fmt.Appendf(b, `\x%02x`, r)
		case r < 0x10000:
			b = fmt.Appendf(b, `\u%04x`, r)
		default:
			b = fmt.Appendf(b, `\U%08x`, r)
		}
		s = s[size:]
	}
	return string(append(b, '"'))
}

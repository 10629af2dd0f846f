// Package shellquote quotes text for use in shell commands and Python literals. The text may come from
// anywhere, e.g. a root path in a bundle from somebody else. A shell or Python reads exactly the original text
// from the quoted text, and does not execute it. All commands, hints and scripts that kitescope prints or copies
// are built with this package.
package shellquote

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Word returns text as one word of a POSIX shell (section 2.2 of its Shell Command Language). It returns a word
// without special characters unchanged. It puts any other word in single quotes, where only the single quote itself
// is special.
func Word(s string) string {
	if s != "" && plain(s) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// plain reports whether a shell reads a word literally at any position of a command. A leading equals sign is special
// in zsh. Braces are special in bash if they enclose a list or a range.
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

// Command is a shell command that a person or a script can run as it is.
type Command struct{ words, last []string }

// Shell returns a command that starts with constant words: a program, its subcommands and flags.
func Shell(words ...string) Command { return Command{words: words} }

// Flag adds a flag and its value. They are two words, or one word if the name ends in "=" or the value starts with
// "-".
func (c Command) Flag(name, value string) Command {
	switch {
	case strings.HasSuffix(name, "="):
		return c.Word(name + value)
	case strings.HasPrefix(value, "-"):
		return c.Word(name + "=" + value)
	}
	return c.Word(name, value)
}

// Word adds words unchanged, e.g. flags without values.
func (c Command) Word(words ...string) Command {
	return Command{slices.Concat(c.words, words), c.last}
}

// Arg adds positional arguments. The first argument that starts with "-", and all arguments after it, go to the end
// of the command after a "--", where neither getopt nor pflag parses flags.
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

// String returns the command on one line.
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

// Python returns text as a Python string literal (Language Reference, 2.4.1) in double quotes. It escapes
// double quotes, backslashes and unprintable characters. A byte that is not valid UTF-8 becomes the character with
// the byte's value, because a string literal cannot contain bytes.
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

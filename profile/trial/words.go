package trial

import (
	"errors"
	"slices"
	"strings"
)

// Placeholders of command lines. Each is also an environment variable of the started programs.
const (
	binPlaceholder     = "{bin}"     // KITESCOPE_BIN: the program
	pgoPlaceholder     = "{pgo}"     // KITESCOPE_PGO: -pgo=off or -pgo=FILE
	profilePlaceholder = "{profile}" // KITESCOPE_PROFILE: the file for the load's CPU profile
	dirPlaceholder     = "{dir}"     // KITESCOPE_DIR: the module's folder
	runPlaceholder     = "{run}"     // KITESCOPE_RUN: the number of the run
	outPlaceholder     = "{out}"     // KITESCOPE_OUT: an empty folder for this run
)

// placeholders maps placeholders to their values.
type placeholders map[string]string

// environment returns the placeholders as environment variables.
func (p placeholders) environment() []string {
	var env []string
	for place, value := range p {
		env = append(env, "KITESCOPE_"+strings.ToUpper(strings.Trim(place, "{}"))+"="+value)
	}
	slices.Sort(env)
	return env
}

// expand replaces placeholders by their values. The line is already split, so values are not split or quoted again.
func (p placeholders) expand(words []string) []string {
	var pairs []string
	for place, value := range p {
		pairs = append(pairs, place, value)
	}
	r := strings.NewReplacer(pairs...)
	out := make([]string, len(words))
	for i, word := range words {
		out[i] = r.Replace(word)
	}
	return out
}

// hasPlaceholder reports whether a line has a placeholder or its variable.
func hasPlaceholder(line, placeholder string) bool {
	return strings.Contains(line, placeholder) ||
		strings.Contains(line, "KITESCOPE_"+strings.ToUpper(strings.Trim(placeholder, "{}")))
}

var (
	errQuote     = errors.New("a quotation mark is not closed")
	errBackslash = errors.New("it ends in a backslash")
	errNoCommand = errors.New("it is empty")
)

// splitWords splits a command line into words by the quoting rules of a POSIX shell (Shell Command Language,
// 2.2 Quoting). It supports no other feature of a shell: no variables, no patterns, no redirection. Users who
// need such features run a shell: sh -c '...'.
func splitWords(line string) ([]string, error) {
	var words []string
	var word strings.Builder
	var quote rune
	inWord, escaped := false, false
	for _, r := range line {
		switch {
		case escaped:
			if quote == '"' && !strings.ContainsRune("$`\"\\\n", r) {
				word.WriteByte('\\')
			}
			if r != '\n' {
				word.WriteRune(r)
			}
			escaped = false
		case r == '\\' && quote != '\'':
			escaped, inWord = true, true
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			quote, inWord = r, true
		case strings.ContainsRune(" \t\r\n", r):
			if inWord {
				words = append(words, word.String())
				word.Reset()
			}
			inWord = false
		default:
			word.WriteRune(r)
			inWord = true
		}
	}
	switch {
	case quote != 0:
		return nil, errQuote
	case escaped:
		return nil, errBackslash
	}
	if inWord {
		words = append(words, word.String())
	}
	if len(words) == 0 {
		return nil, errNoCommand
	}
	return words, nil
}

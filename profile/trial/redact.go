package trial

import (
	"regexp"
	"slices"
	"strings"

	"kitescope/internal/shellquote"
	"kitescope/profile"
	"kitescope/profile/pull"
)

// secretName matches the name of a flag, a header or a variable that may hold a secret.
var secretName = profile.NewPattern(`(?i)(` + secretWords + `)s?$`)

const secretWords = `pass(?:w(?:or)?d)?|pwd|passphrase|token|secret|credential|api[-_]?key|access[-_]?key|private[-_]?key|auth(?:orization)?|cookie|bearer`

// assignment matches NAME=VALUE or NAME: VALUE within a word.
var assignment = profile.NewPattern(`^(-{0,2}[A-Za-z0-9][A-Za-z0-9_.-]*)(=|:\s*)(.+)$`)

const redacted = "<redacted>"

// RedactLine returns a command line without secrets. It redacts the values of flags, headers and variables with
// names that suggest a secret, and credentials in addresses.
func RedactLine(line string) string {
	words, err := splitWords(line)
	if err != nil {
		return redacted
	}
	shown := make([]string, len(words))
	for i, word := range words {
		switch {
		case i > 0 && slices.Contains([]string{"-u", "--user", "-user"}, words[i-1]) && strings.Contains(word, ":"):
			name, _, _ := strings.Cut(word, ":")
			shown[i] = name + ":" + redacted
		case i > 0 && strings.HasPrefix(words[i-1], "-") && secretName().MatchString(words[i-1]) &&
			!strings.HasPrefix(word, "-"):
			shown[i] = redacted
		default:
			shown[i] = redactWord(word)
		}
		shown[i] = shellquote.Word(shown[i])
	}
	return strings.Join(shown, " ")
}

func redactWord(word string) string {
	m := assignment().FindStringSubmatch(word)
	switch {
	case m != nil && secretName().MatchString(m[1]) && (m[2] != "=" || !strings.ContainsAny(word, " \t\n")):
		return m[1] + m[2] + redacted
	case strings.ContainsAny(word, " \t\n\"';"):
		return redactScript(word)
	case m != nil && m[2] == "=":
		return m[1] + "=" + redactWord(m[3])
	case strings.Contains(word, "://"):
		return pull.RedactWord(word)
	}
	return redactTokens(word)
}

// redactScript redacts text that only a shell would split, or that is not a command, e.g. JSON. It prefers
// redacting too much to redacting too little.
func redactScript(script string) string {
	const name = `[\w.-]*(?:` + secretWords + `)s?`
	const value = `(?:"[^"]*"|'[^']*'|[^\s"';&|]+)`
	for _, x := range []struct{ pattern, with string }{
		{`(?i)("` + name + `"\s*:\s*)(?:"[^"]*"|[^\s,}]+)`, `${1}"` + redacted + `"`},
		{`(?i)(` + name + `)(\s*:\s*)[^"']+`, "${1}${2}" + redacted}, // a header, up to the quotation mark
		{`(?i)(` + name + `)=` + value, "${1}=" + redacted},
		{`(?i)(-` + name + `\s+)` + value, "${1}" + redacted},
		{`(\s--?u(?:ser)?[\s=]+[^\s:"']+):` + value, "${1}:" + redacted},
	} {
		script = regexp.MustCompile(x.pattern).ReplaceAllString(script, x.with)
	}
	script = regexp.MustCompile(`[^\s"'=]+://[^\s"']+`).ReplaceAllStringFunc(script, pull.RedactWord)
	return redactTokens(script)
}

// redactTokens redacts secrets that are recognizable by their form: "user:password@" as in database addresses,
// JSON web tokens (RFC 7519), and the tokens of GitHub and Slack, which start with their kind.
func redactTokens(text string) string {
	text = regexp.MustCompile(`([^\s:/@"'=]+):[^\s/@"']+@`).ReplaceAllString(text, "${1}:"+redacted+"@")
	text = regexp.MustCompile(`^(--?u(?:ser)?=[^:]+):.+$`).ReplaceAllString(text, "${1}:"+redacted)
	return regexp.MustCompile(
		`\b(?:eyJ[\w-]+\.[\w-]+\.[\w-]*|gh[pousr]_\w{20,}|github_pat_\w{20,}|xox[abprs]-[\w-]{10,})`,
	).ReplaceAllString(text, redacted)
}

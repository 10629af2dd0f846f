// Package redact takes secrets out of text: settings, properties, labels, JSON, URLs, connection strings, errors.
package redact

import (
	"bytes"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"regexp"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"
)

// Redacted replaces a secret.
const Redacted = "<redacted>"

// secretWords are parts of names that hold secrets, in lower case without separators. They cover Milvus's own
// configuration (configs/milvus.yaml: minio.secretAccessKey, etcd.auth.password, kafka.saslPassword, pulsar.authParams,
// credential.*, cipherPlugin.*, trace.otlp.headers) and the parameters of functions and external tables.
const secretWords = "password passwd passphrase passcode pwd secret authorization accesskey privatekey apikey token credential sasl cipher kms " +
	"authparams otlpheaders connectionstring signingkey encryptionkey defaultkey accountkey sharedaccess sharedkey signature cookie keytab " +
	"keydata license webhook bindpw"

// innocentWords contain a secret word by accident: analyzers have tokenizers, models a limit of tokens.
const innocentWords = "tokenizer tokenfilter maxtokens mintokens numtokens tokencount tokenlimit"

// lastWords name a secret only as the last part of a name, because harmless words contain them.
const lastWords = "auth psk sig jwt pass"

// marks are the other words without which no shape matches a text, unless it has a long run of letters and digits.
const marks = lastWords + " eyj key= code= :aa -u mysql mariadb jdbc: basic bearer login identified sess hooks.slack " +
	"discord community aiza glpat- glptt- gldt- hvs. hvb. sg. xox eaaa gocspx- nvapi- figd_ pypi-"

type wordKind int

const (
	innocentWord wordKind = iota
	secretWord
	mark
)

// word is what is looked for in a text, whatever the case and the separators behind its first two characters.
type word struct {
	text string
	kind wordKind
}

// wordTable has the words by their first two characters.
var wordTable = sync.OnceValue(func() *[1 << 10][]word {
	table := new([1 << 10][]word)
	for kind, list := range []string{innocentWords, secretWords, marks} {
		for text := range strings.FieldsSeq(list) {
			at := slot(text[0], text[1])
			table[at] = append(table[at], word{text, wordKind(kind)})
		}
	}
	return table
})

// slot is the same for both cases of letters.
func slot(a, b byte) int { return int(a&31)<<5 | int(b&31) }

// end returns where the word ends in a text that begins with it, 0 if it does not.
func (w word) end(text []byte) int {
	n := 0
	for i, c := range text {
		switch c = lower(c); {
		case c == w.text[n]:
			if n++; n == len(w.text) {
				return i + 1
			}
		case n < 2 || !separator(c):
			return 0
		}
	}
	return 0
}

func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
}

func separator(c byte) bool { return c == '_' || c == '-' || c == '.' || c == ' ' || c == '/' }

// plainName lowers a name and removes its separators.
func plainName(name string) string {
	return strings.Map(func(r rune) rune {
		if r < utf8.RuneSelf && separator(byte(r)) {
			return -1
		}
		return unicode.ToLower(r)
	}, name)
}

// Name reports whether the value of a name is a secret.
func Name(name string) bool {
	last := name[strings.LastIndexAny(name, "._-/ ")+1:]
	for word := range strings.FieldsSeq(lastWords) {
		if strings.EqualFold(last, word) {
			return true
		}
	}
	return mentioned([]byte(name))
}

// mentioned reports whether text has a word that names a secret.
func mentioned(text []byte) bool { return has(text, secretWord) }

// Suspect reports whether text may hold a secret. It is quick and always true for a text that Text changes.
func Suspect(text []byte) bool { return has(text, mark) }

// longRun is how many letters and digits in a row may be a token. Those of all issuers have as many.
const longRun = 20

// has reports whether a text has a word of a kind up to most: it looks at each byte once. With marks it looks for a
// long run of letters and digits, too.
func has(text []byte, most wordKind) bool {
	const digit, small, capital = 1, 2, 4
	table, run, classes, innocent, port := wordTable(), 0, 0, 0, false
	for i, c := range text {
		if i > innocent {
			for _, w := range table[slot(text[i-1], c)] {
				end := w.end(text[i-1:])
				switch {
				case end == 0 || w.kind > most:
				case w.kind != innocentWord:
					return true
				case innocent < i+end-1:
					innocent = i + end - 1
				}
				if innocent > i {
					break
				}
			}
		}
		run++
		switch {
		case c >= 'a' && c <= 'z':
			classes |= small
		case c >= '0' && c <= '9':
			classes |= digit
		case c >= 'A' && c <= 'Z':
			classes |= capital
		default:
			run, classes = 0, 0
		}
		if most == mark && (run >= longRun && classes != digit && classes != small || c == '@' || c == '$' || c == ':' && port && text[i-1] != ':') {
			return true
		}
		port = c == ':' || port && (c == '*' || c >= '0' && c <= '9') // as in a line of .pgpass, host:port:database:user:password
	}
	return false
}

// shape is a form of secrets that need no name. What stands for the secret may refer to groups of the pattern.
type shape struct {
	pattern     *regexp.Regexp
	replacement string
}

// issuers are the tokens that are not random enough to be known as such, in the alphabet and length of who issues them.
const issuers = `(?:A3T[A-Z0-9]|AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}|LTAI[A-Za-z0-9]{12,20}|AKID[A-Za-z0-9]{32}|AIza[\w-]{35}|gh[pousr]_\w{36}|` +
	`gl(?:pat|ptt|dt)-[\w-]{20}|hf_[A-Za-z0-9]{34}|npm_[A-Za-z0-9]{36}|xox[a-z]-[\w-]{20,}|sk-(?:proj-|ant-)?\w{20,}|[sr]k_(?:live|test)_\w{16,}|` +
	`SG\.[\w-]{22}\.[\w-]{43}|hv[sb]\.[\w-]{24,}|do[opr]_v1_[0-9a-f]{64}|dapi[0-9a-f]{32}|sbp_[0-9a-f]{40}|key-[0-9a-f]{32}|shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}|` +
	`dp\.pt\.\w{40,}|EAAA[\w-]{60}|AGE-SECRET-KEY-1[A-Z0-9]{58}|ntn_\w{40,}|GOCSPX-[\w-]{28}|nvapi-[\w-]{60,}|figd_[\w-]{40}|pypi-[\w-]{50,}|\w{14}\.atlasv1\.[\w=-]{60,}`

var shapes = sync.OnceValue(func() []shape {
	var list []shape
	for _, x := range [][2]string{
		{`(?s)-----BEGIN [A-Z ]*PRIVATE KEY.*?(?:-----END [A-Z ]*-----|\z)`, Redacted},
		// scheme://user:password@host, with slashes in the password as AWS's keys have them
		{`://[^\s/?#"'<>]*@`, "://" + Redacted + "@"},
		{`://[^\s/?#"'<>:]+:(?:[^\s"'<>\d]|\d+[^\s"'<>\d/?#,])[^\s"'<>]*@`, "://" + Redacted + "@"},
		{`(jdbc:oracle:\w+:[^\s/@]+/)[^\s@]+@`, "${1}" + Redacted + "@"},
		{`(^|[\s,;"'=(\[{])[\w.%+~$!-]+:[^\s"'<>/][^\s"'<>]*@([\w\[(])`, "${1}" + Redacted + "@${2}"}, // user:password@host:1, user:password@tcp(host)
		{`\b((?i:bearer))[ \t]+[\w+/.~%-]{16,}=*`, "${1} " + Redacted},
		{`\beyJ[\w-]{6,}\.[\w-]{6,}[\w.-]*`, Redacted}, // JSON Web Tokens
		{`\b(?:` + issuers + `)[\w-]*(?:[:,][\w+/=]{16,})?`, Redacted},
		{`(hooks\.slack\.com/|discord(?:app)?\.com/api/webhooks/|webhook\.office\.com/)[\w/@.-]+`, "${1}" + Redacted},
		{`\b\d{8,10}:AA[\w-]{30,}`, Redacted},                                    // Telegram
		{`\$(?:2[abxy]|[156]|apr1|argon2\w*|scrypt)\$[\w./+,=$]{10,}`, Redacted}, // hashes of passwords
		{`([?&](?:key|code)=)[^\s&"'#]+`, "${1}" + Redacted},
		{`(?i)(\b(?:identified\s+by|password)\s+)(?:'[^']*'|"[^"]*")`, "${1}" + Redacted},
		{`(?i)(\b(?:password|passphrase|secret|token|key)\s+is\s+["']?)[^\s"']*[\d!#$%&*@^_][^\s"']*`, "${1}" + Redacted},
		{`(?i)(\blogin\s+\S+\s+password\s+)\S+`, "${1}" + Redacted},                                                    // netrc
		{`((?:^|[\s"])(?:[\w-]+(?:\.[\w-]+)+|localhost|\*):(?:\d+|\*):[^:\s/]+:[^:\s/]+:)[^\s:"]+`, "${1}" + Redacted}, // .pgpass
		{`(\s-u\s+['"]?)[^\s:'"]+:[^\s'"]+`, "${1}" + Redacted},                                                        // curl
		{`(\b(?:mysql|mariadb)\w*\s[^\n]*?-p)[^\s'"]+`, "${1}" + Redacted},
		{`(?i)(\br[ow]community6?\s+)\S+`, "${1}" + Redacted}, // SNMP
		{`(?i)(\b\w*sess(?:ion)?_?id=)[\w%.-]+`, "${1}" + Redacted},
	} {
		list = append(list, shape{regexp.MustCompile(x[0]), x[1]})
	}
	return list
})

var (
	basic   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)\bbasic[ \t]+[a-z0-9+/]{4,}={0,2}`) })
	longest = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[\w-]*[A-Za-z0-9]{20,}[\w-]*`) })
)

// basicCredential redacts "basic x" if x is user:password in base64.
func basicCredential(text string) string {
	word, encoded, _ := strings.Cut(strings.ReplaceAll(text, "\t", " "), " ")
	plain, err := base64.RawStdEncoding.DecodeString(strings.Trim(encoded, " ="))
	if err != nil || !utf8.Valid(plain) || !bytes.Contains(plain, []byte(":")) {
		return text
	}
	return word + " " + Redacted
}

// randomToken redacts a word with a long part of digits and letters of both cases that change so often that it is
// no name in camel case: parts of these have at least as many characters as words have on average.
func randomToken(word string) string {
	const average = 3.5
	for part := range strings.FieldsFuncSeq(word, func(r rune) bool { return r == '_' || r == '-' }) {
		var has [3]bool
		words, capitals, before := 0, 0, -1
		for _, c := range []byte(part) {
			class := 0 // a digit
			switch {
			case c >= 'a':
				class = 1
			case c >= 'A':
				class = 2
			}
			if has[class] = true; class != before && (class != 1 || capitals != 1) {
				words++
			}
			if capitals++; class != 2 {
				capitals = 0
			}
			before = class
		}
		if len(part) >= longRun && has[0] && has[1] && has[2] && float64(len(part)) < average*float64(words) {
			return Redacted
		}
	}
	return word
}

// Holds reports whether a value of unknown encoding mentions a secret or holds one of a known form.
func Holds(value []byte) bool {
	return mentioned(value) || Suspect(value) && Text(string(value)) != string(value)
}

// Pair returns the value of a named property as it may be kept.
func Pair(name, value string) string {
	switch {
	case value == "" || value == "true" || value == "false":
		return value
	case Name(name):
		return Redacted
	case identifier(name) && !strings.ContainsAny(value, " \t\r\n=\"'") && !strings.Contains(value, "://"):
		if strings.HasSuffix(plainName(name), "address") {
			return Address(value)
		}
		return value
	}
	return Text(value)
}

// identifier reports whether a name is that of names of a cluster's own things, which may look like anything.
func identifier(name string) bool {
	plain := plainName(name)
	for _, end := range []string{"name", "alias", "aliases", "channel", "address", "addresses", "host", "bucket", "database", "collection", "partition"} {
		if strings.HasSuffix(plain, end) || strings.HasSuffix(plain, end+"s") {
			return true
		}
	}
	return false
}

//go:embed settings.txt
var settingsText string

//go:embed properties.txt
var propertiesText string

// textSettings are the settings of Milvus whose values are text without secrets: addresses, paths, names.
// textProperties are such parameters and properties of collections, fields, indexes and functions.
var (
	textSettings   = sync.OnceValue(func() map[string]bool { return plainNames(settingsText) })
	textProperties = sync.OnceValue(func() map[string]bool { return plainNames(propertiesText) })
)

func plainNames(text string) map[string]bool {
	all := map[string]bool{}
	for name := range strings.FieldsSeq(text) {
		all[plainName(name)] = true
	}
	return all
}

var (
	// quantity matches a number or size, template a format of access logs.
	quantity = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)^[-+]?\d{1,19}(?:\.\d{1,19})?(?:e[-+]?\d{1,3})?\s?(?:%|d|[kmgtp]?i?b?)$`)
	})
	template = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[^$\d]{0,20}(?:\$[a-z_]+[^$\d]{0,20})+$`) })
)

// harmless reports whether a value cannot be a secret: a boolean, a number, a duration, a size, or a list of them.
func harmless(value string) bool {
	for item := range strings.SplitSeq(value, ",") {
		item = strings.TrimSpace(item)
		_, err := time.ParseDuration(item)
		if err != nil && item != "" && !strings.EqualFold(item, "true") && !strings.EqualFold(item, "false") && !quantity().MatchString(item) {
			return false
		}
	}
	return true
}

// Property returns the value of a property or parameter of a collection, field, index or function as it may be kept:
// of those that Milvus does not know only what can be no secret.
func Property(name, value string) string {
	if safe := Pair(name, value); textProperties()[plainName(name)] || harmless(value) {
		return safe
	}
	return Redacted
}

// Setting returns the value of a setting of Milvus as it may be kept. What an unknown setting holds is unknown, so that
// text is redacted unless the setting is one of Milvus's that are known to be addresses, paths and other plain text.
func Setting(name, value string) string {
	plain := plainName(name)
	last := name[strings.LastIndexAny(name, "./")+1:]
	if safe := Pair(name, value); harmless(value) || textSettings()[plain] ||
		strings.HasPrefix(plain, "proxyaccesslogformatters") && template().MatchString(value) ||
		(strings.HasPrefix(plain, "knowhere") || strings.HasPrefix(plain, "autoindexparamstuning")) && textProperties()[plainName(last)] {
		return safe
	}
	return Redacted
}

// Address takes user and password out of user:password@host:port.
func Address(s string) string {
	if strings.Contains(s, "://") {
		return Text(s)
	}
	if at := strings.LastIndexByte(s, '@'); at >= 0 {
		return Redacted + s[at:]
	}
	return s
}

// maxText bounds the time that Text takes, which is a microsecond a byte for a suspect text.
const maxText = 64 << 10

// Text takes secrets out of free text: out of JSON by its keys, out of "name=value" and "name: value" by the name, and
// what has the form of a secret, as in URLs. A suspect text that is longer than all honest ones is redacted as a whole.
func Text(text string) string {
	if !Suspect([]byte(text)) {
		return text
	}
	if start := strings.TrimLeft(text, " \t\r\n"); strings.HasPrefix(start, "{") || strings.HasPrefix(start, "[") {
		if out, changed, ok := JSON([]byte(text)); ok {
			if changed {
				return string(out)
			}
			return text
		}
		if mentioned([]byte(text)) { // broken JSON: nothing tells where the secret ends
			return Redacted
		}
	}
	if len(text) > maxText {
		return Redacted
	}
	for _, s := range shapes() {
		text = s.pattern.ReplaceAllString(text, s.replacement)
	}
	text = basic().ReplaceAllStringFunc(text, basicCredential)
	text = longest().ReplaceAllStringFunc(text, randomToken)
	return cutAssignments(text)
}

const (
	blanks = " \t"
	quotes = "\"'`"
	ends   = " \t\r\n,;(){}[]&?<>" + quotes
)

// assigned matches a name and what separates it from its value: key=value, "key": "value", key => value, --key value,
// <key>value, key="NAME" value="x", and of YAML a value or list on the next lines.
var assigned = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("(?:(--?[\\w-]+)[ \t]+|<([\\w.:-]+)>|(?:\\w+[ \t]+)?\\b(?:key|name)=[\"']([\\w.:-]+)[\"'][ \t]+value=|((?:[\\w.$/-]+ )?[\\w.$/-]+)[\"'`\\\\]*[ \t]*(?:[:=]+>?)[ \t]*(?:[|>][+-]?[ \t]*)?(?:\r?\n(?:[ \t]*-[ \t]+|[ \t]+))?)")
})

// cutAssignments takes the values out of assignments to a name of a secret.
func cutAssignments(text string) string {
	var out strings.Builder
	for {
		at := assigned().FindStringSubmatchIndex(text)
		if at == nil {
			break
		}
		name := ""
		for i := 2; i < len(at); i += 2 {
			if at[i] >= 0 {
				name = text[at[i]:at[i+1]]
			}
		}
		start, end := secretValue(name, text[at[1]:])
		start, end = start+at[1], end+at[1]
		if line := strings.LastIndexByte(text[:at[1]], '\n') + 1; start < end && line > at[0] {
			end = indented(text, end, len(text[line:])-len(strings.TrimLeft(text[line:], blanks)))
		}
		out.WriteString(text[:start])
		if start < end {
			out.WriteString(Redacted)
		}
		text = text[end:]
	}
	out.WriteString(text)
	return out.String()
}

// secretValue returns where the value of a name begins and ends in text, nothing if it is no secret.
func secretValue(name, text string) (start, end int) {
	first := name
	if _, last, two := strings.Cut(name, " "); two && !strings.EqualFold(last, "key") && !strings.EqualFold(last, "phrase") {
		first = last // "private key: x", but not "token is: x"
	}
	if !Name(first) || strings.HasPrefix(text, "//") {
		return 0, 0
	}
	start = len(text) - len(strings.TrimLeft(text, blanks+quotes+`\([{`))
	if at := strings.LastIndexAny(text[:start], quotes); at >= 0 {
		end = closing(text, start, text[at])
	} else if end = valueEnd(text, start); toEndOfLine(first) {
		end = until(text, start, "\r\n")
	}
	switch text[start:end] {
	case "", "true", "false":
		return 0, 0
	}
	if strings.HasPrefix(text[start:], Redacted) {
		return start, start
	}
	return start, end
}

// indented returns where the lines behind at end that are indented as much as the first line of a value in YAML.
func indented(text string, at, indent int) int {
	end := until(text, at, "\n")
	for end < len(text) {
		line, _, _ := strings.Cut(text[end+1:], "\n")
		inner := strings.TrimLeft(line, blanks)
		if item := strings.HasPrefix(inner, "- "); len(line)-len(inner) < indent || indent == 0 && !item {
			return end
		}
		end += 1 + len(line)
	}
	return end
}

// toEndOfLine reports whether a header's value has blanks and separators in it.
func toEndOfLine(name string) bool {
	plain := plainName(name)
	return strings.HasSuffix(plain, "authorization") || strings.HasSuffix(plain, "cookie")
}

// valueEnd returns where a value without quotes ends. It may be an assignment itself, of something in quotes.
func valueEnd(text string, start int) int {
	end := until(text, start, ends)
	if end > start && end < len(text) && strings.IndexByte(quotes, text[end]) >= 0 && strings.IndexByte(":=", text[end-1]) >= 0 {
		end = closing(text, end+1, text[end])
	}
	return end
}

// closing returns where a value in quotes ends. The quotes may be escaped, as in JSON inside JSON. If the text was cut
// off, the value is the rest of the line.
func closing(text string, start int, quote byte) int {
	escaped := start > 1 && text[start-2] == '\\'
	for i := start; i < len(text) && text[i] != '\n'; i++ {
		switch {
		case text[i] == quote && !escaped, text[i] == '\\' && escaped && i+1 < len(text) && text[i+1] == quote:
			return i
		case strings.HasPrefix(text[i:], `\\\`) && escaped: // an escape inside
			i += 3
		case text[i] == '\\':
			i++
		}
	}
	return until(text, start, "\n")
}

// until returns where the first of some characters is behind start, or the end of the text.
func until(text string, start int, chars string) int {
	if i := strings.IndexAny(text[start:], chars); i >= 0 {
		return start + i
	}
	return len(text)
}

// JSON takes secrets out of a JSON document. ok is false if it is none. The
// document is written anew only if something changed.
func JSON(value []byte) (out []byte, changed, ok bool) {
	decoder := json.NewDecoder(bytes.NewReader(value))
	decoder.UseNumber()
	var document any
	if decoder.Decode(&document) != nil || decoder.More() {
		return nil, false, false
	}
	document, changed = cutTree(document, 0)
	if !changed {
		return value, false, true
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if encoder.Encode(document) != nil {
		return nil, false, false
	}
	return bytes.TrimRight(b.Bytes(), "\n"), true, true
}

// maxJSONDepth bounds the recursion into JSON that holds JSON in strings.
const maxJSONDepth = 100

func cutTree(node any, depth int) (out any, changed bool) {
	if depth > maxJSONDepth {
		return Redacted, true
	}
	switch node := node.(type) {
	case map[string]any:
		for key, value := range node {
			if text, ok := value.(string); ok {
				if safe := Pair(key, text); safe != text {
					node[key], changed = safe, true
				}
				continue
			}
			if _, flag := value.(bool); Name(key) && value != nil && !flag {
				node[key], changed = Redacted, true
				continue
			}
			if safe, inner := cutTree(value, depth+1); inner {
				node[key], changed = safe, true
			}
		}
		return node, changed
	case []any:
		for i, value := range node {
			if safe, inner := cutTree(value, depth+1); inner {
				node[i], changed = safe, true
			}
		}
		return node, changed
	case string:
		safe := Text(node)
		return safe, safe != node
	}
	return node, false
}

// Package redact removes secrets from text: settings, properties, labels, JSON, URLs, connection strings, errors.
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

// secretWords are parts of names whose values are secrets, in lower case and without separators. They cover the
// configuration of Milvus (configs/milvus.yaml: minio.secretAccessKey, etcd.auth.password, kafka.saslPassword,
// pulsar.authParams, credential.*, cipherPlugin.*, trace.otlp.headers) and the parameters of functions and external
// tables.
const secretWords = "password passwd passphrase passcode pwd secret authorization accesskey privatekey apikey token " +
	"credential sasl cipher kms " +
	"authparams otlpheaders connectionstring signingkey encryptionkey defaultkey accountkey sharedaccess sharedkey " +
	"signature cookie keytab " +
	"keydata license webhook bindpw"

// innocentWords contain a secret word by coincidence: analyzers have tokenizers, models have token limits.
const innocentWords = "tokenizer tokenfilter maxtokens mintokens numtokens tokencount tokenlimit"

// lastWords name a secret only as the last part of a name, because harmless words contain them.
const lastWords = "auth psk sig jwt pass"

// marks are further words that occur in secrets. A shape can match only texts that contain a mark, a secret
// word, or one of the characters or long runs that has detects.
const marks = lastWords + " eyj key= code= :aa -u mysql mariadb jdbc: basic bearer login identified sess hooks.slack " +
	"discord community aiza glpat- glptt- gldt- hvs. hvb. sg. xox eaaa gocspx- nvapi- figd_ pypi-"

type wordKind int

const (
	innocentWord wordKind = iota
	secretWord
	mark
)

// word is a word to search for. The search ignores case, and it ignores separators after the first two characters.
type word struct {
	text string
	kind wordKind
}

// wordTable holds the words by their first two characters.
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

// slot returns the index of two characters in wordTable. It ignores the case of letters.
func slot(a, b byte) int { return int(a&31)<<5 | int(b&31) }

// end returns the end of the word in a text that starts with it, or 0 if the text does not start with it.
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

// plainName returns a name in lower case without separators.
func plainName(name string) string {
	return strings.Map(func(r rune) rune {
		if r < utf8.RuneSelf && separator(byte(r)) {
			return -1
		}
		return unicode.ToLower(r)
	}, name)
}

// Name reports whether values with this name are secrets.
func Name(name string) bool {
	last := name[strings.LastIndexAny(name, "._-/ ")+1:]
	for word := range strings.FieldsSeq(lastWords) {
		if strings.EqualFold(last, word) {
			return true
		}
	}
	return mentionsSecret([]byte(name))
}

// mentionsSecret reports whether text contains a secret word.
func mentionsSecret(text []byte) bool { return has(text, secretWord) }

// MayHoldSecret reports whether text may contain a secret. It is fast, and true for every text that Text changes.
func MayHoldSecret(text []byte) bool { return has(text, mark) }

// longRun is the shortest run of letters and digits that may be a token. Nearly all issuers' tokens have at least as
// many.
const longRun = 20

// has reports whether text contains a word of a kind from secretWord to most. It reads each byte once. If most is
// mark, it also reports a long run of letters and digits, "@", "$", and a number between colons.
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
		if most == mark &&
			(run >= longRun && classes != digit && classes != small || c == '@' || c == '$' ||
				c == ':' && port && text[i-1] != ':') {
			return true
		}
		// as in a line of .pgpass: host:port:database:user:password
		port = c == ':' || port && (c == '*' || c >= '0' && c <= '9')
	}
	return false
}

// shape matches secrets that are recognized without a name. The replacement may refer to groups of the pattern.
type shape struct {
	pattern     *regexp.Regexp
	replacement string
}

// issuers matches tokens that are not random enough for randomToken. Each alternative has the alphabet and length of
// its issuer.
const issuers = `(?:A3T[A-Z0-9]|AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}|LTAI[A-Za-z0-9]{12,20}|AKID[A-Za-z0-9]{32}|AIza[\w-]{35}|gh[pousr]_\w{36}|` +
	`gl(?:pat|ptt|dt)-[\w-]{20}|hf_[A-Za-z0-9]{34}|npm_[A-Za-z0-9]{36}|xox[a-z]-[\w-]{20,}|sk-(?:proj-|ant-)?\w{20,}|[sr]k_(?:live|test)_\w{16,}|` +
	`SG\.[\w-]{22}\.[\w-]{43}|hv[sb]\.[\w-]{24,}|do[opr]_v1_[0-9a-f]{64}|dapi[0-9a-f]{32}|sbp_[0-9a-f]{40}|key-[0-9a-f]{32}|shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}|` +
	`dp\.pt\.\w{40,}|EAAA[\w-]{60}|AGE-SECRET-KEY-1[A-Z0-9]{58}|ntn_\w{40,}|GOCSPX-[\w-]{28}|nvapi-[\w-]{60,}|figd_[\w-]{40}|pypi-[\w-]{50,}|\w{14}\.atlasv1\.[\w=-]{60,}`

var shapes = sync.OnceValue(func() []shape {
	var list []shape
	for _, x := range [][2]string{
		{`(?s)-----BEGIN [A-Z ]*PRIVATE KEY.*?(?:-----END [A-Z ]*-----|\z)`, Redacted},
		// scheme://user:password@host, where the password may contain slashes as AWS keys do
		{`://[^\s/?#"'<>]*@`, "://" + Redacted + "@"},
		{`://[^\s/?#"'<>:]+:(?:[^\s"'<>\d]|\d+[^\s"'<>\d/?#,])[^\s"'<>]*@`, "://" + Redacted + "@"},
		{`(jdbc:oracle:\w+:[^\s/@]+/)[^\s@]+@`, "${1}" + Redacted + "@"},
		// user:password@host:1, user:password@tcp(host)
		{`(^|[\s,;"'=(\[{])[\w.%+~$!-]+:[^\s"'<>/][^\s"'<>]*@([\w\[(])`, "${1}" + Redacted + "@${2}"},
		{`\b((?i:bearer))[ \t]+[\w+/.~%-]{16,}=*`, "${1} " + Redacted},
		{`\beyJ[\w-]{6,}\.[\w-]{6,}[\w.-]*`, Redacted}, // JSON Web Tokens
		{`\b(?:` + issuers + `)[\w-]*(?:[:,][\w+/=]{16,})?`, Redacted},
		{`(hooks\.slack\.com/|discord(?:app)?\.com/api/webhooks/|webhook\.office\.com/)[\w/@.-]+`, "${1}" + Redacted},
		{`\b\d{8,10}:AA[\w-]{30,}`, Redacted},                                    // Telegram
		{`\$(?:2[abxy]|[156]|apr1|argon2\w*|scrypt)\$[\w./+,=$]{10,}`, Redacted}, // password hashes
		{`([?&](?:key|code)=)[^\s&"'#]+`, "${1}" + Redacted},
		{`(?i)(\b(?:identified\s+by|password)\s+)(?:'[^']*'|"[^"]*")`, "${1}" + Redacted},
		{
			`(?i)(\b(?:password|passphrase|secret|token|key)\s+is\s+["']?)[^\s"']*[\d!#$%&*@^_][^\s"']*`,
			"${1}" + Redacted,
		},
		// netrc
		{`(?i)(\blogin\s+\S+\s+password\s+)\S+`, "${1}" + Redacted},
		// .pgpass
		{`((?:^|[\s"])(?:[\w-]+(?:\.[\w-]+)+|localhost|\*):(?:\d+|\*):[^:\s/]+:[^:\s/]+:)[^\s:"]+`, "${1}" + Redacted},
		{`(\s-u\s+['"]?)[^\s:'"]+:[^\s'"]+`, "${1}" + Redacted}, // curl
		{`(\b(?:mysql|mariadb)\w*\s[^\n]*?-p)[^\s'"]+`, "${1}" + Redacted},
		{`(?i)(\br[ow]community6?\s+)\S+`, "${1}" + Redacted}, // SNMP
		{`(?i)(\b\w*sess(?:ion)?_?id=)[\w%.-]+`, "${1}" + Redacted},
	} {
		list = append(list, shape{regexp.MustCompile(x[0]), x[1]})
	}
	return list
})

var (
	basicAuthPattern = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)\bbasic[ \t]+[a-z0-9+/]{4,}={0,2}`)
	})
	longRunPattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[\w-]*[A-Za-z0-9]{20,}[\w-]*`) })
)

// basicCredential redacts the value of "basic x" if x is user:password in base64.
func basicCredential(text string) string {
	word, encoded, _ := strings.Cut(strings.ReplaceAll(text, "\t", " "), " ")
	plain, err := base64.RawStdEncoding.DecodeString(strings.Trim(encoded, " ="))
	if err != nil || !utf8.Valid(plain) || !bytes.Contains(plain, []byte(":")) {
		return text
	}
	return word + " " + Redacted
}

// randomToken redacts a word that has a long part with digits, small and capital letters, unless the part looks like
// a camel-case name. The words of such names have at least 3.5 characters on average.
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

// HoldsSecret reports whether a value in an unknown encoding mentions a secret or contains a secret in a known format.
func HoldsSecret(value []byte) bool {
	return mentionsSecret(value) || MayHoldSecret(value) && Text(string(value)) != string(value)
}

// Pair returns the value of a named property with its secrets removed.
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

// identifier reports whether values with this name identify things of the cluster, e.g. aliases or channels. Such
// values can look like secrets.
func identifier(name string) bool {
	plain := plainName(name)
	for _, end := range []string{
		"name", "alias", "aliases", "channel", "address", "addresses", "host", "bucket", "database", "collection",
		"partition",
	} {
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

// textSettings are the Milvus settings whose values are text without secrets: addresses, paths, names.
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
	// quantity matches a number or a size. template matches a format of access logs.
	quantity = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)^[-+]?\d{1,19}(?:\.\d{1,19})?(?:e[-+]?\d{1,3})?\s?(?:%|d|[kmgtp]?i?b?)$`)
	})
	template = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^[^$\d]{0,20}(?:\$[a-z_]+[^$\d]{0,20})+$`)
	})
)

// harmless reports whether a value cannot be a secret: a boolean, a number, a duration, a size, or a list of
// such values.
func harmless(value string) bool {
	for item := range strings.SplitSeq(value, ",") {
		item = strings.TrimSpace(item)
		_, err := time.ParseDuration(item)
		if err != nil && item != "" && !strings.EqualFold(item, "true") && !strings.EqualFold(item, "false") &&
			!quantity().MatchString(item) {
			return false
		}
	}
	return true
}

// Property returns the value of a property or parameter of a collection, field, index or function, with its secrets
// removed. It redacts the value of a property unknown to Milvus unless the value cannot be a secret.
func Property(name, value string) string {
	if safe := Pair(name, value); textProperties()[plainName(name)] || harmless(value) {
		return safe
	}
	return Redacted
}

// Setting returns the value of a Milvus setting with its secrets removed. It redacts text unless the setting is known
// to hold plain text, e.g. an address or a path, because an unknown setting may hold a secret.
func Setting(name, value string) string {
	plain := plainName(name)
	last := name[strings.LastIndexAny(name, "./")+1:]
	if safe := Pair(name, value); harmless(value) || textSettings()[plain] ||
		strings.HasPrefix(plain, "proxyaccesslogformatters") && template().MatchString(value) ||
		(strings.HasPrefix(plain, "knowhere") || strings.HasPrefix(plain, "autoindexparamstuning")) &&
			textProperties()[plainName(last)] {
		return safe
	}
	return Redacted
}

// Address redacts the user and password in user:password@host:port.
func Address(s string) string {
	if strings.Contains(s, "://") {
		return Text(s)
	}
	if at := strings.LastIndexByte(s, '@'); at >= 0 {
		return Redacted + s[at:]
	}
	return s
}

// maxText limits the length of texts that Text scans. Text takes about a microsecond per byte of a suspect text.
const maxText = 64 << 10

// Text removes secrets from free text: values of secret keys in JSON, values of secret names in "name=value" and
// "name: value", and strings in the format of a secret, e.g. in URLs. Unless it is JSON, a suspect text longer
// than maxText is redacted as a whole, because honest texts are shorter.
func Text(text string) string {
	if !MayHoldSecret([]byte(text)) {
		return text
	}
	if start := strings.TrimLeft(text, " \t\r\n"); strings.HasPrefix(start, "{") || strings.HasPrefix(start, "[") {
		if out, changed, ok := JSON([]byte(text)); ok {
			if changed {
				return string(out)
			}
			return text
		}
		if mentionsSecret([]byte(text)) { // broken JSON: the end of the secret is unknown
			return Redacted
		}
	}
	if len(text) > maxText {
		return Redacted
	}
	for _, s := range shapes() {
		text = s.pattern.ReplaceAllString(text, s.replacement)
	}
	text = basicAuthPattern().ReplaceAllStringFunc(text, basicCredential)
	text = longRunPattern().ReplaceAllStringFunc(text, randomToken)
	return cutAssignments(text)
}

const (
	blanks      = " \t"
	quotes      = "\"'`"
	terminators = " \t\r\n,;(){}[]&?<>" + quotes
)

// assignment matches a name and the separator before its value: key=value, "key": "value", key => value, --key value,
// <key>value, key="NAME" value="x", and in YAML a value or list on the next lines.
var assignment = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("(?:(--?[\\w-]+)[ \t]+|<([\\w.:-]+)>|(?:\\w+[ " +
		"\t]+)?\\b(?:key|name)=[\"']([\\w.:-]+)[\"'][ \t]+value=|((?:[\\w.$/-]+ )?[\\w.$/-]+)[\"'`\\\\]*[ " +
		"\t]*(?:[:=]+>?)[ \t]*(?:[|>][+-]?[ \t]*)?(?:\r?\n(?:[ \t]*-[ \t]+|[ \t]+))?)")
})

// cutAssignments redacts the values that are assigned to secret names.
func cutAssignments(text string) string {
	var out strings.Builder
	for {
		at := assignment().FindStringSubmatchIndex(text)
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
			end = indentedEnd(text, end, len(text[line:])-len(strings.TrimLeft(text[line:], blanks)))
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

// secretValue returns the start and end of a name's value in text. They are equal if there is no secret to
// redact.
func secretValue(name, text string) (start, end int) {
	first := name
	if _, last, two := strings.Cut(name, " "); two && !strings.EqualFold(last, "key") &&
		!strings.EqualFold(last, "phrase") {
		first = last // "private key: x", but not "token is: x"
	}
	if !Name(first) || strings.HasPrefix(text, "//") {
		return 0, 0
	}
	start = len(text) - len(strings.TrimLeft(text, blanks+quotes+`\([{`))
	if at := strings.LastIndexAny(text[:start], quotes); at >= 0 {
		end = quoteEnd(text, start, text[at])
	} else if end = valueEnd(text, start); toEndOfLine(first) {
		end = indexAny(text, start, "\r\n")
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

// indentedEnd returns the end of the YAML lines after offset at that are indented by at least indent.
func indentedEnd(text string, at, indent int) int {
	end := indexAny(text, at, "\n")
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

// toEndOfLine reports whether the value of a header may contain spaces and separators, so that it ends with the line.
func toEndOfLine(name string) bool {
	plain := plainName(name)
	return strings.HasSuffix(plain, "authorization") || strings.HasSuffix(plain, "cookie")
}

// valueEnd returns the end of an unquoted value. The value may itself be an assignment of a quoted value.
func valueEnd(text string, start int) int {
	end := indexAny(text, start, terminators)
	if end > start && end < len(text) && strings.IndexByte(quotes, text[end]) >= 0 &&
		strings.IndexByte(":=", text[end-1]) >= 0 {
		end = quoteEnd(text, end+1, text[end])
	}
	return end
}

// quoteEnd returns the end of a quoted value. The quotes may be escaped, as in JSON inside JSON. If the text was cut
// off, the value extends to the end of the line.
func quoteEnd(text string, start int, quote byte) int {
	escaped := start > 1 && text[start-2] == '\\'
	for i := start; i < len(text) && text[i] != '\n'; i++ {
		switch {
		case text[i] == quote && !escaped, text[i] == '\\' && escaped && i+1 < len(text) && text[i+1] == quote:
			return i
		case strings.HasPrefix(text[i:], `\\\`) && escaped: // an escaped character inside the value
			i += 3
		case text[i] == '\\':
			i++
		}
	}
	return indexAny(text, start, "\n")
}

// indexAny returns the offset of the first of the characters in chars at or after start, or the length of text.
func indexAny(text string, start int, chars string) int {
	if i := strings.IndexAny(text[start:], chars); i >= 0 {
		return start + i
	}
	return len(text)
}

// JSON removes secrets from a JSON document. ok is false if value is not a JSON document. JSON encodes the document
// again only if it changed.
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

// maxJSONDepth limits the depth of nesting in a JSON document. JSON in a string of the document has its own
// depth.
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

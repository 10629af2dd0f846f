// Package redact takes secrets out of text: settings, properties, labels, JSON, URLs, connection strings, errors.
package redact

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"regexp"
	"strings"
	"sync"
)

// Redacted replaces a secret.
const Redacted = "<redacted>"

// secretWords are parts of names that hold secrets, in lower case without separators. They cover Milvus's own
// configuration (configs/milvus.yaml: minio.secretAccessKey, etcd.auth.password, kafka.saslPassword, pulsar.authParams,
// credential.*, cipherPlugin.*, trace.otlp.headers) and the parameters of functions and external tables.
func secretWords() []string {
	return []string{
		"password", "passwd", "passphrase", "passcode", "pwd", "secret", "authorization", "accesskey", "privatekey", "apikey", "token",
		"credential", "sasl", "cipher", "kms", "authparams", "otlpheaders", "connectionstring", "signingkey", "encryptionkey", "defaultkey",
		"accountkey", "sharedaccess", "sharedkey", "signature", "cookie", "keytab", "keydata", "license", "webhook",
	}
}

// wholeWords name a secret only as the last part of a name, because harmless words contain them.
func wholeWords() []string { return []string{"auth", "psk", "sig", "jwt", "pass"} }

// innocentWords contain a secret word by accident: analyzers have tokenizers, models a limit of tokens.
func innocentWords() []string {
	return []string{"tokenizer", "tokenfilter", "maxtokens", "mintokens", "numtokens", "tokencount", "tokenlimit"}
}

// tokenPrefixes begin tokens of known issuers.
func tokenPrefixes() []string {
	return []string{
		"A3T", "AKIA", "ASIA", "ABIA", "ACCA", "LTAI", "AKID", "AIza", "ya29.", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "glptt-", "gldt-",
		"glsa_", "glc_", "hf_", "xoxa-", "xoxb-", "xoxe", "xoxp-", "xoxr-", "xoxs-", "xapp-", "sk-", "sk_live_", "sk_test_", "rk_live_", "rk_test_", "npm_", "pypi-",
		"SG.", "hvs.", "hvb.", "dop_v1_", "doo_v1_", "dor_v1_", "shpat_", "shpca_", "shppa_", "shpss_", "dapi", "dp.pt.", "lin_api_", "PMAK-", "NRAK-", "sq0atp-", "EAAA",
		"AGE-SECRET-KEY-1", "ATATT3", "pscale_", "sntrys_", "sntryu_", "tfp_", "rubygems_",
	}
}

// shape is a form of secrets that need no name. What stands for the secret may refer to groups of the pattern.
type shape struct {
	pattern     *regexp.Regexp
	replacement string
}

var shapes = sync.OnceValue(func() []shape {
	var prefixes []string
	for _, p := range tokenPrefixes() {
		prefixes = append(prefixes, regexp.QuoteMeta(p))
	}
	var list []shape
	for _, x := range [][2]string{
		{`(?s)-----BEGIN [A-Z ]*PRIVATE KEY.*?(?:-----END [A-Z ]*-----|\z)`, Redacted},
		// scheme://user:password@host, with slashes in the password as AWS's keys have them
		{`://[^\s/?#"'<>]*@`, "://" + Redacted + "@"},
		{`://[^\s/?#"'<>:]+:(?:[^\s"'<>\d]|\d+[^\s"'<>\d/?#,])[^\s"'<>]*@`, "://" + Redacted + "@"},
		{`(^|[\s,;"'=(\[{])[\w.%+~$!-]+:[^\s"'<>/][^\s"'<>]*@([\w\[(])`, "${1}" + Redacted + "@${2}"}, // user:password@host:1, user:password@tcp(host)
		{`\b((?i:bearer|basic|digest|negotiate))[ \t]+[\w+/.~%-]*(?:[\d=_+]|[a-z][A-Z]|[A-Z]{2})[\w+/.=~%-]*`, "${1} " + Redacted},
		{`\beyJ[\w-]{6,}\.[\w-]{6,}[\w.-]*`, Redacted}, // JSON Web Tokens
		{`\b(?:` + strings.Join(prefixes, "|") + `)[\w+/.-]{12,}=*(?:[:,][\w+/=]{16,})?`, Redacted},
		{`(hooks\.slack\.com/|discord(?:app)?\.com/api/webhooks/|webhook\.office\.com/)[\w/@.-]+`, "${1}" + Redacted},
		{`\b\d{8,10}:AA[\w-]{30,}`, Redacted},                               // Telegram
		{`\$(?:2[abxy]|[156]|argon2\w*|scrypt)\$[\w./+,=$]{10,}`, Redacted}, // hashes of passwords
		{`([?&](?:key|code)=)[^\s&"'#]+`, "${1}" + Redacted},
		{`(?i)(\b(?:identified\s+by|password)\s+)(?:'[^']*'|"[^"]*")`, "${1}" + Redacted},
		{`(?i)(\blogin\s+\S+\s+password\s+)\S+`, "${1}" + Redacted}, // netrc
		{`(\s-u\s+['"]?)[^\s:'"]+:[^\s'"]+`, "${1}" + Redacted},     // curl
		{`(?i)(\b\w*sess(?:ion)?_?id=)[\w%.-]+`, "${1}" + Redacted},
	} {
		list = append(list, shape{regexp.MustCompile(x[0]), x[1]})
	}
	return list
})

// plainName lowers a name and removes its separators.
func plainName(name []byte) []byte {
	plain := make([]byte, 0, len(name))
	for _, c := range name {
		switch {
		case c >= 'A' && c <= 'Z':
			plain = append(plain, c+'a'-'A')
		case c == '_' || c == '-' || c == '.' || c == ' ' || c == '/':
		default:
			plain = append(plain, c)
		}
	}
	return plain
}

// Name reports whether the value of a name is a secret.
func Name(name string) bool {
	last := name[strings.LastIndexAny(name, "._-/ ")+1:]
	for _, word := range wholeWords() {
		if strings.EqualFold(last, word) {
			return true
		}
	}
	return mentioned([]byte(name))
}

// mentioned reports whether text has a word that names a secret.
func mentioned(text []byte) bool {
	plain := plainName(text)
	for _, word := range secretWords() {
		if !bytes.Contains(plain, []byte(word)) {
			continue
		}
		for _, innocent := range innocentWords() {
			plain = bytes.ReplaceAll(plain, []byte(innocent), nil)
		}
		if bytes.Contains(plain, []byte(word)) {
			return true
		}
	}
	return false
}

// Suspect reports whether text may hold a secret. It is quick and always true for a text that Text changes.
func Suspect(text []byte) bool {
	for _, mark := range append(tokenPrefixes(), "@", "eyJ", "$", "key=", "code=", ":AA", " -u", "\t-u", "\n-u") {
		if bytes.Contains(text, []byte(mark)) {
			return true
		}
	}
	plain := plainName(text)
	for _, word := range append(wholeWords(), "bearer", "basic", "digest", "negotiate", "login", "identified", "sess", "hooksslack") {
		if bytes.Contains(plain, []byte(word)) {
			return true
		}
	}
	return mentioned(text)
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
	case strings.EqualFold(name, "address"):
		value = Address(value)
	}
	return Text(value)
}

//go:embed settings.txt
var settingsText string

// textSettings are the settings of Milvus whose values are text without secrets: addresses, paths, names.
var textSettings = sync.OnceValue(func() map[string]bool {
	all := map[string]bool{}
	for key := range strings.Lines(settingsText) {
		all[string(plainName([]byte(strings.TrimSpace(key))))] = true
	}
	return all
})

// harmless matches values of any setting: booleans, numbers, lists of them, durations and sizes.
var harmless = regexp.MustCompile(`(?i)^(?:true|false|(?:[-+]?\d{1,19}(?:\.\d+)?(?:e[-+]?\d+)?\s?(?:%|[nuµm]?s|m|h|d|[kmgtp]?i?b?)(?:[,\s]\s*)?)+)?$`)

// Setting returns the value of a setting of Milvus as it may be kept. What an unknown setting holds is unknown, so that
// text is redacted unless the setting is one of Milvus's that are known to be addresses, paths and other plain text.
func Setting(name, value string) string {
	safe := Pair(name, value)
	if safe != value || harmless.MatchString(value) || textSetting(name) {
		return safe
	}
	return Redacted
}

func textSetting(name string) bool {
	plain := string(plainName([]byte(name)))
	if textSettings()[plain] {
		return true
	}
	for group := range textSettings() {
		if prefix, ok := strings.CutSuffix(group, "*"); ok && strings.HasPrefix(plain, prefix) {
			return true
		}
	}
	return false
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
	return cutAssignments(text)
}

const (
	blanks = " \t"
	quotes = "\"'`"
	ends   = " \t\r\n,;(){}[]&?<>" + quotes
)

// assigned matches a name and what separates it from its value: key=value, "key": "value", key => value, --key value,
// <key>value, and of YAML a value on the next line.
var assigned = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("(?:(--?[\\w-]+)[ \t]+|<([\\w.:-]+)>|((?:[\\w.$/-]+ )?[\\w.$/-]+)[\"'`\\\\]*[ \t]*(?:[:=]+>?)[ \t]*(?:[|>][+-]?[ \t]*)?(?:\r?\n[ \t]+)?)")
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

// toEndOfLine reports whether a header's value has blanks and separators in it.
func toEndOfLine(name string) bool {
	plain := plainName([]byte(name))
	return bytes.HasSuffix(plain, []byte("authorization")) || bytes.HasSuffix(plain, []byte("cookie"))
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

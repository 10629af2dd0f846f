// Package redact tells which names hold secrets, and takes secrets out of text: out of
// configuration, JSON, URLs, connection strings, error messages.
package redact

import (
	"bytes"
	"encoding/json"
	"strings"
)

// Redacted replaces a secret.
const Redacted = "<redacted>"

// secretWords are parts of names that hold secrets, in lower case without separators.
// They cover Milvus's own configuration (configs/milvus.yaml: minio.secretAccessKey,
// etcd.auth.password, kafka.saslPassword, pulsar.authParams, credential.*, cipherPlugin.*,
// trace.otlp.headers) and the parameters of functions and external tables.
func secretWords() []string {
	return []string{
		"password", "passwd", "passphrase", "pwd", "secret", "authorization", "accesskey", "privatekey", "apikey", "token", "credential",
		"sasl", "cipher", "kms", "authparams", "otlpheaders", "connectionstring", "signingkey", "defaultkey",
		"accountkey", "sharedaccess", "signature",
	}
}

// innocentWords contain a secret word by accident: analyzers have tokenizers, models
// a limit of tokens.
func innocentWords() []string {
	return []string{"tokenizer", "tokenfilter", "maxtokens", "mintokens", "numtokens", "tokencount", "tokenlimit"}
}

// plainName lowers a name and takes its separators out.
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

// Name reports whether a name says that its value is a secret.
func Name(name string) bool { return Mentioned([]byte(name)) }

// Mentioned reports whether text holds a word that names a secret.
func Mentioned(text []byte) bool {
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

// Address takes user and password out of user:password@host:port. In a URL they are for URL to find.
func Address(s string) string {
	if strings.Contains(s, "://") {
		return URL(s)
	}
	if at := strings.LastIndexByte(s, '@'); at >= 0 {
		return Redacted + s[at:]
	}
	return s
}

// Text takes secrets out of free text: out of JSON by its keys, out of URLs, and
// out of "name=value" by the name.
func Text(value string) string {
	if start := strings.TrimLeft(value, " \t\r\n"); strings.HasPrefix(start, "{") || strings.HasPrefix(start, "[") {
		if out, changed, ok := JSON([]byte(value)); ok {
			if changed {
				return string(out)
			}
			return value
		}
		if Mentioned([]byte(value)) { // broken JSON: nothing tells where the secret ends
			return Redacted
		}
	}
	return cutAssignments(URL(value))
}

// URL takes user and password out of every scheme://user:password@host in s.
func URL(s string) string {
	for from := 0; ; {
		i := strings.Index(s[from:], "://")
		if i < 0 {
			return s
		}
		start := from + i + len("://")
		end := start + strings.IndexAny(s[start:]+"/", "/?#\" \t\n,")
		at := strings.LastIndex(s[start:end], "@")
		if at < 0 && strings.Contains(s[start:end], ":") {
			// AWS's secret keys have slashes in them: what comes after user: is no port.
			word := start + strings.IndexAny(s[start:]+" ", "\"' \t\n,")
			at = strings.LastIndex(s[start:word], "@")
		}
		if at >= 0 && s[start:start+at] != Redacted {
			s = s[:start] + Redacted + s[start+at:]
			end = start + len(Redacted)
		}
		from = min(end, len(s))
	}
}

// cutAssignments takes the values out of "name=value" where the name says secret: in
// the query of a URL, in a connection string, in an error message.
func cutAssignments(s string) string {
	const ends = "&;, \t\r\n\"'"
	for from := 0; from < len(s); {
		i := strings.IndexByte(s[from:], '=')
		if i < 0 {
			return s
		}
		at := from + i
		name := s[strings.LastIndexAny(s[:at], ends+"?")+1 : at]
		from = at + 1
		if !Name(name) && !strings.EqualFold(name, "sig") {
			continue
		}
		// Base64 ends in "=", so that the value goes on to what separates it.
		end := valueEnd(s, from, ends)
		if value := s[from:end]; value == "" || value == Redacted || value == "true" || value == "false" {
			continue
		}
		s = s[:from] + Redacted + s[end:]
		from += len(Redacted)
	}
	return s
}

// valueEnd is where the value ends that begins at from: at one of the characters of ends. The
// name of an authentication scheme (RFC 9110, section 11.4) is followed by a blank and the credentials.
func valueEnd(s string, from int, ends string) int {
	end := from + strings.IndexAny(s[from:]+ends[:1], ends)
	if scheme := s[from:end]; strings.EqualFold(scheme, "bearer") || strings.EqualFold(scheme, "basic") {
		next := len(s) - len(strings.TrimLeft(s[end:], " \t"))
		return next + strings.IndexAny(s[next:]+ends[:1], ends)
	}
	return end
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

package model

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Config is one session's effective configuration, as ShowConfigurations says it.
// Milvus answers with each key twice, dotted and folded, and echoes its environment;
// here a key is kept once, folded, and only if Milvus has it. Secrets are redacted.
type Config struct {
	Values map[string]string // by folded key
	Names  map[string]string // folded key to the dotted name, where one was told
}

// FoldConfigKey folds a key as Milvus does: lower case, without separators
// (pkg/config/source.go: formatKey).
func FoldConfigKey(key string) string {
	var buffer [64]byte
	folded := buffer[:0]
	for i := range len(key) {
		switch c := key[i]; {
		case c >= utf8.RuneSelf:
			return foldAnyKey(key)
		case c == '/', c == '_', c == '.', c == '-':
		case 'A' <= c && c <= 'Z':
			folded = append(folded, c+'a'-'A')
		default:
			folded = append(folded, c)
		}
	}
	if string(folded) == key {
		return key
	}
	return string(folded)
}

// foldAnyKey is FoldConfigKey of what is not ASCII alone.
func foldAnyKey(key string) string {
	return strings.Map(func(r rune) rune {
		switch r {
		case '/', '_', '.', '-':
			return -1
		}
		return unicode.ToLower(r)
	}, key)
}

// Get returns a value by its dotted or folded key; ok is false if the session did not tell it.
func (c *Config) Get(key string) (value string, ok bool) {
	if c == nil {
		return "", false
	}
	value, ok = c.Values[FoldConfigKey(key)]
	return value, ok
}

// HasBelow reports whether the session told any key of a component, such as "dataCoord".
func (c *Config) HasBelow(component string) bool {
	component = FoldConfigKey(component)
	for key := range c.Values {
		if strings.HasPrefix(key, component) {
			return true
		}
	}
	return false
}

// Name is the dotted name of a key where it is known, else the key.
func (c *Config) Name(key string) string {
	if c != nil {
		if name := c.Names[FoldConfigKey(key)]; name != "" {
			return name
		}
	}
	return key
}

// Setting is the value of a configuration key for one role, and where it comes from.
type Setting struct {
	Value string
	// From is the session that told it, "dynamic configuration" for a key under config/ in etcd.
	From string
}

// Setting looks a key up as a role has it: in the answer of its first session that tells
// it, else among the dynamic keys in etcd. ok is false if nothing tells.
func (c *Cluster) Setting(key string, roles ...string) (Setting, bool) {
	folded := FoldConfigKey(key)
	if c.Runtime != nil {
		for _, role := range roles {
			for _, n := range c.Runtime.Nodes {
				if n.Role != role {
					continue
				}
				if v, ok := n.Config.Get(folded); ok {
					return Setting{v, n.Name()}, true
				}
			}
		}
	}
	if e := DynamicEntry(c.Config, key); e != nil {
		return Setting{e.Value, "dynamic configuration"}, true
	}
	return Setting{}, false
}

// DynamicEntry is the dynamic key in etcd that sets a configuration key, nil if none does. Milvus takes any spelling (queryCoord/autoBalance,
// querycoord.autobalance), and of several the last in order decides (pkg/config/etcd_source.go, refreshConfigurations).
func DynamicEntry(list []*ConfigEntry, key string) *ConfigEntry {
	folded := FoldConfigKey(key)
	for _, e := range slices.Backward(list) {
		if FoldConfigKey(e.Name) == folded {
			return e
		}
	}
	return nil
}

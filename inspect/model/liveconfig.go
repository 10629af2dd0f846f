package model

import (
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Config is the effective configuration of a session, from ShowConfigurations. Milvus returns each key twice,
// dotted and folded, and includes its environment. A Config has each key once, folded, and only keys of Milvus.
// Secrets are redacted.
type Config struct {
	Values map[string]string // by folded key
	Names  map[string]string // folded key to dotted name, if reported
}

// FoldConfigKey folds a key like Milvus: lower case, without separators (pkg/config/source.go: formatKey).
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

// foldAnyKey is FoldConfigKey for keys that are not ASCII.
func foldAnyKey(key string) string {
	return strings.Map(func(r rune) rune {
		switch r {
		case '/', '_', '.', '-':
			return -1
		}
		return unicode.ToLower(r)
	}, key)
}

// Get returns a value by its dotted or folded key. ok is false if the session did not report it.
func (c *Config) Get(key string) (value string, ok bool) {
	if c == nil {
		return "", false
	}
	value, ok = c.Values[FoldConfigKey(key)]
	return value, ok
}

// HasComponent reports whether the session reported any key of a component, e.g. "dataCoord".
func (c *Config) HasComponent(component string) bool {
	if c == nil {
		return false
	}
	component = FoldConfigKey(component)
	for key := range c.Values {
		if strings.HasPrefix(key, component) {
			return true
		}
	}
	return false
}

// Name returns the dotted name of a key, or key if the dotted name is unknown.
func (c *Config) Name(key string) string {
	if c != nil {
		if name := c.Names[FoldConfigKey(key)]; name != "" {
			return name
		}
	}
	return key
}

// Setting is the value of a configuration key for a role, with its source.
type Setting struct {
	Value string
	// From is the session that reported the value, or "dynamic configuration" for a key under config/ in etcd.
	From string
}

// Setting returns the value of a key for the first role with one. It looks in the configuration of each
// session, then in the dynamic keys in etcd, then, for MixCoord, in a proxy's configuration. ok is false if
// there is no value.
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
	if copied, of := c.Runtime.SubstituteConfig(key, roles...); copied != nil {
		if v, ok := copied.Get(folded); ok {
			return Setting{v, "configuration of " + of}, true
		}
	}
	return Setting{}, false
}

// SubstituteConfig returns a proxy's configuration as a substitute for that of a MixCoord that reports no keys of
// the component of key. Both usually have the same milvus.yaml. proxy names the proxy. copied is nil if there is none
// or no MixCoord needs it.
func (r *Runtime) SubstituteConfig(key string, roles ...string) (copied *Config, proxy string) {
	component, _, _ := strings.Cut(key, ".")
	if r == nil || !slices.Contains(roles, "mixcoord") ||
		!slices.ContainsFunc(r.Nodes, func(n *LiveNode) bool {
			return n.Role == "mixcoord" && !n.Config.HasComponent(component)
		}) {
		return nil, ""
	}
	for _, p := range r.Processes {
		if p.Config.HasComponent(component) {
			return p.Config, p.ConfigOf
		}
	}
	return nil, ""
}

// Without returns the configuration without some folded keys, or nil for nil.
func (c *Config) Without(keys map[string]bool) *Config {
	if c == nil {
		return nil
	}
	rest := &Config{Names: c.Names, Values: maps.Clone(c.Values)}
	maps.DeleteFunc(rest.Values, func(key, _ string) bool { return keys[key] })
	return rest
}

// DynamicEntries returns the dynamic keys in etcd by folded key. If several spellings exist, the effective one
// wins, see DynamicEntry.
func DynamicEntries(list []*ConfigEntry) map[string]*ConfigEntry {
	entries := make(map[string]*ConfigEntry, len(list))
	for _, e := range list {
		entries[FoldConfigKey(e.Name)] = e
	}
	return entries
}

// DynamicEntry returns the dynamic key in etcd that sets a configuration key, or nil if there is none. Milvus
// accepts any spelling (queryCoord/autoBalance, querycoord.autobalance). The last spelling in key order wins
// (pkg/config/etcd_source.go, refreshConfigurations).
func DynamicEntry(list []*ConfigEntry, key string) *ConfigEntry {
	folded := FoldConfigKey(key)
	for _, e := range slices.Backward(list) {
		if FoldConfigKey(e.Name) == folded {
			return e
		}
	}
	return nil
}

// CoordinatorKeys returns the keys of DataCoord and QueryCoord that kitescope reads, in Milvus's spelling. A
// MixCoord reports them only if each is requested by name.
func CoordinatorKeys() []string {
	return []string{
		"dataCoord.channel.watchTimeoutInterval", "dataCoord.compaction.enableAutoCompaction",
		"dataCoord.enableCompaction", "dataCoord.enableGarbageCollection", "dataCoord.gc.dropTolerance",
		"dataCoord.gc.interval", "dataCoord.index.storePathVersion", "dataCoord.segment.diskSegmentMaxSize",
		"dataCoord.segment.expansionRate", "dataCoord.segment.maxIdleTime", "dataCoord.segment.maxLife",
		"dataCoord.segment.maxSize", "dataCoord.segment.minSizeFromIdleToSealed",
		"dataCoord.segment.sealProportion", "dataCoord.targetScalarIndexVersion", "dataCoord.targetVecIndexVersion",
		"queryCoord.NextTargetSurviveTime", "queryCoord.autoBalance", "queryCoord.autoBalanceChannel",
		"queryCoord.autoHandoff", "queryCoord.balanceIntervalSeconds", "queryCoord.balancer",
		"queryCoord.checkInterval", "queryCoord.collectionBalanceSegmentBatchSize",
		"queryCoord.delegatorMemoryOverloadFactor", "queryCoord.distPullInterval",
		"queryCoord.globalRowCountFactor", "queryCoord.growingRowCountWeight", "queryCoord.loadTimeoutSeconds",
		"queryCoord.memoryUsageMaxDifferencePercentage", "queryCoord.reverseUnBalanceTolerationFactor",
		"queryCoord.scoreUnbalanceTolerationFactor",
	}
}

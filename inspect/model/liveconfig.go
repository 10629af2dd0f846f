package model

import (
	"maps"
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
// it, else among the dynamic keys in etcd, else for MixCoord in a proxy's configuration. ok is false if nothing tells.
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
	if copied, of := c.Runtime.CopiedConfig(key, roles...); copied != nil {
		if v, ok := copied.Get(folded); ok {
			return Setting{v, "configuration of " + of}, true
		}
	}
	return Setting{}, false
}

// CopiedConfig is a proxy's configuration where it stands for that of a MixCoord, which tells nothing of the key's component itself.
// The two have the same milvus.yaml, as a rule. of is the proxy; nil if there is none, or no need of it.
func (r *Runtime) CopiedConfig(key string, roles ...string) (copied *Config, of string) {
	component, _, _ := strings.Cut(key, ".")
	if r == nil || !slices.Contains(roles, "mixcoord") ||
		!slices.ContainsFunc(r.Nodes, func(n *LiveNode) bool { return n.Role == "mixcoord" && !n.Config.HasBelow(component) }) {
		return nil, ""
	}
	for _, p := range r.Processes {
		if p.Config.HasBelow(component) {
			return p.Config, p.ConfigOf
		}
	}
	return nil, ""
}

// Without is the configuration without some keys, folded ones; nil of nil.
func (c *Config) Without(keys map[string]bool) *Config {
	if c == nil {
		return nil
	}
	rest := &Config{Names: c.Names, Values: maps.Clone(c.Values)}
	maps.DeleteFunc(rest.Values, func(key, _ string) bool { return keys[key] })
	return rest
}

// DynamicEntries are the dynamic keys in etcd by folded key: of several spellings the one that decides, as DynamicEntry says.
func DynamicEntries(list []*ConfigEntry) map[string]*ConfigEntry {
	entries := make(map[string]*ConfigEntry, len(list))
	for _, e := range list {
		entries[FoldConfigKey(e.Name)] = e
	}
	return entries
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

// CoordinatorKeys are the keys of DataCoord and QueryCoord that something here reads, as Milvus writes them. A MixCoord tells them only
// where it is asked for each.
func CoordinatorKeys() []string {
	return []string{
		"dataCoord.channel.watchTimeoutInterval", "dataCoord.compaction.enableAutoCompaction", "dataCoord.enableCompaction",
		"dataCoord.enableGarbageCollection", "dataCoord.gc.dropTolerance", "dataCoord.gc.interval", "dataCoord.index.storePathVersion", "dataCoord.segment.diskSegmentMaxSize",
		"dataCoord.segment.expansionRate", "dataCoord.segment.maxIdleTime", "dataCoord.segment.maxLife", "dataCoord.segment.maxSize",
		"dataCoord.segment.minSizeFromIdleToSealed", "dataCoord.segment.sealProportion", "dataCoord.targetScalarIndexVersion", "dataCoord.targetVecIndexVersion",
		"queryCoord.NextTargetSurviveTime", "queryCoord.autoBalance", "queryCoord.autoBalanceChannel", "queryCoord.autoHandoff",
		"queryCoord.balanceIntervalSeconds", "queryCoord.balancer", "queryCoord.checkInterval", "queryCoord.collectionBalanceSegmentBatchSize",
		"queryCoord.delegatorMemoryOverloadFactor", "queryCoord.distPullInterval", "queryCoord.globalRowCountFactor",
		"queryCoord.growingRowCountWeight", "queryCoord.loadTimeoutSeconds", "queryCoord.memoryUsageMaxDifferencePercentage",
		"queryCoord.reverseUnBalanceTolerationFactor", "queryCoord.scoreUnbalanceTolerationFactor",
	}
}

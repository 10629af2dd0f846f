package live

import (
	"fmt"
	"slices"
	"strings"

	"github.com/milvus-io/milvus/pkg/v3/proto/internalpb"

	"kitescope/inspect/model"
	"kitescope/internal/redact"
)

// maxConfigKeys bounds the keys of a configuration. Milvus has about nine hundred, and each key occurs twice.
const maxConfigKeys = 10_000

// takeConfig stores the effective configuration of a process.
func (d *Decoder) takeConfig(q *pendingRecord, m *internalpb.ShowConfigurationsResponse) error {
	if !q.newer("config") {
		return nil
	}
	pairs := m.GetConfiguations()
	if len(pairs) > maxConfigKeys {
		q.set(model.TooLarge, fmt.Sprintf("%d keys: too many for a configuration", len(pairs)))
		return nil
	}
	keys := newConfigKeys(len(pairs))
	for _, p := range pairs {
		keys.add(p.GetKey())
	}
	c := &model.Config{Values: map[string]string{}, Names: map[string]string{}}
	foreign, exact := 0, map[string]bool{}
	for _, p := range pairs {
		key := p.GetKey()
		if !keys.known(key) {
			foreign++
			continue
		}
		folded := d.text(model.FoldConfigKey(key))
		// Milvus looks up the folded key, so its value takes precedence.
		if key == folded || !exact[folded] {
			c.Values[folded] = d.text(redact.Setting(key, p.GetValue()))
			exact[folded] = key == folded
		}
		if name := c.Names[folded]; key != folded && (name == "" || key < name) {
			c.Names[folded] = d.text(key)
		}
	}
	q.node.Config = c
	d.foreign[sessionKey{q.node.Role, q.node.Node}] = foreign
	return nil
}

// foreignNote returns a note on the number of reported keys that were not Milvus's.
func (d *Decoder) foreignNote() []model.Skipped {
	keys, sessions := 0, 0
	for _, n := range d.foreign {
		if n > 0 {
			keys, sessions = keys+n, sessions+1
		}
	}
	if keys == 0 {
		return nil
	}
	return []model.Skipped{{
		What:   "foreign configuration keys",
		Reason: fmt.Sprintf("%d keys that %d processes echo from their environment are not Milvus's", keys, sessions),
	}}
}

// configKeys separates Milvus's keys from those of the environment. A process responds to ShowConfigurations
// with every key that begins with "etcd", "log", "common", ... or with its own role and a dot
// (pkg/util/paramtable: globalConfigPrefixs, GetComponentConfigurations). Its sources include every environment
// variable, folded (pkg/config/env_source.go): ETCDCTL_API becomes "etcdctlapi", LOGNAME "logname".
type configKeys struct {
	// folded holds the folded forms of the dotted keys in the same response.
	folded map[string]bool
}

func newConfigKeys(n int) configKeys { return configKeys{folded: make(map[string]bool, n)} }

func (k configKeys) add(key string) {
	if dottedKey(key) {
		k.folded[model.FoldConfigKey(key)] = true
	}
}

// known reports whether a key is Milvus's. Dotted keys come from milvus.yaml and etcd, so their section
// decides. A folded key may be an environment variable. It is Milvus's if the response has its dotted form as
// well, if Milvus itself sets it at run time, or if only Milvus uses the word of its section.
func (k configKeys) known(key string) bool {
	if dottedKey(key) {
		return true
	}
	if key != model.FoldConfigKey(key) || !plainKey(key) {
		return false
	}
	if k.folded[key] || slices.Contains(runtimeKeys(), key) {
		return true
	}
	for _, section := range uniqueSections() {
		if rest, ok := strings.CutPrefix(key, section); ok && rest != "" && !serviceLink(rest) {
			return true
		}
	}
	return false
}

// dottedKey reports whether a key is a section of Milvus's, a dot and a name.
func dottedKey(key string) bool {
	section, rest, dotted := strings.Cut(strings.ToLower(key), ".")
	if !dotted || !slices.Contains(sections(), section) {
		return false
	}
	for part := range strings.SplitSeq(rest, ".") {
		if !plainKey(part) {
			return false
		}
	}
	return true
}

// plainKey reports whether part of a key holds only the characters of Milvus's keys.
func plainKey(part string) bool {
	for _, c := range part {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '_', c == '-':
		default:
			return false
		}
	}
	return part != ""
}

// serviceLink reports whether a key is an environment variable that Kubernetes sets for a service of the
// section's name, e.g. QUERYNODE_SERVICE_HOST or QUERYNODE_PORT_21123_TCP_ADDR.
func serviceLink(rest string) bool {
	if strings.HasPrefix(rest, "servicehost") || strings.HasPrefix(rest, "serviceport") {
		return true
	}
	port, ok := strings.CutPrefix(rest, "port")
	digits := strings.TrimLeft(port, "0123456789")
	return ok && len(digits) < len(port) && (strings.HasPrefix(digits, "tcp") || strings.HasPrefix(digits, "udp"))
}

// sections returns the top-level names of Milvus's keys in lower case: those of configs/milvus.yaml in 2.1.0,
// 2.2.16, 2.3.5 and 2.4, and those that pkg/util/paramtable of 2.6 reads (component_param.go, service_param.go,
// grpc_param.go, quota_param.go and the others).
func sections() []string {
	return []string{
		"autoindex", "builtinroles", "cipherplugin", "common", "credential", "datacoord", "datanode", "etcd",
		"function", "gpu", "grpc", "holmes", "indexcoord", "indexnode", "internaltls", "kafka", "knowhere",
		"localstorage", "log", "metastore", "minio", "mixcoord", "mq", "msgchannel", "natsmq", "profile", "proxy",
		"pulsar", "querycoord", "querynode", "quotaandlimits", "rocksmq", "rootcoord", "scalarautoindex",
		"streaming", "streamingnode", "tikv", "tls", "trace", "woodpecker",
	}
}

// uniqueSections returns the sections whose names identify an environment variable as one of Milvus, because
// variables of other programs are unlikely to begin with them. It omits "common", "log", "proxy", "trace" and the
// names of other software.
func uniqueSections() []string {
	return []string{
		"datacoord", "datanode", "indexcoord", "indexnode", "mixcoord", "querycoord", "querynode", "quotaandlimits",
		"rocksmq", "rootcoord", "streamingnode",
	}
}

// runtimeKeys returns the folded keys that Milvus sets at run time and that no file has.
func runtimeKeys() []string { return []string{configMetricsPort} }

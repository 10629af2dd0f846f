package live

import (
	"slices"
	"strings"

	"kitescope/inspect/model"
	"kitescope/internal/redact"
)

// If the coordinators are one process (2.6), its ShowConfigurations returns only RootCoord's keys. There are
// two ways to get the others. MixCoord returns single keys by name, in later 2.6 and in 3.0
// (internal/coordinator/restful_mgr_routes.go: HandleGetConfig). A proxy returns the whole configuration of its
// own process; up to 2.6 it is the one from the start of the proxy (internal/proxy/impl.go: RegisterRestRouter
// passes a map to getConfigs).
const (
	configsPath   = "/api/v1/_cluster/configs"
	methodConfigs = "GET " + configsPath
	configGetPath = "/management/config/get"
)

// configGetURI returns the URI that requests every key that kitescope uses by name.
func configGetURI() string {
	return configGetPath + "?keys=" + strings.Join(model.CoordinatorKeys(), ",")
}

// configsProxy returns the proxy to query for its whole configuration, or nil if all coordinators report theirs.
func (p *plan) configsProxy() *session {
	for _, list := range p.sessionsOf {
		if slices.ContainsFunc(list, func(x *session) bool { return x.Role == "mixcoord" }) {
			return p.firstProxy(2, 6)
		}
	}
	return nil
}

// keysMixCoord returns the active MixCoord (2.6 or later) in the process of a session, or nil if there is none.
func (p *plan) keysMixCoord(s *session) *session {
	return p.inProcess(s, func(x *session) bool {
		return x.Role == "mixcoord" && !x.Standby && model.VersionAtLeast(x.Version, 2, 6)
	})
}

// keyResponse is the response to a configGetURI.
type keyResponse struct {
	Configs []*keyValue `json:"configs"`
}

type keyValue struct {
	Key    string `json:"key"`
	Value  string `json:"value,omitempty"`
	Source string `json:"source,omitempty"`
	Error  string `json:"error,omitempty"`
}

// clean keeps only the requested keys, without secrets. It reports whether the response had a list.
func (a *keyResponse) clean() bool {
	asked := model.CoordinatorKeys()
	kept := []*keyValue{}
	for _, k := range a.Configs {
		if k != nil && slices.Contains(asked, k.Key) &&
			!slices.ContainsFunc(kept, func(had *keyValue) bool { return had.Key == k.Key }) {
			kept = append(kept, &keyValue{
				Key: k.Key, Value: redact.Setting(k.Key, k.Value), Source: oneLine(k.Source), Error: oneLine(k.Error),
			})
		}
	}
	listed := a.Configs != nil
	a.Configs = kept
	return listed
}

// takeKeys stores single keys of a MixCoord until all of its responses are decoded.
func takeKeys(d *Decoder, _ *processRecords, q *pendingRecord, response *keyResponse) {
	d.keyed[q.key()] = response.Configs
}

// addKeys adds the single keys to the configuration that the session reported.
func (n *liveNode) addKeys(d *Decoder) {
	told, ok := d.keyed[sessionKey{n.Role, n.Node}]
	if !ok || n.Outcome != model.Answered {
		return
	}
	if n.Config == nil {
		n.Config = &model.Config{Values: map[string]string{}, Names: map[string]string{}}
	}
	for _, k := range told {
		folded := d.text(model.FoldConfigKey(k.Key))
		if _, had := n.Config.Values[folded]; k.Error == "" && !had {
			n.Config.Values[folded], n.Config.Names[folded] = d.text(k.Value), d.text(strings.ToLower(k.Key))
		}
	}
}

// readConfigs decodes the whole configuration of a proxy: Milvus's own keys, without secrets.
func readConfigs(body []byte) (map[string]string, *failure) {
	const what = "a configuration"
	var all map[string]string
	if f := readJSON(body, what, '{', &all); f != nil {
		return nil, f
	}
	if len(all) > maxConfigKeys {
		return nil, newFailure(model.TooLarge, "%d keys: too many for a configuration", len(all))
	}
	known := newConfigKeys(len(all))
	for key := range all {
		known.add(key)
	}
	kept := make(map[string]string, len(all))
	for key, value := range all {
		// A key that was deleted at run time has this value (pkg/config/manager.go: TombValue).
		if value = withoutSource(value); known.known(key) && value != "TOMB_VAULE" {
			kept[key] = redact.Setting(key, value)
		}
	}
	if len(kept) == 0 {
		return nil, newFailure(model.Garbled, "the answer is not %s: it has no keys of Milvus", what)
	}
	return kept, nil
}

// withoutSource removes the source that later releases append to a value, e.g. 1024[FileSource]
// (pkg/config/manager.go: GetConfigsView).
func withoutSource(value string) string {
	at := strings.LastIndexByte(value, '[')
	if at < 0 ||
		!slices.Contains([]string{"[FileSource]", "[EnvironmentSource]", "[EtcdSource]", "[RuntimeSource]"},
			value[at:]) {
		return value
	}
	return value[:at]
}

// takeConfigs stores the whole configuration of a proxy.
func takeConfigs(d *Decoder, p *processRecords, q *pendingRecord, all map[string]string) {
	weight := int64(0)
	for key, value := range all {
		weight += 2 * int64(2*costMessage+len(key)+len(value))
	}
	if !d.reserve(q, weight) {
		return
	}
	c := &model.Config{Values: map[string]string{}, Names: map[string]string{}}
	for key, value := range all {
		folded := d.text(model.FoldConfigKey(key))
		if _, had := all[folded]; key == folded || !had { // Milvus looks up the folded key
			c.Values[folded] = d.text(value)
		}
		if name := c.Names[folded]; key != folded && (name == "" || key < name) {
			c.Names[folded] = d.text(key)
		}
	}
	p.Config, p.ConfigOf = c, d.text(q.key().String())
}

// pageName returns the name of a page in lists of calls: without the keys in its query.
func pageName(method string) string {
	path, _, _ := strings.Cut(method, "?")
	if path == "GET "+configGetPath {
		return path
	}
	return method
}

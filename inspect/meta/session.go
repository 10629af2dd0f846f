package meta

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"kitescope/inspect/model"
)

// sessionRecord is the JSON of a session: sessionutil.SessionRaw of Milvus, all versions.
type sessionRecord struct {
	ServerID                 int64
	ServerName               string
	Address                  string
	Exclusive                bool
	Stopping                 bool
	Version                  string
	LeaseID                  int64
	HostName                 string
	IndexEngineVersion       engineVersion
	ScalarIndexEngineVersion engineVersion
	ServerLabels             map[string]string
}

type engineVersion struct {
	MinimalIndexVersion, CurrentIndexVersion int32
}

func (v engineVersion) model() model.EngineRange {
	return model.EngineRange{Minimal: v.MinimalIndexVersion, Current: v.CurrentIndexVersion}
}

// sessions assembles the sessions. An active coordinator with standby support is registered twice, as {role} and
// as {role}-{id}. It is listed once.
func (s *state) sessions() []*model.Session {
	active := make(map[string]int64)
	s.each(kindSession, func(f *fact) {
		if r := f.value.(*sessionRecord); f.names[0] == r.role(f.names[0]) {
			active[f.names[0]] = r.ServerID
		}
	})
	var list []*model.Session
	s.each(kindSession, func(f *fact) {
		r := f.value.(*sessionRecord)
		role := r.role(f.names[0])
		standby := false
		if f.names[0] != role && strings.HasSuffix(role, "coord") {
			if node, ok := active[role]; ok && node == r.ServerID {
				return
			}
			standby = true
		}
		x := &model.Session{
			Node: model.NodeID(r.ServerID), Role: truncateName(role), Address: truncateName(r.Address),
			Version: truncateName(r.Version), HostName: truncateName(r.HostName),
			Exclusive: r.Exclusive, Stopping: r.Stopping, Standby: standby, Lease: r.LeaseID,
			IndexEngine: r.IndexEngineVersion.model(), ScalarIndexEngine: r.ScalarIndexEngineVersion.model(),
			Key: f.key, Revision: f.mod,
		}
		if x.Lease == 0 {
			x.Lease = f.lease
		}
		for _, name := range slices.Sorted(maps.Keys(r.ServerLabels)) {
			x.Labels = append(x.Labels, model.Pair{Key: name, Value: r.ServerLabels[name]})
		}
		list = append(list, x)
	})
	return list
}

// role returns the role in a session's key, without the node id at the end of most keys.
func (r *sessionRecord) role(key string) string {
	i := strings.LastIndexByte(key, '-')
	if i < 0 {
		return key
	}
	if _, err := strconv.ParseInt(key[i+1:], 10, 64); err != nil {
		return key
	}
	return key[:i]
}

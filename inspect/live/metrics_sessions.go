package live

import (
	"strconv"
	"strings"

	"kitescope/inspect/model"
)

// maxRoles bounds the sessions of a process: a standalone has eight.
const maxRoles = 64

// ownSessions returns the sessions of the process that a scrape is from. Since 2.2 each role reports
// milvus_num_node{role_name, node_id} (pkg/metrics: NumNodes). Before 2.2, only roles whose metrics all have
// their own id, and no other, can be identified.
func ownSessions(m *model.Metrics) map[sessionKey]bool {
	found := map[sessionKey]bool{}
	for _, s := range m.Samples("milvus_num_node") {
		if id, err := strconv.ParseInt(s.Label("node_id"), 10, 64); err == nil && s.Value > 0 &&
			s.Label("role_name") != "" {
			found[sessionKey{s.Label("role_name"), model.NodeID(id)}] = true
		}
	}
	if len(found) > maxRoles {
		return nil // these belong to other processes
	}
	if len(found) > 0 {
		return found
	}
	for _, role := range []string{"querynode", "datanode", "indexnode", "proxy", "streamingnode"} {
		ids := map[string]bool{}
		for name, f := range m.Families {
			if !strings.HasPrefix(name, "milvus_"+role+"_") {
				continue
			}
			for _, s := range f.Series {
				if id := s.Label("node_id"); id != "" {
					ids[id] = true
				}
			}
		}
		for text := range ids {
			if id, err := strconv.ParseInt(text, 10, 64); err == nil && len(ids) == 1 {
				found[sessionKey{role, model.NodeID(id)}] = true
			}
		}
	}
	return found
}

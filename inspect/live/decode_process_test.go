package live_test

import (
	"testing"

	"github.com/milvus-io/milvus-proto/go-api/v3/milvuspb"

	"kitescope/inspect/live"
)

// TestProcessOfSeveralSessions checks that the result does not depend on the session for which a process was
// queried over HTTP, which is chance.
func TestProcessOfSeveralSessions(t *testing.T) {
	state := func(session, service string) live.Record {
		r := answered(t, session, "/milvus.proto."+service+"/GetComponentStates", &milvuspb.GetComponentStatesRequest{},
			&milvuspb.ComponentStates{
				State: &milvuspb.ComponentInfo{NodeID: 11},
			})
		r.Address = "10.0.0.11:13333"
		return r
	}
	sessions := []live.Record{state("datacoord-11", "data.DataCoord"), state("indexcoord-11", "index.IndexCoord")}
	for _, asked := range sessions {
		web := live.Record{
			Role: asked.Role, Node: 11, Address: "10.0.0.11:9091", Method: "GET /healthz", Response: []byte("OK"),
			Outcome: "answered",
		}
		r := decode(append(sessions[:2:2], web)...)
		if len(r.Processes) != 1 || len(r.Processes[0].Nodes) != 2 {
			t.Fatalf("%s was asked: %+v", asked.Role, r.Processes)
		}
		for _, call := range r.Processes[0].Calls {
			if call.Role != "datacoord" || call.Node != 11 {
				t.Errorf("%s was asked: %s is %s-%s's", asked.Role, call.Method, call.Role, call.Node)
			}
		}
	}
}

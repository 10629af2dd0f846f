package faulttest

import (
	"errors"
	"fmt"
	"net"
	"regexp"
	"strconv"
	"strings"

	"github.com/milvus-io/milvus-proto/go-api/v3/milvuspb"
	"github.com/milvus-io/milvus/pkg/v3/proto/internalpb"
	"github.com/milvus-io/milvus/pkg/v3/proto/querypb"
	"google.golang.org/protobuf/proto"

	"kitescope/inspect/live"
)

// leaderIs sets a shard's leader in QueryCoord's responses to GetShardLeaders and GetReplicas.
func (w *World) leaderIs(channel string, node int64) error {
	address := ""
	for _, s := range w.base.Cluster.Sessions {
		if s.Role == "querynode" && int64(s.Node) == node {
			address = s.Address
		}
	}
	list, err := w.recordsOf("querycoord")
	if err != nil {
		return err
	}
	for _, r := range list {
		name := methodOf(r)
		if name != "GetShardLeaders" && name != "GetReplicas" || r.Error != "" {
			continue
		}
		m, err := response(r)
		if err != nil {
			return err
		}
		switch x := m.(type) {
		case *querypb.GetShardLeadersResponse:
			for _, s := range x.GetShards() {
				if s.GetChannelName() == channel {
					s.NodeIds, s.NodeAddrs = []int64{node}, []string{address}
				}
			}
		case *milvuspb.GetReplicasResponse:
			for _, replica := range x.GetReplicas() {
				for _, s := range replica.GetShardReplicas() {
					if s.GetDmChannelName() == channel {
						s.LeaderID, s.LeaderAddr = node, address
					}
				}
			}
		}
		if r.Response, err = proto.Marshal(m); err != nil {
			return err
		}
	}
	return nil
}

// join implements "join NODE like NODE [TIME]": a process that registered and has no work yet. A query node
// was added to the resource groups and replicas. TIME is its start.
func (w *World) join(args []word) error {
	role, number, ok := cutLast(args[0].text)
	id, err := strconv.ParseInt(number, 10, 64)
	like := args[2].text
	likeRole, likeID, _ := cutLast(like)
	if !ok || err != nil || role != likeRole {
		return fmt.Errorf("%s: join wants the name of a session of the same role as %s", args[0].text, like)
	}
	address, err := w.register(like, args[0].text, id)
	if err != nil {
		return err
	}
	if role == "querynode" {
		if err := w.addToGroups(id); err != nil {
			return err
		}
	}
	if w.noRuntime {
		return nil
	}
	list, err := w.recordsOf(like)
	if err != nil {
		return err
	}
	var fresh []live.Record
	for _, r := range list {
		x, err := forNewNode(*r, id, likeID, address)
		if err != nil {
			return err
		}
		fresh = append(fresh, x)
	}
	w.records = append(w.records, fresh...)
	if len(args) > 3 {
		return w.startedAt(args[0].text, args[3].text)
	}
	return nil
}

// addToGroups adds a query node to all resource groups and replicas, in etcd and in QueryCoord's responses.
func (w *World) addToGroups(id int64) error {
	for _, prefix := range []string{"querycoord-replica/", "queryCoord-ResourceGroup/"} {
		if err := w.edit(w.store.below(prefix), []word{{text: fmt.Sprintf("nodes+=%d", id)}}); err != nil {
			return err
		}
	}
	if w.noRuntime {
		return nil
	}
	return w.addToResponses(id)
}

func cutLast(name string) (role, number string, ok bool) {
	i := strings.LastIndexByte(name, '-')
	if i < 0 {
		return name, "", false
	}
	return name[:i], name[i+1:], true
}

// register adds a session key and returns the address of the new process.
func (w *World) register(like, name string, id int64) (address string, err error) {
	i := -1
	for n, s := range w.base.Cluster.Sessions {
		if s.Name() == like {
			i = n
		}
	}
	if i < 0 {
		return "", fmt.Errorf("no session %s", like)
	}
	host, _, err := net.SplitHostPort(w.base.Cluster.Sessions[i].Address)
	if err != nil {
		return "", err
	}
	address = net.JoinHostPort(host, strconv.FormatInt(21000+id*10, 10))
	return address, w.copyKeys([]word{
		{text: "session/" + like},
		{text: "session/" + name},
		{text: fmt.Sprintf("ServerID=%d", id)},
		{text: `Address="` + address + `"`},
		{text: fmt.Sprintf("LeaseID=%d", id)},
	})
}

// addToResponses adds a node to the replicas in QueryCoord's responses.
func (w *World) addToResponses(id int64) error {
	list, err := w.recordsOf("querycoord")
	if err != nil {
		return err
	}
	for _, r := range list {
		if name := methodOf(r); name != "GetReplicas" || r.Error != "" {
			continue
		}
		m, err := response(r)
		if err != nil {
			return err
		}
		for _, replica := range m.(*milvuspb.GetReplicasResponse).GetReplicas() {
			replica.NodeIds = append(replica.GetNodeIds(), id)
		}
		if r.Response, err = proto.Marshal(m); err != nil {
			return err
		}
	}
	return nil
}

// forNewNode returns another node's record changed to that of a new node, which serves nothing.
func forNewNode(r live.Record, id int64, like, address string) (live.Record, error) {
	old := r.Address
	r.Node, r.Address = modelNode(id), address
	if strings.HasPrefix(r.Method, "GET ") {
		r.Address = "" // as for a scrape from a file: its labels identify the node
		r.Response = newNodeMetrics(r.Response, like, id)
		return r, nil
	}
	if r.Error != "" {
		return r, nil
	}
	err := rewriteOptional(&r, func(m proto.Message) error {
		switch x := m.(type) {
		case *querypb.GetDataDistributionResponse:
			x.NodeID, x.Segments, x.Channels, x.LeaderViews = id, nil, nil, nil
		case *milvuspb.GetMetricsResponse:
			x.ComponentName = r.Role + strconv.FormatInt(id, 10)
			x.Response = strings.ReplaceAll(x.GetResponse(), old, address)
			x.Response = strings.Replace(x.GetResponse(), `"id":`+like, `"id":`+strconv.FormatInt(id, 10), 1)
			x.Response = strings.Replace(x.GetResponse(), `"name":"`+r.Role+like,
				`"name":"`+r.Role+strconv.FormatInt(id, 10), 1)
		case *internalpb.ShowConfigurationsResponse:
			return setConfig(x.ProtoReflect(), "commonmetricsport", strconv.FormatInt(21001+id*10, 10))
		case *milvuspb.ComponentStates:
			if x.GetState() == nil {
				return errors.New("no state to copy")
			}
			x.State.NodeID = id
		}
		return nil
	})
	return r, err
}

// rewriteOptional is like rewrite but allows edits that change nothing.
func rewriteOptional(r *live.Record, edit func(proto.Message) error) error {
	if _, ok := methods()[methodOf(r)]; !ok {
		return nil
	}
	if err := rewrite(r, edit); err != nil && !errors.Is(err, errNoChange) {
		return err
	}
	return nil
}

// servedMetrics matches the samples about the work of a query or data node.
var servedMetrics = regexp.MustCompile(`(?m)^milvus_(query|data)node_.*\n`)

// newNodeMetrics returns a node's metrics without its work, under another node id.
func newNodeMetrics(text []byte, like string, id int64) []byte {
	text = servedMetrics.ReplaceAll(text, nil)
	return []byte(strings.ReplaceAll(string(text), `node_id="`+like+`"`, fmt.Sprintf(`node_id="%d"`, id)))
}

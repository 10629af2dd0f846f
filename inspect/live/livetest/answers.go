package livetest

import (
	"encoding/json"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/milvus-io/milvus-proto/go-api/v3/commonpb"
	"github.com/milvus-io/milvus-proto/go-api/v3/milvuspb"
	"github.com/milvus-io/milvus-proto/go-api/v3/msgpb"
	"github.com/milvus-io/milvus-proto/go-api/v3/rgpb"
	"github.com/milvus-io/milvus/pkg/v3/proto/datapb"
	"github.com/milvus-io/milvus/pkg/v3/proto/internalpb"
	"github.com/milvus-io/milvus/pkg/v3/proto/querypb"
	"google.golang.org/protobuf/proto"

	"kitescope/inspect/live"
	"kitescope/inspect/model"
)

// Options hold the data that the metadata does not contain.
type Options struct {
	// MetricsPort is the port that every process reports; 0 means 9091.
	MetricsPort int
	// Metrics is the text of /metrics of query nodes, in which NODE is replaced by the ServerID; "" means a
	// short one.
	Metrics string
	// Config has additional keys of every configuration, e.g. "kafka.brokerList".
	Config map[string]string
	// GrowingRows is the number of rows of each growing segment in DataCoord's memory; 0 means 321.
	GrowingRows int64
	// Tasks holds responses about tasks by type of GetMetrics; nil means that processes do not support these
	// types.
	Tasks map[string]string
}

// Names of services.
const (
	rootCoord  = "/milvus.proto.rootcoord.RootCoord/"
	dataCoord  = "/milvus.proto.data.DataCoord/"
	queryCoord = "/milvus.proto.query.QueryCoord/"
	queryNode  = "/milvus.proto.query.QueryNode/"
)

// responseBuilder builds the responses of a cluster.
type responseBuilder struct {
	c    *model.Cluster
	opts Options
	// nodes serve sealed segments, leaders growing ones.
	nodes, leaders []*model.Session
	loaded         map[model.CollectionID]bool
	list           []live.Record
}

// Responses returns the responses of the processes of a healthy cluster: loaded segments are spread evenly, and
// growing ones are on the leaders of their shards.
func Responses(c *model.Cluster, opts Options) []live.Record {
	a := &responseBuilder{c: c, opts: opts, loaded: map[model.CollectionID]bool{}}
	for _, l := range c.LoadStates {
		a.loaded[l.Collection] = true
	}
	if a.opts.MetricsPort == 0 {
		a.opts.MetricsPort = 9091
	}
	if a.opts.GrowingRows == 0 {
		a.opts.GrowingRows = 321
	}
	for _, s := range c.Sessions {
		if s.Role != "querynode" || s.Stopping {
			continue
		}
		embedded := slices.ContainsFunc(s.Labels, func(p model.Pair) bool {
			return p.Key == "QUERYNODE_STREAMING-EMBEDDED"
		})
		if embedded {
			a.leaders = append(a.leaders, s)
		} else {
			a.nodes = append(a.nodes, s)
		}
	}
	if len(a.leaders) == 0 {
		a.leaders = a.nodes
	}
	if len(a.nodes) == 0 {
		a.nodes = a.leaders
	}
	for _, s := range c.Sessions {
		a.session(s)
		a.tasks(s)
	}
	return a.list
}

const shortMetrics = `# HELP process_cpu_seconds_total Total user and system CPU time spent in seconds.
# TYPE process_cpu_seconds_total counter
process_cpu_seconds_total 12.5
# TYPE process_resident_memory_bytes gauge
process_resident_memory_bytes 1.048576e+09
# TYPE process_start_time_seconds gauge
process_start_time_seconds 1.7951612e+09
# TYPE milvus_num_node gauge
`

func (a *responseBuilder) session(s *model.Session) {
	is26 := model26(s.Version)
	switch s.Role {
	case "mixcoord":
		a.common(s, rootCoord)
		a.metrics(s, queryCoord+"GetMetrics")
		a.metrics(s, dataCoord+"GetMetrics")
		if !s.Standby {
			a.dataCoord(s)
			a.queryCoord(s, is26)
		}
	case "rootcoord":
		a.common(s, rootCoord)
	case "datacoord":
		a.common(s, dataCoord)
		a.dataCoord(s)
	case "querycoord":
		a.common(s, queryCoord)
		a.queryCoord(s, is26)
	case "indexcoord":
		a.common(s, "/milvus.proto.index.IndexCoord/")
	case "indexnode":
		a.common(s, "/milvus.proto.index.IndexNode/")
	case "datanode":
		a.common(s, "/milvus.proto.data.DataNode/")
	case "streamingnode":
		a.state(s, "/milvus.proto.streaming.StreamingNodeStateService/")
	case "proxy":
		a.state(s, "/milvus.proto.proxy.Proxy/")
		a.metrics(s, "/milvus.proto.proxy.Proxy/GetProxyMetrics")
	case "querynode":
		a.common(s, queryNode)
		a.put(s, queryNode+"GetDataDistribution", &querypb.GetDataDistributionRequest{Base: base(s)},
			a.distribution(s, is26))
	}
}

func base(s *model.Session) *commonpb.MsgBase { return &commonpb.MsgBase{TargetID: int64(s.Node)} }

func ok() *commonpb.Status { return &commonpb.Status{} }

func marshal(m proto.Message) []byte {
	b, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	if err != nil {
		panic(err)
	}
	return b
}

func (a *responseBuilder) put(s *model.Session, method string, request, response proto.Message) {
	a.list = append(a.list, live.Record{
		Role: s.Role, Node: s.Node, Address: s.Address, Method: method, Request: marshal(request),
		Response: marshal(response),
	})
}

func (a *responseBuilder) state(s *model.Session, service string) {
	code := commonpb.StateCode_Healthy
	switch {
	case s.Standby:
		code = commonpb.StateCode_StandBy
	case s.Stopping:
		code = commonpb.StateCode_Stopping
	}
	a.put(s, service+"GetComponentStates", &milvuspb.GetComponentStatesRequest{}, &milvuspb.ComponentStates{
		State: &milvuspb.ComponentInfo{NodeID: int64(s.Node), Role: s.Role, StateCode: code}, Status: ok(),
	})
}

func (a *responseBuilder) common(s *model.Session, service string) {
	a.state(s, service)
	config := &internalpb.ShowConfigurationsResponse{Status: ok()}
	add := func(key, value string) {
		config.Configuations = append(config.Configuations, &commonpb.KeyValuePair{Key: key, Value: value})
	}
	add("commonmetricsport", strconv.Itoa(a.opts.MetricsPort))
	add("minio.secretAccessKey", Secret)
	add("miniosecretaccesskey", Secret)
	add("queryCoord.autoBalance", "true")
	add("homedirectory", "/home/"+Secret) // of the environment
	for key, value := range a.opts.Config {
		add(key, value)
	}
	a.put(s, service+"ShowConfigurations", &internalpb.ShowConfigurationsRequest{Base: base(s)}, config)
	a.metrics(s, service+"GetMetrics")
	a.web(s)
}

// web adds the pages of the process's HTTP server, once per process.
func (a *responseBuilder) web(s *model.Session) {
	host, _, err := net.SplitHostPort(s.Address)
	if err != nil {
		return
	}
	address := net.JoinHostPort(host, strconv.Itoa(a.opts.MetricsPort))
	if slices.ContainsFunc(a.list, func(r live.Record) bool { return r.Address == address }) {
		return
	}
	var text strings.Builder
	if a.opts.Metrics != "" && s.Role == "querynode" {
		text.WriteString(strings.ReplaceAll(a.opts.Metrics, "NODE", s.Node.String()))
	} else {
		text.WriteString(shortMetrics)
	}
	for _, x := range a.c.Sessions {
		if x.Node == s.Node { // the roles of the process
			fmt.Fprintf(&text, "milvus_num_node{node_id=%q,role_name=%q} 1\n", x.Node.String(), x.Role)
		}
	}
	a.list = append(a.list,
		live.Record{
			Role: s.Role, Node: s.Node, Address: address, Method: "GET /metrics", Response: []byte(text.String()),
		},
		live.Record{Role: s.Role, Node: s.Node, Address: address, Method: "GET /healthz", Response: []byte("OK")})
}

func (a *responseBuilder) metrics(s *model.Session, method string) {
	info := map[string]any{
		"has_error": false, "name": s.Name(), "type": s.Role, "id": int64(s.Node),
		"created_time": Now.Format("2006-01-02 15:04:05 -0700 MST"),
		"hardware_infos": map[string]any{
			"ip": s.Address, "cpu_core_count": 8, "cpu_core_usage": 12.5, "memory": 32 << 30, "memory_usage": 4 << 30,
		},
		"system_info": map[string]any{"build_version": s.Version, "deploy_mode": "DISTRIBUTED"},
	}
	text, err := json.Marshal(info)
	if err != nil {
		panic(err)
	}
	a.put(s, method, &milvuspb.GetMetricsRequest{Base: base(s), Request: `{"metric_type":"system_info"}`},
		&milvuspb.GetMetricsResponse{Status: ok(), Response: string(text), ComponentName: s.Name()})
}

// dataCoord adds DataCoord's responses about collections and segments.
func (a *responseBuilder) dataCoord(s *model.Session) {
	for _, l := range a.c.LoadStates {
		r := &datapb.GetRecoveryInfoResponseV2{Status: ok()}
		for _, v := range a.c.VChannels {
			if v.Collection != l.Collection {
				continue
			}
			info := &datapb.VchannelInfo{
				CollectionID: int64(v.Collection), ChannelName: v.Name,
				SeekPosition: &msgpb.MsgPosition{
					ChannelName: v.PChannel, MsgID: v.Checkpoint.Message, Timestamp: uint64(v.Checkpoint.At),
				},
			}
			for _, x := range a.c.SegmentsOf(l.Collection) {
				switch {
				case x.VChannel != v.Name:
				case x.State == model.SegmentFlushed:
					r.Segments = append(r.Segments, &datapb.SegmentInfo{
						ID: int64(x.ID), CollectionID: int64(x.Collection), PartitionID: int64(x.Partition),
						InsertChannel: v.Name, NumOfRows: x.Rows,
					})
				case x.State == model.SegmentGrowing:
					info.UnflushedSegmentIds = append(info.UnflushedSegmentIds, int64(x.ID))
				}
			}
			r.Channels = append(r.Channels, info)
		}
		a.put(s, dataCoord+"GetRecoveryInfoV2",
			&datapb.GetRecoveryInfoRequestV2{Base: base(s), CollectionID: int64(l.Collection)}, r)
	}
	a.segmentInfo(s)
}

// segmentInfo adds responses in the batches in which kitescope requests segments.
func (a *responseBuilder) segmentInfo(s *model.Session) {
	const batch = 500
	var ids []int64
	for _, x := range a.c.Segments {
		if x.State == model.SegmentGrowing || x.State == model.SegmentSealed || x.State == model.SegmentFlushing {
			ids = append(ids, int64(x.ID))
		}
	}
	for part := range slices.Chunk(ids, batch) {
		r := &datapb.GetSegmentInfoResponse{Status: ok()}
		for _, id := range part {
			r.Infos = append(r.Infos, &datapb.SegmentInfo{
				ID: id, State: commonpb.SegmentState_Growing, NumOfRows: a.opts.GrowingRows,
			})
		}
		a.put(s, dataCoord+"GetSegmentInfo",
			&datapb.GetSegmentInfoRequest{Base: base(s), SegmentIDs: part, IncludeUnHealthy: true}, r)
	}
}

func (a *responseBuilder) queryCoord(s *model.Session, is26 bool) {
	show, shown := queryCoord+"ShowCollections", &querypb.ShowCollectionsResponse{Status: ok()}
	if is26 {
		show = queryCoord + "ShowLoadCollections"
	}
	for _, l := range a.c.LoadStates {
		shown.CollectionIDs = append(shown.CollectionIDs, int64(l.Collection))
		shown.InMemoryPercentages = append(shown.InMemoryPercentages, 100)
		shown.QueryServiceAvailable = append(shown.QueryServiceAvailable, true)
		shown.RefreshProgress = append(shown.RefreshProgress, 100)
	}
	a.put(s, show, &querypb.ShowCollectionsRequest{Base: base(s)}, shown)
	groups := &milvuspb.ListResourceGroupsResponse{Status: ok()}
	for _, g := range a.c.ResourceGroups {
		groups.ResourceGroups = append(groups.ResourceGroups, g.Name)
		info := &querypb.ResourceGroupInfo{
			Name: g.Name, Capacity: g.Capacity, NumAvailableNode: int32(len(g.Nodes)),
			Config: &rgpb.ResourceGroupConfig{},
		}
		a.put(s, queryCoord+"DescribeResourceGroup",
			&querypb.DescribeResourceGroupRequest{Base: base(s), ResourceGroup: g.Name},
			&querypb.DescribeResourceGroupResponse{Status: ok(), ResourceGroup: info})
	}
	a.put(s, queryCoord+"ListResourceGroups", &milvuspb.ListResourceGroupsRequest{Base: base(s)}, groups)
	if is26 {
		a.put(s, queryCoord+"CheckBalanceStatus", &querypb.CheckBalanceStatusRequest{Base: base(s)},
			&querypb.CheckBalanceStatusResponse{Status: ok(), IsActive: true})
		states := &querypb.ListQueryNodeResponse{Status: ok()}
		for _, x := range a.c.Sessions {
			if x.Role == "querynode" {
				states.NodeInfos = append(states.NodeInfos, &querypb.NodeInfo{
					ID: int64(x.Node), Address: x.Address, State: "Normal",
				})
			}
		}
		a.put(s, queryCoord+"ListQueryNode", &querypb.ListQueryNodeRequest{Base: base(s)}, states)
		a.put(s, queryCoord+"ListCheckers", &querypb.ListCheckersRequest{Base: base(s)}, &querypb.ListCheckersResponse{
			Status:       ok(),
			CheckerInfos: []*querypb.CheckerInfo{{Id: 1, Desc: "segment_checker", Activated: true, Found: true}},
		})
	}
	for _, l := range a.c.LoadStates {
		a.serving(s, l.Collection)
	}
}

// serving adds the responses about the nodes that serve a collection and the leaders of its shards.
func (a *responseBuilder) serving(s *model.Session, id model.CollectionID) {
	replicas := &milvuspb.GetReplicasResponse{Status: ok()}
	leaders := &querypb.GetShardLeadersResponse{Status: ok()}
	for _, r := range a.c.ReplicasOf(id) {
		info := &milvuspb.ReplicaInfo{
			ReplicaID: int64(r.ID), CollectionID: int64(id), ResourceGroupName: r.ResourceGroup,
		}
		for _, n := range r.Nodes {
			info.NodeIds = append(info.NodeIds, int64(n))
		}
		for i, v := range a.c.VChannels {
			if v.Collection != id {
				continue
			}
			leader := a.leaders[i%len(a.leaders)]
			info.ShardReplicas = append(info.ShardReplicas, &milvuspb.ShardReplica{
				LeaderID: int64(leader.Node), LeaderAddr: leader.Address, DmChannelName: v.Name,
				NodeIds: info.GetNodeIds(),
			})
			leaders.Shards = append(leaders.Shards, &querypb.ShardLeadersList{
				ChannelName: v.Name, NodeIds: []int64{int64(leader.Node)}, NodeAddrs: []string{leader.Address},
				Serviceable: []bool{true},
			})
		}
		replicas.Replicas = append(replicas.Replicas, info)
	}
	a.put(s, queryCoord+"GetReplicas",
		&milvuspb.GetReplicasRequest{Base: base(s), CollectionID: int64(id), WithShardNodes: true}, replicas)
	a.put(s, queryCoord+"GetShardLeaders", &querypb.GetShardLeadersRequest{Base: base(s), CollectionID: int64(id)},
		leaders)
}

// WithoutSegments replaces DataCoord's responses about segments by the responses of a DataCoord that lost some
// segments. Such a DataCoord fails every request that names a lost segment, as Milvus does
// (internal/datacoord/services.go: GetSegmentInfo). The result also has responses for the halves, quarters
// and so on of each request.
func WithoutSegments(records []live.Record, gone ...model.SegmentID) []live.Record {
	var list []live.Record
	for _, r := range records {
		if r.Method != dataCoord+"GetSegmentInfo" {
			list = append(list, r)
			continue
		}
		request, response := new(datapb.GetSegmentInfoRequest), new(datapb.GetSegmentInfoResponse)
		if proto.Unmarshal(r.Request, request) != nil || proto.Unmarshal(r.Response, response) != nil {
			panic("not made by Answers")
		}
		list = append(list, parts(r, request, response, gone)...)
	}
	return list
}

func parts(
	r live.Record, request *datapb.GetSegmentInfoRequest, response *datapb.GetSegmentInfoResponse,
	gone []model.SegmentID,
) []live.Record {
	ids, infos := request.GetSegmentIDs(), response.GetInfos()
	answer := &datapb.GetSegmentInfoResponse{Status: ok(), Infos: infos}
	missing := slices.IndexFunc(gone, func(id model.SegmentID) bool { return slices.Contains(ids, int64(id)) })
	if missing >= 0 {
		const segmentNotFound = 600 // pkg/util/merr: ErrSegmentNotFound
		answer = &datapb.GetSegmentInfoResponse{Status: &commonpb.Status{
			ErrorCode: commonpb.ErrorCode_UnexpectedError, Code: segmentNotFound,
			Reason: "segment not found[segment=" + gone[missing].String() + "]",
		}}
	}
	this := r
	this.Request = marshal(&datapb.GetSegmentInfoRequest{
		Base: request.GetBase(), SegmentIDs: ids, IncludeUnHealthy: true,
	})
	this.Response = marshal(answer)
	list := []live.Record{this}
	if middle := len(ids) / 2; middle > 0 {
		for _, half := range [][2]int{{0, middle}, {middle, len(ids)}} {
			part := &datapb.GetSegmentInfoRequest{Base: request.GetBase(), SegmentIDs: ids[half[0]:half[1]]}
			list = append(list, parts(r, part, &datapb.GetSegmentInfoResponse{Infos: infos[half[0]:half[1]]}, gone)...)
		}
	}
	return list
}

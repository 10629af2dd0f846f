package live

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/milvus-io/milvus-proto/go-api/v3/milvuspb"
	"google.golang.org/protobuf/proto"

	"kitescope/inspect/model"
)

// The response to GetMetrics system_info is JSON (milvus pkg/util/metricsinfo: metrics_info.go,
// quota_metric.go, topology.go). Unknown fields and fields of an unexpected type are ignored.
type (
	topologyJSON struct {
		componentJSON
		Self    *componentJSON `json:"self"`
		Cluster *struct {
			Self       *componentJSON  `json:"self"`
			QueryNodes []componentJSON `json:"connected_nodes"`
			DataNodes  []componentJSON `json:"connected_data_nodes"`
			IndexNodes []componentJSON `json:"connected_index_nodes"`
		} `json:"cluster"`
	}
	componentJSON struct {
		HasError    bool   `json:"has_error"`
		ErrorReason string `json:"error_reason"`
		Name        string `json:"name"`
		Hardware    struct {
			Address     string  `json:"ip"`
			CPUs        float64 `json:"cpu_core_count"`
			CPUUsage    float64 `json:"cpu_core_usage"`
			Memory      float64 `json:"memory"`
			MemoryUsage float64 `json:"memory_usage"`
			Disk        float64 `json:"disk"`
			DiskUsage   float64 `json:"disk_usage"`
			// Counters of jemalloc, the allocator of the C++ code (2.6.22 and 3.0: HardwareMetrics). They are
			// valid only if JemallocSuccess is set.
			JemallocAllocated float64 `json:"jemalloc_allocated"`
			JemallocActive    float64 `json:"jemalloc_active"`
			JemallocMetadata  float64 `json:"jemalloc_metadata"`
			JemallocResident  float64 `json:"jemalloc_resident"`
			JemallocMapped    float64 `json:"jemalloc_mapped"`
			JemallocRetained  float64 `json:"jemalloc_retained"`
			JemallocSuccess   bool    `json:"jemalloc_success"`
		} `json:"hardware_infos"`
		System struct {
			DeployMode   string `json:"deploy_mode"`
			BuildVersion string `json:"build_version"`
			BuildTime    string `json:"build_time"`
			GoVersion    string `json:"used_go_version"`
		} `json:"system_info"`
		CreatedTime string     `json:"created_time"`
		Type        string     `json:"type"`
		ID          int64      `json:"id"`
		Quota       *quotaJSON `json:"quota_metrics"`
	}
	quotaJSON struct {
		Rates []struct {
			Label string
			Rate  float64
		} `json:"Rms"`
		FlowGraphs *struct {
			MinFlowGraphChannel string
			MinFlowGraphTt      uint64
			NumFlowGraph        int64
		} `json:"Fgm"`
		SearchQueue, QueryQueue *queueJSON
		GrowingSegmentsSize     int64
		Effect                  *struct{ CollectionIDs []int64 }
		// CollectionBinlogSize comes from DataCoord, by collection.
		CollectionBinlogSize map[string]json.RawMessage
	}
	queueJSON struct {
		UnsolvedQueue, ReadyQueue, ReceiveChan, ExecuteChan int64
		AvgQueueDuration                                    int64 // nanoseconds
	}
)

// reportedSystem holds the figures that one process reports about another.
type reportedSystem struct {
	node     sessionKey
	reporter sessionKey
	system   *model.System
	at       time.Time
}

// readMetricType sets the requested type of metrics if it is not the default, system_info.
func readMetricType(q *pendingRecord, m proto.Message) {
	var request struct {
		MetricType string `json:"metric_type"`
	}
	text := m.(*milvuspb.GetMetricsRequest).GetRequest()
	if json.Unmarshal([]byte(text), &request) == nil && request.MetricType != "system_info" {
		q.object = request.MetricType
	}
}

// takeSystem stores CPU, memory and rates of the process, and, if it is a coordinator, of the nodes that it
// manages.
func (d *Decoder) takeSystem(q *pendingRecord, m *milvuspb.GetMetricsResponse) error {
	text := m.GetResponse()
	if q.object != "" {
		return d.takeTasks(q, text)
	}
	q.weight += decodedJSONSize(text)
	if !d.afford(q) {
		return nil
	}
	var t topologyJSON
	err := json.Unmarshal([]byte(text), &t)
	if _, odd := errors.AsType[*json.UnmarshalTypeError](err); err != nil && !odd {
		return fmt.Errorf("the answer is not the JSON of system_info: %w", err)
	}
	own := &t.componentJSON
	switch {
	case t.Cluster != nil && t.Cluster.Self != nil:
		own = t.Cluster.Self
	case t.Self != nil:
		own = t.Self
	}
	switch {
	case own.HasError:
		q.set(model.Failed, own.ErrorReason)
		return nil
	case own.ID == 0 && own.Name == "":
		return errors.New("the answer holds no system_info") // otherwise all figures would be 0, not unknown
	}
	if q.otherNode(own.ID) {
		return nil
	}
	d.takeStored(q, own.Quota)
	// A coordinator with three services responds three times; the newest response is kept.
	if q.newer("system") {
		q.node.System = d.system(own)
	}
	if t.Cluster == nil {
		return nil
	}
	for role, list := range map[string][]componentJSON{
		"querynode": t.Cluster.QueryNodes, "datanode": t.Cluster.DataNodes, "indexnode": t.Cluster.IndexNodes,
	} {
		for i := range list {
			if c := &list[i]; !c.HasError && c.ID > 0 {
				d.reported = append(d.reported, reportedSystem{
					sessionKey{role, model.NodeID(c.ID)}, sessionKey{q.Role, q.Node}, d.system(c), q.At,
				})
			}
		}
	}
	return nil
}

func (d *Decoder) system(c *componentJSON) *model.System {
	return &model.System{
		Name: d.safe(c.Name), CPUs: figure(c.Hardware.CPUs), CPUUsage: max(0, c.Hardware.CPUUsage),
		Memory: figure(c.Hardware.Memory), MemoryUse: figure(c.Hardware.MemoryUsage), Disk: figure(c.Hardware.Disk),
		DiskUse: figure(c.Hardware.DiskUsage),
		Version: d.safe(c.System.BuildVersion), BuildTime: d.safe(c.System.BuildTime),
		GoVersion: d.safe(c.System.GoVersion),
		Mode:      d.safe(c.System.DeployMode), StartedAt: goTime(c.CreatedTime), Quota: d.quota(c.Quota),
		Jemalloc: jemalloc(c),
	}
}

// jemalloc returns the counters of the C++ code's allocator, or nil if the release or the build does not report
// them. The response omits figures that are 0.
func jemalloc(c *componentJSON) *model.Jemalloc {
	h := &c.Hardware
	if !h.JemallocSuccess {
		return nil
	}
	return &model.Jemalloc{
		Allocated: figure(h.JemallocAllocated), Active: figure(h.JemallocActive), Metadata: figure(h.JemallocMetadata),
		Resident: figure(h.JemallocResident), Mapped: figure(h.JemallocMapped), Retained: figure(h.JemallocRetained),
	}
}

// figure converts a number of bytes or things that a process reports. It returns 0, for unknown, if x is not a
// valid count.
func figure(x float64) int64 {
	if !(x > 0 && x < math.MaxInt64) { // nor NaN
		return 0
	}
	return int64(x)
}

// safe returns text that a process controls, without secrets.
func (d *Decoder) safe(s string) string { return d.text(safeText(s)) }

// quota converts the metrics by which Milvus limits rates. It returns nil if a role reports none.
func (d *Decoder) quota(q *quotaJSON) *model.QuotaMetrics {
	if q == nil || q.Rates == nil && q.FlowGraphs == nil && q.SearchQueue == nil && q.QueryQueue == nil {
		return nil
	}
	m := &model.QuotaMetrics{
		Rates: make(map[string]float64, len(q.Rates)), SearchQueue: readQueue(q.SearchQueue),
		QueryQueue:   readQueue(q.QueryQueue),
		GrowingBytes: max(0, q.GrowingSegmentsSize),
	}
	for _, r := range q.Rates {
		m.Rates[d.safe(r.Label)] = r.Rate
	}
	if f := q.FlowGraphs; f != nil {
		m.FlowGraphs = f.NumFlowGraph
		if f.MinFlowGraphChannel != "" { // otherwise the time is not that of a channel
			m.SlowestChannel, m.SlowestAt = d.text(f.MinFlowGraphChannel), model.TSO(f.MinFlowGraphTt)
		}
	}
	if q.Effect != nil {
		for _, id := range q.Effect.CollectionIDs {
			m.Collections = append(m.Collections, model.CollectionID(id))
		}
	}
	return m
}

// takeStored stores the storage size of each collection that DataCoord reports. A collection that is missing
// has none, so one invalid entry makes the whole list invalid.
func (d *Decoder) takeStored(q *pendingRecord, quota *quotaJSON) {
	if quota == nil || quota.CollectionBinlogSize == nil {
		return
	}
	stored := make(map[model.CollectionID]int64, len(quota.CollectionBinlogSize))
	for id, text := range quota.CollectionBinlogSize {
		bytes, err := strconv.ParseInt(string(text), 10, 64)
		if err != nil || bytes < 0 || numberOf(id) <= 0 {
			d.note("storage sizes of collections, from "+q.key().String(), "its list has a value that is not a size")
			return
		}
		stored[model.CollectionID(numberOf(id))] = bytes
	}
	d.keep(q, "stored", func(p *model.RuntimeParts) { p.StoredBytes = stored })
}

func readQueue(q *queueJSON) *model.ReadQueue {
	if q == nil {
		return nil
	}
	return &model.ReadQueue{
		Unsolved: max(0, q.UnsolvedQueue), Ready: max(0, q.ReadyQueue), Receive: max(0, q.ReceiveChan),
		Execute: max(0, q.ExecuteChan),
		AvgWait: time.Duration(max(0, q.AvgQueueDuration)),
	}
}

// goTime parses a time in the format of time.Time.String, which Milvus sends: "2026-11-20 09:05:50.243744391
// +0000 UTC", optionally followed by a monotonic clock reading.
func goTime(s string) time.Time {
	s, _, _ = strings.Cut(s, " m=")
	// The offset suffices, because the zone name is arbitrary.
	parts := strings.Fields(s)
	if len(parts) < 3 {
		return time.Time{}
	}
	t, err := time.Parse("2006-01-02 15:04:05.999999999 -0700", strings.Join(parts[:3], " "))
	if err != nil {
		return time.Time{}
	}
	return t.UTC()
}

// useReported fills in the figures that coordinators report for nodes that did not respond themselves, and notes
// it. It runs after the nodes' own calls are concluded.
func (d *Decoder) useReported() {
	best := map[sessionKey]reportedSystem{}
	for _, t := range d.reported {
		if d.foreigner(t.reporter) {
			continue
		}
		if had, ok := best[t.node]; !ok || t.at.After(had.at) ||
			t.at.Equal(had.at) && t.reporter.String() < had.reporter.String() {
			best[t.node] = t
		}
	}
	for about, t := range best {
		n := d.session(about, "")
		if n.System != nil {
			continue
		}
		if len(n.Calls) == 0 && n.Reason == "" {
			n.Reason = "not queried directly: " + t.reporter.String() + " reported it"
		}
		n.System = t.system
		n.Calls = append(n.Calls, model.Call{
			Role: n.Role, Node: n.Node, Address: n.Address,
			Method: "GetMetrics", About: "reported by " + t.reporter.String(), Outcome: model.Answered,
		})
	}
}

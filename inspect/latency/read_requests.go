package latency

import (
	"kitescope/inspect/metrics"
	"kitescope/inspect/model"
)

// readings returns the measurements of the processes for one kind of request.
func (r *reader) readings(request Request) *readings {
	in := &readings{missing: r.missing, seconds: r.scraped > 0}
	for _, p := range r.processes {
		x := proxyReading{
			seconds: p.w.Seconds(), queue: p.histogram(metrics.ProxyQueue, functionName, queueNames[request]),
			misses: p.histogram(metrics.ProxyCacheUpdate), cacheRequests: p.requests(), failed: p.failed(request),
		}
		if request == Search || request == Query {
			r.readsOf(p, request, &x)
			if n := r.queryNode(p, request); n.leader.known() || n.worker.known() {
				in.nodes = append(in.nodes, n)
			}
		} else {
			r.writesOf(p, request, &x)
			in.addWrites(r, p, request)
		}
		if x.total.known() {
			in.proxies = append(in.proxies, x)
		}
	}
	return in
}

// Labels of Milvus metrics (pkg/metrics/metrics.go).
const (
	queryType    = "query_type"
	functionName = "function_name"
	msgType      = "msg_type"
)

// queueNames maps a request to its commonpb.MsgType in the queue of the proxy. counterNames maps it to the name in the
// request counter.
var (
	queueNames = map[Request]string{
		Search: "Search", Query: "Retrieve", Insert: "Insert", Upsert: "Upsert", Delete: "Delete",
	}
	counterNames = map[Request]string{
		Search: "Search", Query: "Query", Insert: "Insert", Upsert: "Upsert", Delete: "Delete",
	}
)

// readsOf adds the measurements of a proxy for searches or queries to x.
func (r *reader) readsOf(p *process, request Request, x *proxyReading) {
	kinds := []string{string(request)}
	if request == Search {
		kinds = append(kinds, "hybrid_search") // since 2.4
	}
	_, x.node = r.node(p, metrics.ProxySearch, "proxy")
	for _, kind := range kinds {
		x.total = x.total.plus(p.histogram(metrics.ProxySearch, queryType, kind))
		x.task = x.task.plus(p.histogram(metrics.ProxyTask, queryType, kind))
		x.reduce = x.reduce.plus(p.histogram(metrics.ProxyReduce, queryType, kind))
		x.decode = x.decode.plus(p.histogram(metrics.ProxyDecode, queryType, kind))
		of := p.collectionCalls(queryType, kind, metrics.ProxyCollectionSearch, metrics.ProxySearch)
		for i := range of {
			if x.failed.Known && x.failed.Value == 0 {
				of[i].vectors = p.vectorsOf(&of[i], kind)
			}
		}
		x.collections = append(x.collections, of...)
	}
	if request == Search {
		x.vectors = p.counter(metrics.ProxyVectors)
		x.queries = p.queriesOf(x.collections)
	}
}

// vectorsOf returns the number of vectors in the requests of a kind for a collection.
func (p *process) vectorsOf(c *collectionReading, kind string) (sum Value) {
	p.w.EachCounter(metrics.ProxyReceivedVectors, func(labels []model.Pair, came float64) {
		database := label(labels, "db_name", "database")
		if label(labels, "collection_name") == c.name && (database == "" || database == c.database) &&
			label(labels, queryType) == kind {
			sum = sum.plus(Value{came, true})
		}
	})
	return sum
}

// requests returns the number of finished requests of the kinds that use the metadata cache.
func (p *process) requests() float64 {
	return p.histogram(metrics.ProxySearch).Count + p.histogram(metrics.ProxyMutation).Count
}

// failed returns the number of failed requests of a kind. They are counted but have no latency metric.
func (p *process) failed(request Request) Value {
	return p.counter(metrics.ProxyRequests, functionName, counterNames[request], "status", "fail")
}

// queriesOf returns the whole calls of queries of searched collections, and adds those of each collection to
// its reading. Without a collection label it returns the calls of all queries.
func (p *process) queriesOf(searched []collectionReading) dist {
	if len(searched) == 0 {
		return p.histogram(metrics.ProxySearch, queryType, string(Query))
	}
	all := dist{}
	names := map[[2]string]int{}
	for i, c := range searched {
		if c.total.known() {
			names[[2]string{c.database, c.name}] = i
		}
	}
	for _, c := range p.collectionCalls(queryType, string(Query), metrics.ProxyCollectionSearch, metrics.ProxySearch) {
		if i, ok := names[[2]string{c.database, c.name}]; ok {
			all = all.plus(c.total)
			searched[i].queries = searched[i].queries.plus(c.total)
		}
	}
	return all
}

func (r *reader) queryNode(p *process, request Request) nodeReading {
	kind := string(request)
	h := func(name metrics.Name, labels ...string) dist {
		return p.histogram(name, append([]string{queryType, kind}, labels...)...)
	}
	x := nodeReading{seconds: p.w.Seconds()}
	x.role, x.node = r.node(p, metrics.NodeRequest, "querynode", "streamingnode")
	x.leader, x.worker = h(metrics.NodeRequest, "scope", "OnLeader"), h(metrics.NodeRequest, "scope", "FromLeader")
	if all := h(metrics.NodeRequest); !x.leader.known() && !x.worker.known() && all.known() {
		x.mixed, x.leader, x.worker = true, all.half(), all.half()
	}
	x.consistency, x.queue = h(metrics.ConsistencyWait), h(metrics.TaskQueue)
	x.sealed, x.growing, x.core = h(metrics.SegmentKernel, "segment_state", "Sealed"),
		h(metrics.SegmentKernel, "segment_state", "Growing"), h(metrics.CoreKernel)
	x.segments, x.shards = h(metrics.NodeReduce, "reduce_level", "segments"),
		h(metrics.NodeReduce, "reduce_level", "shards")
	if !x.segments.known() && !x.shards.known() {
		x.segments = h(metrics.NodeReduce)
	}
	if request == Search {
		x.groups = p.histogram(metrics.GroupSize)
	}
	return x
}

// half returns half of the calls.
func (d dist) half() dist {
	d.Sum, d.Count = d.Sum/2, d.Count/2
	buckets := make([]float64, len(d.Buckets))
	for i, b := range d.Buckets {
		buckets[i] = b / 2
	}
	if d.Buckets != nil {
		d.Buckets = buckets
	}
	return d
}

// writesOf adds the measurements of a proxy for inserts, upserts or deletes to x.
func (r *reader) writesOf(p *process, request Request, x *proxyReading) {
	_, x.node = r.node(p, metrics.ProxyMutation, "proxy")
	x.total, x.send = p.histogram(metrics.ProxyMutation, msgType, string(request)),
		p.histogram(metrics.ProxyMutationSend, msgType, string(request))
	x.ids, x.segments = p.histogram(metrics.ProxyAllocateIDs), p.histogram(metrics.ProxyAssignSegments)
	x.rows = p.histogram(metrics.ProxyMutation, msgType, string(Insert)).Count +
		p.histogram(metrics.ProxyMutation, msgType, string(Upsert)).Count
	x.collections = p.collectionCalls(msgType, string(request), metrics.ProxyCollectionMutation, metrics.ProxyMutation)
}

// addWrites adds the appends to the write-ahead log and the flushes of a process.
func (in *readings) addWrites(r *reader, p *process, request Request) {
	if d := p.histogram(metrics.WALAppend); d.known() {
		_, id := r.node(p, metrics.WALAppend, "streamingnode")
		in.append = append(in.append, appendReading{"streamingnode", id, p.w.Seconds(), d})
	}
	if d := p.flushes(request); d.known() {
		role, id := r.node(p, metrics.FlushSave, "datanode", "streamingnode")
		in.flush = append(in.flush, appendReading{role, id, p.w.Seconds(), d})
	}
}

// flushes returns the durations of buffer writes to the object storage. Up to 2.3, inserts and deletes are
// separate; later releases measure both together.
func (p *process) flushes(request Request) dist {
	of := Insert
	if request == Delete {
		of = Delete
	}
	apart := false
	for _, x := range p.each(metrics.FlushSave) {
		apart = apart || label(x.labels, msgType) != ""
	}
	if apart {
		return p.histogram(metrics.FlushSave, msgType, string(of))
	}
	return p.histogram(metrics.FlushSave)
}

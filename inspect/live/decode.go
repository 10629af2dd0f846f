package live

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"

	"kitescope/inspect/model"
	"kitescope/internal/redact"
)

// Decoder builds a Runtime from Records. They may come in any order; of two responses to one call, the later
// one wins. A response is decoded when it is added and its bytes are not retained, so that records can be
// streamed. It is not safe for concurrent use.
type Decoder struct {
	nodes       map[sessionKey]*liveNode
	processes   map[string]*processRecords
	responses   coordinatorResponses
	skipped     []model.Skipped
	queue       *model.Queue
	queueAt     time.Time
	cluster     string
	queryTimes  times
	scrapeTimes times
	reported    []reportedSystem
	// texts holds each string once, because names of channels and labels occur thousands of times.
	texts map[string]string
	// metrics holds the tables that scrapes share.
	metrics metricsTables
	// keyed holds configuration keys that sessions reported one by one.
	keyed map[sessionKey][]*keyValue
	// foreign counts the keys in ShowConfigurations responses that are not Milvus's.
	foreign map[sessionKey]int
	// oddities are notes about single responses, without duplicates.
	oddities map[model.Skipped]bool
	// limit bounds the memory of all responses in bytes, 0 for no limit; used is the memory they take.
	limit, used int64
}

// sessionKey identifies a session: a role of a process.
type sessionKey struct {
	role string
	node model.NodeID
}

func (k sessionKey) String() string { return k.node.Name(k.role) }

// liveNode is a session whose responses are being collected.
type liveNode struct {
	model.LiveNode
	dates dates
}

// dates holds, for each part of a session or process, the time of the response that it was taken from.
type dates map[string]time.Time

// newer reports whether a response replaces the one that a part was taken from, and if so stores its time. If
// times are missing, the one added later wins.
func (d dates) newer(part string, at time.Time) bool {
	if had, ok := d[part]; ok && at.Before(had) {
		return false
	}
	d[part] = at
	return true
}

// NewDecoder returns an empty Decoder.
func NewDecoder() *Decoder {
	return &Decoder{
		nodes: map[sessionKey]*liveNode{}, processes: map[string]*processRecords{}, responses: coordinatorResponses{},
		texts: map[string]string{}, foreign: map[sessionKey]int{}, oddities: map[model.Skipped]bool{},
		keyed: map[sessionKey][]*keyValue{},
	}
}

// pendingRecord is a Record being decoded, with the data that the Decoder derived from the record.
type pendingRecord struct {
	*Record
	node *liveNode
	// object is the object that the request names, collection its collection.
	object     string
	collection model.CollectionID
	// outcome and reason are those of the call.
	outcome model.Outcome
	reason  string
	// weight is the approximate memory in bytes that decoding takes.
	weight int64
}

// key returns the key of the queried session.
func (q *pendingRecord) key() sessionKey { return sessionKey{q.Role, q.Node} }

// set sets the outcome and the reason of a question.
func (q *pendingRecord) set(outcome model.Outcome, reason string) {
	q.outcome, q.reason = outcome, oneLine(reason)
}

// Add decodes one record. A fault in the response becomes the outcome of its Call.
func (d *Decoder) Add(r Record) {
	d.span(&r)
	switch {
	case r.Method == MethodKafka:
		d.addQueue(&r)
	case r.Method == MethodPulsar:
		d.addPulsar(&r)
	case r.Role == "" && recordOutcome(&r) == model.NotAsked:
		d.skipped = append(d.skipped, model.Skipped{What: oneLine(r.Method), Reason: oneLine(r.Error)})
	case r.Role == "":
		d.note("a record of "+oneLine(r.Method), "it has no session")
	case strings.HasPrefix(r.Method, "GET "):
		d.addHTTP(&r)
	default:
		d.addCall(&r)
	}
}

// ClusterKey sets the cluster name that was sent with the calls.
func (d *Decoder) ClusterKey(key string) { d.cluster = key }

// times are the times of the first and last of some records.
type times struct{ from, to time.Time }

func (t *times) add(r *Record) {
	if r.At.IsZero() {
		return
	}
	if start := r.At.Add(-max(r.Took, 0)); t.from.IsZero() || start.Before(t.from) {
		t.from = start
	}
	if r.At.After(t.to) {
		t.to = r.At
	}
}

// span extends the time span of all records. Scrapes may be dated by another clock (Options.Counters), so the
// span of the queries covers only the other responses.
func (d *Decoder) span(r *Record) {
	if r.Method == methodMetrics {
		d.scrapeTimes.add(r)
		return
	}
	d.queryTimes.add(r)
}

// timesOf returns the time span of a Runtime: that of the queries, or of the scrapes if there are only scrapes.
func timesOf(d *Decoder) times {
	if d.queryTimes.to.IsZero() {
		return d.scrapeTimes
	}
	return d.queryTimes
}

// session returns the session of a record, and adds it if it is new.
func (d *Decoder) session(key sessionKey, address string) *liveNode {
	n := d.nodes[key]
	if n == nil {
		n = &liveNode{LiveNode: model.LiveNode{Role: d.text(oneLine(key.role)), Node: key.node}, dates: dates{}}
		d.nodes[key] = n
	}
	if n.Address == "" {
		n.Address = d.text(redact.Address(address))
	}
	return n
}

// text returns the shared copy of a string.
func (d *Decoder) text(s string) string {
	if s == "" {
		return ""
	}
	if had, ok := d.texts[s]; ok {
		return had
	}
	s = strings.Clone(strings.ToValidUTF8(s, "\uFFFD"))
	d.texts[s] = s
	return s
}

// addCall decodes a gRPC response.
func (d *Decoder) addCall(r *Record) {
	q := &pendingRecord{Record: r, node: d.session(sessionKey{r.Role, r.Node}, r.Address)}
	q.outcome, q.reason = recordOutcome(r), ""
	if q.outcome != model.Answered {
		q.reason = oneLine(r.Error)
	}
	a, known := decoderOf(r.Method)
	if known {
		q.readRequest(a)
	}
	if known && q.outcome == model.Answered {
		d.decode(q, a)
	}
	if p := r.pace(); p != nil && q.outcome == model.Answered && q.newer("pace") {
		q.node.ProbeRound = p
		if slices.ContainsFunc(q.node.Calls, func(c model.Call) bool { return c.Method == lastPart(r.Method) }) {
			return // a repeated call is not counted again
		}
	}
	q.node.Calls = append(q.node.Calls, model.Call{
		Role: q.node.Role, Node: r.Node, Address: d.text(redact.Address(r.Address)),
		Method: d.text(oneLine(lastPart(r.Method))), About: d.text(oneLine(q.object)),
		Outcome: q.outcome, Reason: q.reason, Took: r.Took,
	})
}

func lastPart(method string) string { return method[strings.LastIndexByte(method, '/')+1:] }

func (q *pendingRecord) readRequest(a responseDecoder) {
	if a.request == nil || a.readObject == nil {
		return
	}
	if m := a.request(); checkDecodedSize(m, q.Request) == nil && proto.Unmarshal(q.Request, m) == nil {
		a.readObject(q, m)
	}
}

// decode reads a response, its status first.
func (d *Decoder) decode(q *pendingRecord, a responseDecoder) {
	m := a.response()
	q.weight = decodedSize(m, q.Response)
	if !d.afford(q) {
		return
	}
	if err := proto.Unmarshal(q.Response, m); err != nil {
		q.set(model.Garbled, "the answer is not a "+string(m.ProtoReflect().Descriptor().Name()))
		return
	}
	if !d.readStatus(q, a, m) {
		return
	}
	if err := a.take(d, q, m); err != nil {
		q.set(model.Garbled, err.Error())
	}
	if q.outcome == model.Answered {
		d.used += retainedWeight(q.weight)
	}
}

// retainedWeight returns how much of the decoding memory is retained: at most a half, because only the needed fields of
// structs are stored.
func retainedWeight(weight int64) int64 { return weight / 2 }

// afford reports whether a response of the record's weight is decoded. If not, it sets the outcome.
func (d *Decoder) afford(q *pendingRecord) bool {
	f := checkSize(q.weight)
	if f == nil && d.limit > 0 && d.used+retainedWeight(q.weight) > d.limit {
		f = overLimit(d.limit)
	}
	if f != nil {
		q.set(f.outcome, f.reason)
	}
	return f == nil
}

// reserve is like afford for a decoded response of which weight bytes are retained. If it returns true, it
// counts the retained bytes.
func (d *Decoder) reserve(q *pendingRecord, weight int64) bool {
	q.weight = weight
	if !d.afford(q) {
		return false
	}
	d.used += retainedWeight(weight)
	return true
}

func overLimit(limit int64) *failure {
	return newFailure(model.TooLarge,
		"not kept: all answers together would take more than %s of memory, far too much for a cluster of this size",
		mebibytes(limit))
}

// newer reports whether a response replaces the one that a part of a session was taken from.
func (q *pendingRecord) newer(part string) bool { return q.node.dates.newer(part, q.At) }

// Runtime returns the Runtime of all records. The Decoder must not be used afterwards.
func (d *Decoder) Runtime(kind, location string) *model.Runtime {
	when := timesOf(d)
	parts := model.RuntimeParts{
		Kind: kind, Location: location, From: when.from, To: when.to, ClusterKey: d.cluster, Queue: d.queue,
	}
	for _, n := range d.nodes {
		n.conclude()
		n.addKeys(d)
	}
	parts.Processes = d.linkProcesses()
	d.useReported()
	for _, n := range d.nodes {
		n.catchUp()
		parts.Nodes = append(parts.Nodes, &n.LiveNode)
	}
	d.responses.drop(d.foreigner)
	d.responses.apply(&parts)
	parts.Skipped = d.notes()
	return model.BuildRuntime(parts)
}

// foreigner reports whether another process responded at the address of a session.
func (d *Decoder) foreigner(key sessionKey) bool {
	n := d.nodes[key]
	return n != nil && (n.Outcome == model.Stale || n.Outcome == model.OtherCluster)
}

// namedByMetrics reports whether the metrics of a process name a session.
func (d *Decoder) namedByMetrics(key sessionKey) bool {
	for _, p := range d.processes {
		if p.named[key] {
			return true
		}
	}
	return false
}

// conclude sets the outcome of a session from its calls.
func (n *liveNode) conclude() {
	slices.SortStableFunc(n.Calls, func(a, b model.Call) int {
		return cmp.Or(cmp.Compare(a.Method, b.Method), cmp.Compare(a.About, b.About))
	})
	rank := func(c model.Call) int {
		switch c.Outcome {
		case model.Stale, model.OtherCluster:
			return 4
		case model.Answered:
			return 3
		case model.Unimplemented:
			return 1
		case model.NotAsked:
			return 0
		default:
			return 2
		}
	}
	best := 0
	for _, c := range n.Calls {
		if r := rank(c); r > best {
			best, n.Outcome, n.Reason = r, c.Outcome, c.Reason
		}
	}
	if best == 0 && len(n.Calls) > 0 {
		n.Reason = n.Calls[0].Reason
	}
	if best == 4 {
		// Another process responded: none of its data belongs to this session.
		n.State, n.Distribution, n.System, n.Config, n.ProbeRound = "", nil, nil, nil, nil
	}
}

// notes returns the notes about omitted data, sorted.
func (d *Decoder) notes() []model.Skipped {
	list := d.skipped
	for note := range d.oddities {
		list = append(list, note)
	}
	list = append(list, d.foreignNote()...)
	slices.SortFunc(list, func(a, b model.Skipped) int {
		return cmp.Or(cmp.Compare(a.What, b.What), cmp.Compare(a.Reason, b.Reason))
	})
	return slices.Compact(list)
}

func (d *Decoder) note(what, reason string) {
	d.oddities[model.Skipped{What: what, Reason: oneLine(reason)}] = true
}

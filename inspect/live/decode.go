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

// Decoder makes a Runtime of Records. They may come in any order; of two answers to
// one question the later one counts. An answer is decoded when it is added and its
// bytes are let go, so that records can be streamed through. One goroutine at a time.
type Decoder struct {
	nodes     map[sessionKey]*liveNode
	processes map[string]*processRecords
	answers   coordinatorAnswers
	skipped   []model.Skipped
	queue     *model.Queue
	queueAt   time.Time
	cluster   string
	asked     times
	scraped   times
	told      []toldSystem
	// texts holds each string once: names of channels and labels occur thousands of times.
	texts map[string]string
	// metrics holds what scrapes have in common.
	metrics metricsTables
	// keyed are keys of configurations that sessions told one by one.
	keyed map[sessionKey][]*keyTold
	// foreign counts the keys that ShowConfigurations answered and that are not Milvus's.
	foreign map[sessionKey]int
	// oddities are things about single answers that are worth a note, without repeats.
	oddities map[model.Skipped]bool
	// limit bounds what all answers take together, 0: nothing does; kept is what they take.
	limit, kept int64
}

// sessionKey is a session: a role of a process.
type sessionKey struct {
	role string
	node model.NodeID
}

func (k sessionKey) String() string { return k.node.Name(k.role) }

// liveNode is a session while its answers come in.
type liveNode struct {
	model.LiveNode
	at dates
}

// dates are when the answers came that parts of a session or process were taken from.
type dates map[string]time.Time

// newer reports whether an answer is to replace the one that a part was taken from, and notes that it does. Without times the
// later one counts.
func (d dates) newer(part string, at time.Time) bool {
	if had, ok := d[part]; ok && at.Before(had) {
		return false
	}
	d[part] = at
	return true
}

// NewDecoder returns a Decoder that knows nothing yet.
func NewDecoder() *Decoder {
	return &Decoder{
		nodes: map[sessionKey]*liveNode{}, processes: map[string]*processRecords{}, answers: coordinatorAnswers{},
		texts: map[string]string{}, foreign: map[sessionKey]int{}, oddities: map[model.Skipped]bool{},
		keyed: map[sessionKey][]*keyTold{},
	}
}

// question is a Record on its way through the Decoder, and what was found out about it.
type question struct {
	*Record
	node *liveNode
	// about is the object that the request names, collection its collection.
	about      string
	collection model.CollectionID
	// outcome and reason are how it ended.
	outcome model.Outcome
	reason  string
	// weight is what decoding it takes, about, in bytes.
	weight int64
}

// key is the session that was asked.
func (q *question) key() sessionKey { return sessionKey{q.Role, q.Node} }

// set ends a question.
func (q *question) set(outcome model.Outcome, reason string) {
	q.outcome, q.reason = outcome, oneLine(reason)
}

// Add takes one record in. What is wrong with an answer becomes the outcome of its Call.
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
		d.note("a record of "+oneLine(r.Method), "it names no session")
	case strings.HasPrefix(r.Method, "GET "):
		d.addHTTP(&r)
	default:
		d.addCall(&r)
	}
}

// ClusterKey notes the cluster's name as it was sent along with the questions.
func (d *Decoder) ClusterKey(key string) { d.cluster = key }

// times are when some records were asked for, the first and the last.
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

// span widens the time that all records together took. Scrapes may be dated by another clock (Options.Counters): what is held against the
// time of asking is of the other answers.
func (d *Decoder) span(r *Record) {
	if r.Method == methodMetrics {
		d.scraped.add(r)
		return
	}
	d.asked.add(r)
}

// timesOf are those of a Runtime: of scrapes alone theirs.
func timesOf(d *Decoder) times {
	if d.asked.to.IsZero() {
		return d.scraped
	}
	return d.asked
}

// session finds the session that a record is about.
func (d *Decoder) session(key sessionKey, address string) *liveNode {
	n := d.nodes[key]
	if n == nil {
		n = &liveNode{LiveNode: model.LiveNode{Role: d.text(oneLine(key.role)), Node: key.node}, at: dates{}}
		d.nodes[key] = n
	}
	if n.Address == "" {
		n.Address = d.text(redact.Address(address))
	}
	return n
}

// text returns the one copy of a string.
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

// addCall takes a gRPC answer in.
func (d *Decoder) addCall(r *Record) {
	q := &question{Record: r, node: d.session(sessionKey{r.Role, r.Node}, r.Address)}
	q.outcome, q.reason = recordOutcome(r), ""
	if q.outcome != model.Answered {
		q.reason = oneLine(r.Error)
	}
	a, known := answerTo(r.Method)
	if known {
		q.readRequest(a)
	}
	if known && q.outcome == model.Answered {
		d.decode(q, a)
	}
	if p := r.pace(); p != nil && q.outcome == model.Answered && q.newer("pace") {
		q.node.Pace = p
		if slices.ContainsFunc(q.node.Calls, func(c model.Call) bool { return c.Method == lastPart(r.Method) }) {
			return // the same question again is no other call
		}
	}
	q.node.Calls = append(q.node.Calls, model.Call{
		Role: q.node.Role, Node: r.Node, Address: d.text(redact.Address(r.Address)), Method: d.text(oneLine(lastPart(r.Method))), About: d.text(oneLine(q.about)),
		Outcome: q.outcome, Reason: q.reason, Took: r.Took,
	})
}

func lastPart(method string) string { return method[strings.LastIndexByte(method, '/')+1:] }

func (q *question) readRequest(a answer) {
	if a.request == nil || a.about == nil {
		return
	}
	if m := a.request(); tooHeavy(m, q.Request) == nil && proto.Unmarshal(q.Request, m) == nil {
		a.about(q, m)
	}
}

// decode reads an answer, its status first.
func (d *Decoder) decode(q *question, a answer) {
	m := a.response()
	q.weight = weigh(m, q.Response)
	if !d.afford(q) {
		return
	}
	if err := proto.Unmarshal(q.Response, m); err != nil {
		q.set(model.Garbled, "the answer is no "+string(m.ProtoReflect().Descriptor().Name()))
		return
	}
	if !d.readStatus(q, a, m) {
		return
	}
	if err := a.take(d, q, m); err != nil {
		q.set(model.Garbled, err.Error())
	}
	if q.outcome == model.Answered {
		d.kept += keptOf(q.weight)
	}
}

// keptOf is what stays of what decoding takes: at most a half, as no more is kept of structs
// than what is asked for.
func keptOf(weight int64) int64 { return weight / 2 }

// afford reports whether an answer is decoded that takes so much. It ends the question if not.
func (d *Decoder) afford(q *question) bool {
	f := heavy(q.weight)
	if f == nil && d.limit > 0 && d.kept+keptOf(q.weight) > d.limit {
		f = overLimit(d.limit)
	}
	if f != nil {
		q.set(f.outcome, f.reason)
	}
	return f == nil
}

// takes is afford of an answer that is read, of which so much stays.
func (d *Decoder) takes(q *question, weight int64) bool {
	q.weight = weight
	if !d.afford(q) {
		return false
	}
	d.kept += keptOf(weight)
	return true
}

func overLimit(limit int64) *failure {
	return failed(model.TooLarge, "not kept: all answers together would take more than %s of memory, far too much for a cluster of this size", mebibytes(limit))
}

// newer reports whether an answer is to replace the one that a part of a session was taken from.
func (q *question) newer(part string) bool { return q.node.at.newer(part, q.At) }

// Runtime is what all records together say. The Decoder is used up.
func (d *Decoder) Runtime(kind, location string) *model.Runtime {
	when := timesOf(d)
	parts := model.RuntimeParts{Kind: kind, Location: location, From: when.from, To: when.to, ClusterKey: d.cluster, Queue: d.queue}
	for _, n := range d.nodes {
		n.conclude()
		n.addKeys(d)
	}
	parts.Processes = d.linkProcesses()
	d.useTold()
	for _, n := range d.nodes {
		n.catchUp()
		parts.Nodes = append(parts.Nodes, &n.LiveNode)
	}
	d.answers.forget(d.foreigner)
	d.answers.into(&parts)
	parts.Skipped = d.notes()
	return model.BuildRuntime(parts)
}

// foreigner reports whether what answered as a session is another process.
func (d *Decoder) foreigner(key sessionKey) bool {
	n := d.nodes[key]
	return n != nil && (n.Outcome == model.Stale || n.Outcome == model.OtherCluster)
}

// named reports whether the metrics of a process name a session.
func (d *Decoder) named(key sessionKey) bool {
	for _, p := range d.processes {
		if p.told[key] {
			return true
		}
	}
	return false
}

// conclude sums the calls of a session up.
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
		// What answered is another process: nothing it said is about this session.
		n.State, n.Distribution, n.System, n.Config, n.Pace = "", nil, nil, nil, nil
	}
}

// notes are the things left out, in order.
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

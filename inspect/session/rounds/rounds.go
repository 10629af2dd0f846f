// Package rounds keeps what processes said, round by round, each as what differs from the one before. What enters is the records
// of a round, redacted; what leaves is bytes, which together with those of all rounds before them give the same records again.
//
//  1. An Encoder writes a Round: of each question only whether the answer is the same as last time, and else what differs; of the text
//     of /metrics, values that have moved (samples.go), of all others what was inserted (difference.go).
//  2. A Decoder takes these in, in order, at the cost of what has changed, and puts the records together where they are wanted.
//
// A round is
//
//	the revision of the metadata by which it was asked, milliseconds between rounds, how many records there are: unsigned varints
//	records, by question
//
// and a record a question (how many further on in the list of all that were asked than the one before; of one that is new, also role,
// node, address, method, request), flags, a difference from the time of the round and how long the answer took, in microseconds, and,
// as flags say, answer, error, outcome, pace.
package rounds

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"kitescope/inspect/live"
	"kitescope/inspect/model"
)

// Kind is the kind of history members that hold rounds.
const Kind = "answers"

// Round is what processes said at a time.
type Round struct {
	At time.Time
	// Revision is that of the metadata that said whom to ask, Every what is between rounds.
	Revision int64
	Every    time.Duration
	Records  []live.Record
	// Etcd is how etcd was; nil: not known.
	Etcd *model.Etcd
}

// methodEtcd is the question for what a round has of etcd.
const methodEtcd = "etcd"

// methodMetrics is the question for the text of /metrics.
const methodMetrics = "GET /metrics"

// What flags say of an answer: one of the first five, and which further fields there are.
const (
	answerNone       = iota // there is none
	answerSame              // as last time
	answerWhole             // all of it
	answerDifference        // steps of difference.go
	answerSamples           // steps of samples.go; of a second scrape in a round, from the one before it

	answerMask  = 7
	hasError    = 8
	hasOutcome  = 16 // another than answered
	hasPace     = 32
	hasNoMoment = 64 // the record has no time
)

// question is what a record asks whom. The same one twice in a round are two, so that each is held against itself.
type question struct {
	role, address, method, request string
	node                           model.NodeID
	again                          int
}

// Encoder writes rounds of one chunk.
type Encoder struct {
	known map[question]int
	said  [][]byte // the last answer to each question
}

// NewEncoder is one that has seen no round.
func NewEncoder() *Encoder { return &Encoder{known: map[question]int{}} }

// asked is a record with its question.
type asked struct {
	id     int
	isNew  bool
	record *live.Record
	// first is the id of the same question before it in the round, -1 if there is none.
	first int
}

// Append appends a round.
func (e *Encoder) Append(out []byte, r *Round) ([]byte, error) {
	records := r.Records
	if r.Etcd != nil {
		text, err := json.Marshal(r.Etcd)
		if err != nil {
			return out, fmt.Errorf("keep etcd answers: %w", err)
		}
		records = append(slices.Clip(records), live.Record{Method: methodEtcd, Response: text, Outcome: model.Answered.String()})
	}
	list := e.questions(records)
	out = binary.AppendUvarint(out, uint64(r.Revision))
	out = binary.AppendUvarint(out, uint64(r.Every.Milliseconds()))
	out = binary.AppendUvarint(out, uint64(len(list)))
	next := 0
	for _, a := range list {
		out = binary.AppendUvarint(out, uint64(a.id-next))
		if next = a.id + 1; a.isNew {
			out = appendText(out, a.record.Role)
			out = binary.AppendVarint(out, int64(a.record.Node))
			out = appendText(out, a.record.Address)
			out = appendText(out, a.record.Method)
			out = appendText(out, string(a.record.Request))
		}
		out = e.record(out, a, r.At)
	}
	return out, nil
}

// questions finds or numbers the question of each record, and orders them by it.
func (e *Encoder) questions(records []live.Record) []asked {
	list := make([]asked, 0, len(records))
	again := map[question]int{}
	for i := range records {
		r := &records[i]
		q := question{role: r.Role, address: r.Address, method: r.Method, request: string(r.Request), node: r.Node}
		n, first := again[q], -1
		again[q]++
		if q.again = n; n > 0 {
			q.again--
			first = e.known[q]
			q.again++
		}
		id, ok := e.known[q]
		if !ok {
			id = len(e.said)
			e.known[q] = id
			e.said = append(e.said, nil)
		}
		list = append(list, asked{id, !ok, r, first})
	}
	slices.SortFunc(list, func(a, b asked) int { return cmp.Compare(a.id, b.id) })
	return list
}

// record writes what is behind a record's question.
func (e *Encoder) record(out []byte, a asked, at time.Time) []byte {
	r := a.record
	flags := len(out)
	out = append(out, 0)
	if r.At.IsZero() {
		out[flags] |= hasNoMoment
	} else {
		out = binary.AppendVarint(out, r.At.Sub(at).Microseconds())
	}
	out = binary.AppendVarint(out, r.Took.Microseconds())
	said, out := e.answer(out, a)
	out[flags] |= said
	if r.Error != "" {
		out[flags] |= hasError
		out = appendText(out, r.Error)
	}
	if r.Outcome != model.Answered.String() {
		out[flags] |= hasOutcome
		out = appendText(out, r.Outcome)
	}
	if r.Pace != nil {
		out[flags] |= hasPace
		out = appendPace(out, r.Pace)
	}
	return out
}

// answer writes an answer in the shortest way, and says which.
func (e *Encoder) answer(out []byte, a asked) (flags byte, with []byte) {
	before, now := e.said[a.id], a.record.Response
	again := a.record.Method == methodMetrics && a.first >= 0
	if again { // little has moved since
		before = e.said[a.first]
	}
	if len(now) == 0 {
		return answerNone, out
	}
	if !again && len(before) > 0 && string(before) == string(now) {
		return answerSame, out
	}
	e.said[a.id] = now
	if len(before) > 0 {
		kind := byte(answerDifference)
		var steps []byte
		if a.record.Method == methodMetrics {
			kind, steps = answerSamples, appendSamples(nil, before, now)
		} else {
			steps = appendDifference(nil, before, now)
		}
		if len(steps) < len(now)*3/4 {
			return kind, append(binary.AppendUvarint(out, uint64(len(steps))), steps...)
		}
	}
	return answerWhole, append(binary.AppendUvarint(out, uint64(len(now))), now...)
}

func appendText(out []byte, text string) []byte {
	return append(binary.AppendUvarint(out, uint64(len(text))), text...)
}

func appendPace(out []byte, p *live.Pace) []byte {
	out = binary.AppendVarint(out, p.Connect.Microseconds())
	out = binary.AppendVarint(out, p.Dial.Microseconds())
	out = binary.AppendUvarint(out, uint64(len(p.Probes)))
	last := time.Duration(0)
	for _, x := range p.Probes {
		out = binary.AppendVarint(out, (x.After - last).Microseconds())
		took := x.Took.Microseconds() << 1
		if x.Open {
			took |= 1
		}
		out = binary.AppendVarint(out, took)
		last = x.After
	}
	return out
}

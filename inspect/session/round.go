package session

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"kitescope/inspect/live"
	"kitescope/inspect/model"
)

// A round is a member of a chunk. It begins with a line of JSON (roundHead). For each record follow a line of JSON
// (roundRecord) and the bytes of its response. A response equal to the last one to the same question in the chunk
// is omitted. The chunk's compression handles other repetitions within its window.
const (
	// RoundMember is the kind of history members that hold rounds.
	RoundMember = "rounds"
	// oldRoundMember is the kind in older versions of kitescope, which wrote differences.
	oldRoundMember = "answers"
	// methodMetrics is the method of requests for the text of /metrics.
	methodMetrics = "GET /metrics"
	// maxResponses is the maximum size of the responses of a round, in bytes.
	maxResponses = 2 << 30
	// maxRequests is the maximum number of different questions in a chunk. A large cluster has about ten thousand.
	maxRequests = 1 << 16
)

// errOldRounds is returned for chunks of older versions, which wrote differences.
var errOldRounds = errors.New("answers recorded by an older kitescope cannot be read: read them with that version")

// Round holds the answers of processes at a time.
type Round struct {
	At time.Time
	// Revision is the revision of the metadata used to select the processes. Every is the interval between rounds.
	Revision int64
	Every    time.Duration
	Records  []live.Record
	// Etcd is the health of etcd, or nil if it is unknown.
	Etcd *model.Etcd
}

type roundHead struct {
	Revision int64         `json:"revision"`
	Every    time.Duration `json:"every_ns"`
	Etcd     *model.Etcd   `json:"etcd,omitempty"`
}

type roundRecord struct {
	live.Record
	// Size is the number of response bytes after the line. Same reports that the response equals the last one to
	// the same question.
	Size int  `json:"size,omitempty"`
	Same bool `json:"same,omitempty"`
}

// requestKey identifies a record in a round. occurrence numbers equal requests.
type requestKey struct {
	role, address, method, request string
	node                           model.NodeID
	occurrence                     int
}

// requestCounts counts equal requests in a round.
type requestCounts map[requestKey]int

func (q requestCounts) key(r *live.Record) requestKey {
	x := requestKey{role: r.Role, address: r.Address, method: r.Method, request: string(r.Request), node: r.Node}
	n := q[x]
	q[x]++
	x.occurrence = n
	return x
}

// RoundEncoder encodes the rounds of a chunk.
type RoundEncoder struct{ last map[requestKey][]byte }

// Append appends the encoded round to out and returns the result.
func (e *RoundEncoder) Append(out []byte, r *Round) ([]byte, error) {
	if e.last == nil {
		e.last = map[requestKey][]byte{}
	}
	b := bytes.NewBuffer(out)
	lines := json.NewEncoder(b)
	lines.SetEscapeHTML(false)
	if err := lines.Encode(roundHead{r.Revision, r.Every, r.Etcd}); err != nil {
		return out, err
	}
	seen := requestCounts{}
	for i := range r.Records {
		x, q := roundRecord{Record: r.Records[i]}, seen.key(&r.Records[i])
		response := x.Response
		x.Response = nil
		last, had := e.last[q]
		x.Same = had && len(response) > 0 && bytes.Equal(last, response)
		if e.last[q] = response; x.Same {
			response = nil
		}
		x.Size = len(response)
		if err := lines.Encode(x); err != nil {
			return out, err
		}
		b.Write(response)
	}
	return b.Bytes(), nil
}

// roundDecoder decodes the rounds of a chunk in order, then the rounds of the next chunk.
type roundDecoder struct {
	number  int // number of the last round, from 1
	at      time.Time
	head    roundHead
	answers map[requestKey]*answer
	records []*answer // records of the last round
	before  []live.Record
}

// answer is the last response to a question and the number of its round.
type answer struct {
	round  int
	record live.Record
}

// decodeHead decodes the first line of a round.
func decodeHead(content []byte) (h roundHead, rest []byte, err error) {
	line, rest, ok := bytes.Cut(content, []byte("\n"))
	if !ok {
		return h, nil, io.ErrUnexpectedEOF
	}
	if err := json.Unmarshal(line, &h); err != nil {
		return h, nil, fmt.Errorf("read a round of answers: %w", err)
	}
	const longest = 30 * 24 * time.Hour
	h.Every = min(max(h.Every, 0), longest)
	return h, rest, nil
}

// add decodes the next round. It does not retain content.
func (d *roundDecoder) add(at time.Time, content []byte) error {
	head, rest, err := decodeHead(content)
	if err != nil {
		return err
	}
	if d.answers == nil {
		d.answers = map[requestKey]*answer{}
	}
	d.before = d.scrapes()
	d.number++
	d.at, d.head, d.records = at, head, nil
	seen, sum := requestCounts{}, 0
	for len(rest) > 0 {
		line, behind, _ := bytes.Cut(rest, []byte("\n"))
		var x roundRecord
		if err := json.Unmarshal(line, &x); err != nil {
			return fmt.Errorf("read a round of answers: %w", err)
		}
		if x.Size < 0 || x.Size > len(behind) {
			return io.ErrUnexpectedEOF
		}
		q := seen.key(&x.Record)
		switch last := d.answers[q]; {
		case x.Same && last == nil:
			return errors.New("read a round of answers: a response is missing")
		case x.Same:
			x.Response = last.record.Response
		case x.Size > 0:
			x.Response = bytes.Clone(behind[:x.Size])
		}
		if sum += len(x.Response); sum > maxResponses {
			return fmt.Errorf("the answers of one round exceed %d MiB", maxResponses>>20)
		}
		a := &answer{d.number, x.Record}
		if d.answers[q] = a; len(d.answers) > maxRequests {
			return fmt.Errorf("the answers are for more than %d requests", maxRequests)
		}
		d.records = append(d.records, a)
		rest = behind[x.Size:]
	}
	return nil
}

// scrapes returns the texts of /metrics in the last round.
func (d *roundDecoder) scrapes() []live.Record {
	var list []live.Record
	for _, a := range d.records {
		if a.record.Method == methodMetrics && len(a.record.Response) > 0 {
			list = append(list, a.record)
		}
	}
	return list
}

// maxAnswerAge is the maximum age, in rounds, of an answer to a question that is not repeated in every round.
const maxAnswerAge = 4

// last returns the records of the last round, followed by older ones that are still valid.
func (d *roundDecoder) last() []live.Record {
	list := make([]live.Record, 0, len(d.records))
	for _, a := range d.records {
		list = append(list, a.record)
	}
	var older []*answer
	for _, a := range d.answers {
		if a.round < d.number && a.round >= d.number-maxAnswerAge && live.IsCached(&a.record) {
			older = append(older, a)
		}
	}
	slices.SortFunc(older, func(a, b *answer) int {
		return cmp.Or(cmp.Compare(a.record.Address, b.record.Address),
			bytes.Compare(a.record.Request, b.record.Request))
	})
	for _, a := range older {
		list = append(list, a.record)
	}
	return list
}

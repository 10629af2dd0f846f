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

// A round is a member of a chunk: a line of JSON (roundHead), then for each record a line of JSON (roundRecord) and the bytes of its
// response. A response that is the same as the last one to that question in the chunk is left out; what else repeats, the chunk's
// compression finds in its window.
const (
	// RoundMember is the kind of history members that hold rounds.
	RoundMember = "rounds"
	// oldRoundMember is that of older versions of kitescope, which wrote differences.
	oldRoundMember = "answers"
	// methodMetrics is the question for the text of /metrics.
	methodMetrics = "GET /metrics"
	// maxResponses bounds the responses of a round.
	maxResponses = 2 << 30
	// maxQuestions bounds the questions of a chunk: a large cluster has some ten thousand.
	maxQuestions = 1 << 16
)

// errOldRounds says that a chunk is of a version that wrote differences.
var errOldRounds = errors.New("answers recorded by an older kitescope cannot be read: read them with that version")

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

type roundHead struct {
	Revision int64         `json:"revision"`
	Every    time.Duration `json:"every_ns"`
	Etcd     *model.Etcd   `json:"etcd,omitempty"`
}

type roundRecord struct {
	live.Record
	// Size is how many bytes of response follow the line. Same says that it is that of the record before.
	Size int  `json:"size,omitempty"`
	Same bool `json:"same,omitempty"`
}

// question identifies a record in a round; the same question twice are two.
type question struct {
	role, address, method, request string
	node                           model.NodeID
	again                          int
}

// questions numbers equal questions of one round.
type questions map[question]int

func (q questions) of(r *live.Record) question {
	x := question{role: r.Role, address: r.Address, method: r.Method, request: string(r.Request), node: r.Node}
	n := q[x]
	q[x]++
	x.again = n
	return x
}

// RoundEncoder encodes the rounds of one chunk.
type RoundEncoder struct{ last map[question][]byte }

// Append appends a round.
func (e *RoundEncoder) Append(out []byte, r *Round) ([]byte, error) {
	if e.last == nil {
		e.last = map[question][]byte{}
	}
	b := bytes.NewBuffer(out)
	lines := json.NewEncoder(b)
	lines.SetEscapeHTML(false)
	if err := lines.Encode(roundHead{r.Revision, r.Every, r.Etcd}); err != nil {
		return out, err
	}
	seen := questions{}
	for i := range r.Records {
		x, q := roundRecord{Record: r.Records[i]}, seen.of(&r.Records[i])
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

// roundDecoder decodes the rounds of a chunk, one after the other, and those of the chunk after it.
type roundDecoder struct {
	number  int // of the last round
	at      time.Time
	head    roundHead
	answers map[question]*answer
	records []*answer // of the last round
	before  []live.Record
}

// answer is the last response to a question, and in which round it came.
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

// add takes the next round, and keeps nothing of content.
func (d *roundDecoder) add(at time.Time, content []byte) error {
	head, rest, err := decodeHead(content)
	if err != nil {
		return err
	}
	if d.answers == nil {
		d.answers = map[question]*answer{}
	}
	d.before = d.scrapes()
	d.number++
	d.at, d.head, d.records = at, head, nil
	seen, sum := questions{}, 0
	for len(rest) > 0 {
		line, behind, _ := bytes.Cut(rest, []byte("\n"))
		var x roundRecord
		if err := json.Unmarshal(line, &x); err != nil {
			return fmt.Errorf("read a round of answers: %w", err)
		}
		if x.Size < 0 || x.Size > len(behind) {
			return io.ErrUnexpectedEOF
		}
		q := seen.of(&x.Record)
		switch last := d.answers[q]; {
		case x.Same && last == nil:
			return errors.New("read a round of answers: a response is missing")
		case x.Same:
			x.Response = last.record.Response
		case x.Size > 0:
			x.Response = bytes.Clone(behind[:x.Size])
		}
		if sum += len(x.Response); sum > maxResponses {
			return fmt.Errorf("the answers of one round have more than %d MiB", maxResponses>>20)
		}
		a := &answer{d.number, x.Record}
		if d.answers[q] = a; len(d.answers) > maxQuestions {
			return fmt.Errorf("the answers are to more than %d questions", maxQuestions)
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

// lasting is how many rounds an answer may be older than the last one, if its question is not asked in every round.
const lasting = 4

// last returns the records of the last round, and the older ones that still hold.
func (d *roundDecoder) last() []live.Record {
	list := make([]live.Record, 0, len(d.records))
	for _, a := range d.records {
		list = append(list, a.record)
	}
	var older []*answer
	for _, a := range d.answers {
		if a.round < d.number && a.round >= d.number-lasting && live.IsTold(&a.record) {
			older = append(older, a)
		}
	}
	slices.SortFunc(older, func(a, b *answer) int {
		return cmp.Or(cmp.Compare(a.record.Address, b.record.Address), bytes.Compare(a.record.Request, b.record.Request))
	})
	for _, a := range older {
		list = append(list, a.record)
	}
	return list
}

package rounds

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"kitescope/inspect/live"
	"kitescope/inspect/model"
)

// Header is the beginning of a round: the revision, and what is between rounds.
func Header(content []byte) (revision int64, every time.Duration, err error) {
	r := reader{b: content}
	revision = int64(r.uvarint())
	every = milliseconds(r.uvarint())
	if revision < 0 {
		r.fail()
	}
	return revision, every, r.err
}

func milliseconds(n uint64) time.Duration {
	const most = 30 * 24 * time.Hour
	return time.Duration(min(n, uint64(most.Milliseconds()))) * time.Millisecond
}

// microseconds is a duration; what no record says is bounded, so that sums do not overflow.
func microseconds(n int64) time.Duration {
	const most = int64(10 * 365 * 24 * time.Hour / time.Microsecond)
	return time.Duration(max(-most, min(n, most))) * time.Microsecond
}

// Limits of what a Decoder holds of bytes from outside.
const (
	maxQuestions = 1 << 20
	maxAnswer    = 128 << 20
	maxHeld      = 2 << 30
)

// Decoder takes the rounds of one chunk in.
type Decoder struct {
	round int
	at    time.Time
	// revision and every are those of the last round.
	revision int64
	every    time.Duration
	answers  []*answer
	// newest are the last of those to the same question.
	newest map[question]*answer
	held   int64
}

// answer is what was said last to a question.
type answer struct {
	question
	// round is the last in which it was asked, record that of then, without the answer.
	round  int
	record live.Record
	// samples stands for the answer where it is a text of /metrics, of which all that moves is numbers.
	response []byte
	samples  *sampleText
	none     bool
	// first is the same question before it in a round, steps what leads from that scrape to this one; nil: it is held by itself.
	first *answer
	steps []byte
}

// NewDecoder is one that knows no round.
func NewDecoder() *Decoder { return &Decoder{newest: map[question]*answer{}} }

// Clone is a Decoder of its own that has taken the same rounds in.
func (d *Decoder) Clone() *Decoder {
	c := *d
	c.answers, c.newest = make([]*answer, len(d.answers)), make(map[question]*answer, len(d.newest))
	at := make(map[*answer]*answer, len(d.answers))
	for i, a := range d.answers {
		own := *a // what it points to is replaced, and not changed, but for samples
		if a.samples != nil {
			own.samples = &sampleText{lines: slices.Clone(a.samples.lines), bytes: a.samples.bytes}
		}
		c.answers[i], at[a] = &own, &own
	}
	for _, a := range c.answers {
		if a.first != nil {
			a.first = at[a.first]
		}
	}
	for q, a := range d.newest {
		c.newest[q] = at[a]
	}
	return &c
}

// Weight is about how many bytes a Clone takes: texts are shared.
func (d *Decoder) Weight() int64 {
	const answerSize, lineSize = 512, 80
	sum := int64(0)
	for _, a := range d.answers {
		if sum += answerSize; a.samples != nil {
			sum += lineSize * int64(len(a.samples.lines))
		}
	}
	return sum
}

// Add takes the next round. After an error the Decoder is of no use.
func (d *Decoder) Add(at time.Time, content []byte) error {
	r := &reader{b: content}
	d.round++
	d.at, d.revision, d.every = at, int64(r.uvarint()), milliseconds(r.uvarint())
	n, id := r.length(maxQuestions), 0
	for range n {
		id += r.length(maxQuestions)
		if r.err != nil || id > len(d.answers) || id >= maxQuestions {
			return errors.Join(r.err, errBroken)
		}
		if id == len(d.answers) {
			d.answers = append(d.answers, &answer{question: question{
				role: string(r.text(1 << 10)), node: model.NodeID(r.varint()), address: string(r.text(1 << 12)), method: string(r.text(1 << 12)), request: string(r.text(maxAnswer)),
			}})
			a := d.answers[id]
			d.held += int64(len(a.request))
			a.first = d.newest[a.question]
			d.newest[a.question] = a
		}
		if err := d.record(d.answers[id], r); err != nil {
			return err
		}
		id++
	}
	return r.err
}

// record reads what is behind a question.
func (d *Decoder) record(a *answer, r *reader) error {
	flags := r.byte()
	a.round = d.round
	a.record = live.Record{Role: a.role, Node: a.node, Address: a.address, Method: a.method, Outcome: model.Answered.String()}
	if flags&hasNoMoment == 0 {
		a.record.At = d.at.Add(microseconds(r.varint()))
	}
	a.record.Took = microseconds(r.varint())
	before := d.size(a)
	err := a.take(flags&answerMask, r)
	if d.held += d.size(a) - before; d.held > maxHeld {
		return fmt.Errorf("the answers of one round have more than %d MiB", maxHeld>>20)
	}
	if flags&hasError != 0 {
		a.record.Error = string(r.text(1 << 16))
	}
	if flags&hasOutcome != 0 {
		a.record.Outcome = string(r.text(1 << 10))
	}
	if flags&hasPace != 0 {
		a.record.Pace = readPace(r)
	}
	return errors.Join(err, r.err)
}

func (d *Decoder) size(a *answer) int64 {
	if a.samples != nil {
		return int64(a.samples.bytes)
	}
	return int64(len(a.response) + len(a.steps))
}

// take reads an answer.
func (a *answer) take(kind byte, r *reader) error {
	a.none = kind == answerNone
	switch kind {
	case answerNone, answerSame:
		return nil
	case answerWhole:
		text := r.text(maxAnswer)
		a.steps = nil
		if a.response, a.samples = nil, nil; a.method == methodMetrics {
			a.samples = newSampleText(text)
		} else {
			a.response = slices.Clone(text)
		}
		return nil
	case answerSamples:
		if a.first != nil {
			if a.first.round != a.round || a.first.none || a.method != methodMetrics {
				return errBroken
			}
			a.steps, a.samples = slices.Clone(r.text(maxAnswer)), nil
			return nil
		}
		if a.samples == nil {
			return errBroken
		}
		return a.samples.apply(r.text(maxAnswer), maxAnswer)
	case answerDifference:
		if a.samples != nil {
			return errBroken
		}
		var err error
		a.response, err = applyDifference(a.response, r.text(maxAnswer), maxAnswer)
		return err
	}
	return errBroken
}

func readPace(r *reader) *live.Pace {
	p := &live.Pace{Connect: microseconds(r.varint()), Dial: microseconds(r.varint())}
	last := time.Duration(0)
	for range r.length(1 << 10) {
		last += microseconds(r.varint())
		took := r.varint()
		p.Probes = append(p.Probes, live.Probe{After: last, Took: microseconds(took >> 1), Open: took&1 == 1})
		if r.err != nil {
			return nil
		}
	}
	return p
}

// Round is the last round that was added.
func (d *Decoder) Round() (*Round, error) {
	r := &Round{At: d.at, Revision: d.revision, Every: d.every}
	for _, a := range d.answers {
		if a.round != d.round {
			continue
		}
		if a.method == methodEtcd && a.role == "" {
			r.Etcd = &model.Etcd{}
			if err := json.Unmarshal(a.response, r.Etcd); err != nil {
				return nil, fmt.Errorf("read etcd answers: %w", err)
			}
			continue
		}
		whole, err := a.whole()
		if err != nil {
			return nil, err
		}
		r.Records = append(r.Records, whole)
	}
	return r, nil
}

// whole is the record with its answer.
func (a *answer) whole() (live.Record, error) {
	r := a.record
	if a.request != "" {
		r.Request = []byte(a.request)
	}
	if a.none {
		return r, nil
	}
	text, err := a.text(0)
	switch {
	case err != nil:
		return r, err
	case text != nil:
		r.Response = text.append(make([]byte, 0, text.bytes+text.bytes/4))
	default:
		r.Response = slices.Clone(a.response)
	}
	return r, nil
}

// text is a text of /metrics; nil if it is something else.
func (a *answer) text(depth int) (*sampleText, error) {
	const most = 8 // scrapes in a round
	switch {
	case a.steps == nil:
		return a.samples, nil
	case depth == most:
		return nil, errBroken
	}
	before, err := a.first.text(depth + 1)
	if err != nil || before == nil {
		return nil, errors.Join(err, errBroken)
	}
	text := &sampleText{lines: slices.Clone(before.lines), bytes: before.bytes}
	return text, text.apply(a.steps, maxAnswer)
}

// Last are the last records of questions that the round did not ask, and one of so many before it did.
func (d *Decoder) Last(within int, wanted func(*live.Record) bool) []live.Record {
	var list []live.Record
	for _, a := range d.answers {
		if a.round < d.round && a.round >= d.round-within && a.method != methodEtcd {
			if r, err := a.whole(); err == nil && wanted(&r) {
				list = append(list, r)
			}
		}
	}
	return list
}

// Scrapes are the records of the last round that are texts of /metrics.
func (d *Decoder) Scrapes() []live.Record {
	var list []live.Record
	for _, a := range d.answers {
		if a.round == d.round && a.method == methodMetrics && !a.none {
			if r, err := a.whole(); err == nil {
				list = append(list, r)
			}
		}
	}
	return list
}

package msgid

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"math"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
)

// Form is how an id was written down.
type Form string

// The forms.
const (
	FormParts   Form = "parts"   // with slashes, as queues' tools write them
	FormDecimal Form = "decimal" // a number
	FormBase36  Form = "base36"  // a number, on streaming nodes
	FormBase64  Form = "base64"
	FormHex     Form = "hex"
)

// Reading is one meaning of an id.
type Reading struct {
	ID
	Form Form
}

// maxText bounds what is read: no id is longer than a few dozen bytes.
const maxText = 512

// FromText lists what a text can mean, the most likely first; none if it is no message id.
func FromText(text string) (list []Reading) {
	text = strings.TrimSpace(text)
	if len(text) > maxText {
		return nil
	}
	add := func(form Form, ids ...ID) {
		for _, id := range ids {
			list = append(list, Reading{id, form})
		}
	}
	if strings.Contains(text, "/") {
		if ids := fromParts(text); ids != nil {
			add(FormParts, ids...)
			return list
		}
	}
	if digits, ok := strings.CutPrefix(strings.ToLower(text), "0x"); ok {
		if b, err := hex.DecodeString(digits); err == nil {
			add(FormHex, FromBytes(b)...)
		}
		return list
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil && n >= 0 {
		add(FormDecimal, offsets(n)...)
	}
	if b, err := base64.StdEncoding.DecodeString(text); err == nil && text != "" {
		add(FormBase64, FromBytes(b)...)
	}
	if b, err := hex.DecodeString(text); err == nil && text != "" {
		add(FormHex, FromBytes(b)...)
	}
	if n, err := strconv.ParseInt(text, base36, 64); err == nil && n >= 0 && strings.ToLower(text) == text {
		add(FormBase36, offsets(n)...)
	}
	return list
}

// Filter keeps the readings of one queue; all of them where it is "".
func Filter(list []Reading, queue Queue) []Reading {
	return slices.DeleteFunc(slices.Clone(list), func(r Reading) bool { return queue != "" && r.Queue != queue })
}

func offsets(n int64) []ID { return []ID{{Queue: Kafka, Offset: n}, {Queue: RocksMQ, Offset: n}} }

// fromParts reads "segment/entry", "ledger/entry/batch" and "ledger/entry/partition/batch"; the first can be Pulsar's
// without a batch.
func fromParts(text string) []ID {
	var n []int64
	for part := range strings.SplitSeq(text, "/") {
		v, err := strconv.ParseInt(part, 10, 64)
		if err != nil {
			return nil
		}
		n = append(n, v)
	}
	switch len(n) {
	case 2:
		return []ID{
			{Queue: Woodpecker, Segment: n[0], Entry: n[1]},
			{Queue: Pulsar, Ledger: n[0], Entry: n[1], Partition: -1, Batch: -1},
		}
	case 3:
		return []ID{{Queue: Pulsar, Ledger: n[0], Entry: n[1], Partition: -1, Batch: n[2]}}
	case 4:
		return []ID{{Queue: Pulsar, Ledger: n[0], Entry: n[1], Partition: n[2], Batch: n[3]}}
	}
	return nil
}

const offsetBytes = 8

// FromBytes lists what the bytes of a checkpoint can mean, the most likely first.
func FromBytes(b []byte) (list []ID) {
	if id, ok := woodpecker(b); ok {
		list = append(list, id)
	}
	if id, ok := pulsar(b); ok {
		list = append(list, id)
	}
	if len(b) == offsetBytes {
		if n := binary.LittleEndian.Uint64(b); n <= math.MaxInt64 {
			list = append(list, offsets(int64(n))...)
		}
	}
	return list
}

// woodpecker reads exactly what Woodpecker writes: fields 1 and 2, zeros left out.
func woodpecker(b []byte) (ID, bool) {
	values, ok := fields(b)
	if !ok {
		return ID{}, false
	}
	id := ID{Queue: Woodpecker, Segment: values[1], Entry: values[2]}
	return id, string(id.Bytes()) == string(b)
}

// pulsar reads MessageIdData: ledger and entry are required, partition and batch -1 where they are left out.
func pulsar(b []byte) (ID, bool) {
	values, ok := fields(b)
	if !ok {
		return ID{}, false
	}
	id := ID{Queue: Pulsar, Partition: -1, Batch: -1}
	for n, into := range map[protowire.Number]*int64{
		1: &id.Ledger, 2: &id.Entry, 3: &id.Partition, 4: &id.Batch, 6: &id.BatchSize,
	} {
		v, there := values[n]
		if !there && n <= 2 {
			return ID{}, false
		}
		if there {
			*into = v
			delete(values, n)
		}
	}
	return id, len(values) == 0
}

// fields are the numbers of a message that has nothing but numbers.
func fields(b []byte) (map[protowire.Number]int64, bool) {
	values := map[protowire.Number]int64{}
	for len(b) > 0 {
		number, kind, n := protowire.ConsumeTag(b)
		if n < 0 || kind != protowire.VarintType {
			return nil, false
		}
		v, m := protowire.ConsumeVarint(b[n:])
		if _, twice := values[number]; m < 0 || twice {
			return nil, false
		}
		values[number] = int64(v)
		b = b[n+m:]
	}
	return values, true
}

// noField stands for a field that is never written.
const noField = math.MinInt64

// appendFields writes numbers as the fields from 1 on; zeros only where they are asked for.
func appendFields(b []byte, zeros bool, values ...int64) []byte {
	for i, v := range values {
		if v == noField || v == 0 && !zeros {
			continue
		}
		b = protowire.AppendTag(b, protowire.Number(i+1), protowire.VarintType)
		b = protowire.AppendVarint(b, uint64(v))
	}
	return b
}

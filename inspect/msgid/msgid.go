// Package msgid reads and writes the message ids of Milvus's queues, which are how a position in a queue is stored.
//
// What enters is an id as somebody found it: bytes of a checkpoint, base64, hex, a number, or parts with slashes. What
// leaves are the readings that fit it exactly, most likely first: several queues write ids that look alike.
//
//   - Kafka and RocksMQ number messages. A checkpoint has the number as 8 bytes, little-endian (Milvus
//     pkg/mq/msgstream/mqwrapper), a streaming node as text to the base 36 (pkg/streaming/util/message/encoder.go).
//   - Pulsar has ledger, entry and place in a batch: MessageIdData of its PulsarApi.proto, in base64 on streaming
//     nodes.
//   - Woodpecker has segment and entry: LogMessageIdData of its logstore.proto, in base64 on streaming nodes.
package msgid

import (
	"encoding/base64"
	"encoding/binary"
	"strconv"
)

// Queue is a message queue.
type Queue string

// The queues, as Milvus names them in mq.type.
const (
	Kafka      Queue = "kafka"
	RocksMQ    Queue = "rocksmq"
	Pulsar     Queue = "pulsar"
	Woodpecker Queue = "woodpecker"
)

// Queues are all of them.
func Queues() []Queue { return []Queue{Kafka, RocksMQ, Pulsar, Woodpecker} }

// ID is one message id.
type ID struct {
	Queue Queue
	// Offset is Kafka's and RocksMQ's number.
	Offset int64
	// Ledger is Pulsar's, Segment Woodpecker's; Entry is of both.
	Ledger, Segment, Entry int64
	// Partition and Batch are Pulsar's, -1 where there is none; BatchSize is 0 there.
	Partition, Batch, BatchSize int64
}

// String is the id as the queue's own tools write it.
func (id ID) String() string {
	n := func(v int64) string { return strconv.FormatInt(v, 10) }
	switch id.Queue {
	case Woodpecker:
		return n(id.Segment) + "/" + n(id.Entry)
	case Pulsar:
		return n(id.Ledger) + "/" + n(id.Entry) + "/" + n(id.Batch)
	default:
	}
	return n(id.Offset)
}

// Bytes is the id as a checkpoint has it.
func (id ID) Bytes() []byte {
	switch id.Queue {
	case Woodpecker:
		return appendFields(nil, false, id.Segment, id.Entry)
	case Pulsar:
		return appendFields(nil, true, id.Ledger, id.Entry, id.Partition, id.Batch, noField, id.BatchSize)
	default:
	}
	return binary.LittleEndian.AppendUint64(nil, uint64(id.Offset))
}

// Text is the id as a streaming node has it.
func (id ID) Text() string {
	switch id.Queue {
	case Woodpecker, Pulsar:
		return base64.StdEncoding.EncodeToString(id.Bytes())
	default:
	}
	return strconv.FormatInt(id.Offset, base36)
}

const base36 = 36

package meta

import (
	"testing"

	"github.com/milvus-io/milvus-proto/go-api/v3/commonpb"
	"github.com/milvus-io/milvus/pkg/v3/proto/streamingpb"

	"kitescope/inspect/msgid"
)

// TestNumbersOfStreamingNodes checks that a streaming node's base-36 id becomes the number that vchannels store as
// bytes, and that other queues' ids and invalid numbers are unchanged.
func TestNumbersOfStreamingNodes(t *testing.T) {
	for _, x := range []struct {
		id    string
		queue commonpb.WALName
		want  int64
		ok    bool
	}{
		{msgid.ID{Queue: msgid.Kafka, Offset: 11742}.Text(), commonpb.WALName_Kafka, 11742, true},
		{msgid.ID{Queue: msgid.RocksMQ, Offset: 449123456789}.Text(), commonpb.WALName_RocksMQ, 449123456789, true},
		{"0", commonpb.WALName_Kafka, 0, true},
		{"12345678", commonpb.WALName_Kafka, 82906087076, true}, // eight digits, not bytes
		{"", commonpb.WALName_Kafka, 0, false},
		{"-5", commonpb.WALName_Kafka, 0, false},
		{"1/2", commonpb.WALName_Kafka, 0, false},
		{"12345678", commonpb.WALName_Pulsar, 0, false},
		{"CAMQBA==", commonpb.WALName_WoodPecker, 0, false},
	} {
		c := walCheckpoint("dml_0",
			&streamingpb.WALCheckpoint{MessageId: &commonpb.MessageID{Id: x.id, WALName: x.queue}})
		if got, ok := c.Offset(); ok != x.ok || ok && got != x.want {
			t.Errorf("%q of %s: %d, %v; want %d, %v", x.id, x.queue, got, ok, x.want, x.ok)
		}
	}
}

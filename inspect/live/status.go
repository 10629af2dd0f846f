package live

import (
	"cmp"
	"strings"

	"github.com/milvus-io/milvus-proto/go-api/v3/commonpb"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"kitescope/inspect/model"
)

// checkStatus checks the status inside a response, because gRPC returns OK for a call to the wrong node. The Decoder
// checks it again, for recordings; here it decides which calls follow.
func checkStatus(method string, response []byte) *failure {
	status, err := statusOf(method, response)
	switch {
	case err != nil:
		return newFailure(model.Garbled, "not an answer to %s", lastPart(method))
	case status.GetCode() == 0 && status.GetErrorCode() == commonpb.ErrorCode_Success:
		return nil
	}
	return newFailure(statusOutcome(status), "%s", status.GetReason())
}

// statusField returns the field number of the status in a response: 1 in every message requested here except
// ComponentStates.
func statusField(method string) protowire.Number {
	if strings.HasSuffix(method, "/GetComponentStates") {
		return 3
	}
	return 1
}

// statusOf decodes the status in a response without the rest, which may be large.
func statusOf(method string, response []byte) (*commonpb.Status, error) {
	field := statusField(method)
	status := new(commonpb.Status)
	var broken error
	err := eachField(response, func(number protowire.Number, value []byte) {
		if number == field && broken == nil {
			broken = proto.UnmarshalOptions{Merge: true}.Unmarshal(withoutLargeFields(value), status)
		}
	})
	return status, cmp.Or(err, broken)
}

// eachField calls visit for the length-delimited fields of a message.
func eachField(message []byte, visit func(protowire.Number, []byte)) error {
	for b := message; len(b) > 0; {
		number, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			return protowire.ParseError(n)
		}
		size := protowire.ConsumeFieldValue(number, kind, b[n:])
		if size < 0 {
			return protowire.ParseError(size)
		}
		if kind == protowire.BytesType {
			value, _ := protowire.ConsumeBytes(b[n:])
			visit(number, value)
		}
		b = b[n+size:]
	}
	return nil
}

// withoutLargeFields returns a message without fields that are longer than readable text.
func withoutLargeFields(message []byte) []byte {
	if len(message) <= maxProse {
		return message
	}
	var kept []byte
	for b := message; len(b) > 0; {
		_, _, n := protowire.ConsumeField(b)
		if n < 0 {
			return message // decoding reports the error
		}
		if n <= maxProse && len(kept) <= 2*maxProse {
			kept = append(kept, b[:n]...)
		}
		b = b[n:]
	}
	return kept
}

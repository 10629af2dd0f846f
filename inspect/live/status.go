package live

import (
	"cmp"
	"strings"

	"github.com/milvus-io/milvus-proto/go-api/v3/commonpb"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"kitescope/inspect/model"
)

// judge reads the status inside an answer: gRPC says OK to "this is not the node you
// meant". The Decoder does so again, for recordings; here it decides what is asked next.
func judge(method string, response []byte) *failure {
	status, err := statusOf(method, response)
	switch {
	case err != nil:
		return failed(model.Garbled, "no answer to %s", lastPart(method))
	case status.GetCode() == 0 && status.GetErrorCode() == commonpb.ErrorCode_Success:
		return nil
	}
	return failed(statusOutcome(status), "%s", status.GetReason())
}

// statusField is the number of the status in an answer: 1 in every message that is asked
// for here, but in ComponentStates.
func statusField(method string) protowire.Number {
	if strings.HasSuffix(method, "/GetComponentStates") {
		return 3
	}
	return 1
}

// statusOf finds the status in an answer without decoding the rest, which may be large.
func statusOf(method string, response []byte) (*commonpb.Status, error) {
	field := statusField(method)
	status := new(commonpb.Status)
	var broken error
	err := eachField(response, func(number protowire.Number, value []byte) {
		if number == field && broken == nil {
			broken = proto.UnmarshalOptions{Merge: true}.Unmarshal(brief(value), status)
		}
	})
	return status, cmp.Or(err, broken)
}

// eachField visits the fields of a message that have a length.
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

// brief leaves out of a message what is longer than any text for people.
func brief(message []byte) []byte {
	if len(message) <= maxProse {
		return message
	}
	var kept []byte
	for b := message; len(b) > 0; {
		_, _, n := protowire.ConsumeField(b)
		if n < 0 {
			return message // decoding says what is wrong with it
		}
		if n <= maxProse && len(kept) <= 2*maxProse {
			kept = append(kept, b[:n]...)
		}
		b = b[n:]
	}
	return kept
}

// Package live asks the processes of a cluster what they really serve. What enters is
// a Cluster, whose sessions say whom to ask; what leaves is a model.Runtime.
//
//  1. Open settles how processes are reached: address map, proxy, TLS, credentials.
//  2. Client.Ask puts the questions that fit each role, in parallel, each with a deadline. Every
//     answer, and every reason why there is none, becomes a Record.
//  3. Decode makes a Runtime of Records: the same for a live cluster, a recording and a bundle.
//
// Nothing here changes a cluster: the methods that are called only read.
package live

import (
	"time"

	"kitescope/inspect/model"
)

// Record is one question to a process and its raw answer, as a recording keeps it: a line
// of JSON. The first seven fields are those of recordings that other tools write.
type Record struct {
	Role    string       `json:"role"`
	Node    model.NodeID `json:"server_id"`
	Address string       `json:"address"`
	// Method is a gRPC method, "/milvus.proto.query.QueryNode/GetDataDistribution", or "GET /metrics".
	Method string `json:"method"`
	// Request and Response are protobuf messages, or the body of an HTTP answer.
	Request  []byte `json:"request,omitempty"`
	Response []byte `json:"response,omitempty"`
	// Error is why there is no answer: "UNIMPLEMENTED: unknown method GetMetrics".
	Error string `json:"error,omitempty"`
	// Outcome is the word of a model.Outcome; "" in recordings of others, where Error tells.
	Outcome string `json:"outcome,omitempty"`
	// At is when the answer came, Took how long it took.
	At   time.Time     `json:"at,omitzero"`
	Took time.Duration `json:"took_ns,omitempty"`
}

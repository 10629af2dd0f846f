// Package live asks the processes of a cluster what they really serve. What enters is
// a Cluster, whose sessions say whom to ask; what leaves is a model.Runtime.
//
//  1. Open settles how processes are reached: address map, proxy, TLS, credentials.
//  2. Client.Ask plans whom to ask what, by the sessions and their roles, and asks all servers
//     at once, each over one connection and with one deadline. If none of them knows the
//     cluster's name that is sent along, all are asked once more without it.
//  3. The first answers lead on: a configuration tells the port of its process's HTTP server
//     (metrics, health) and the brokers of the message queue. Who does not tell its port is
//     looked for where all others have theirs.
//  4. Every answer, and every reason why there is none, becomes a Record. A failure says how it
//     ended, in one of the words of model.Outcome, and why, in words for people. Records that
//     are kept pass Redact.
//  5. A Decoder takes Records in, one after the other, and makes a Runtime of them: the same for
//     a live cluster, a recording (ReadFile) and a bundle (ReadRecords).
//
// Nothing here changes a cluster: the methods that are called only read. And nothing that comes
// from there is trusted: one answer is bounded (Options.MaxAnswer), all that are under way
// (room), and what they become once they are decoded (weigh).
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
	// Pace is how fast the process answered this question each time; nil: it was asked once.
	Pace *Pace `json:"pace,omitempty"`
}

// Package live queries the processes of a cluster for their actual state. From the sessions of a
// model.Cluster it builds a model.Runtime.
//
//  1. Open configures how processes are reached: address map, proxy, TLS, credentials.
//  2. Client.Ask plans the calls from the sessions and their roles, and queries all servers in
//     parallel, each over one connection and with one deadline. If no process accepts the cluster
//     name that is sent with the calls, all are queried again without it.
//  3. The first responses lead to further endpoints: a configuration holds the port of its
//     process's HTTP server (metrics, health) and the brokers of the message queue. Processes that
//     do not report their port are tried at the port of all others.
//  4. Every response, and every reason for a missing response, becomes a Record. A failure has an outcome,
//     which is a word of model.Outcome, and a readable reason. Records that are stored pass Redact.
//  5. A Decoder decodes Records one after the other and builds a Runtime: the same for a live
//     cluster, a recording (ReadFile) and a bundle (ReadRecords).
//
// The package never changes a cluster: the methods that it calls only read. It trusts no response: it bounds
// the size of each (Options.MaxResponse), of all in flight (budget), and of the decoded data (decodedSize).
package live

import (
	"time"

	"kitescope/inspect/model"
)

// Record is one call to a process and its raw response, as stored in a recording: a line of JSON. The first
// seven fields are those of recordings by other programs.
type Record struct {
	Role    string       `json:"role"`
	Node    model.NodeID `json:"server_id"`
	Address string       `json:"address"`
	// Method is a gRPC method, e.g. "/milvus.proto.query.QueryNode/GetDataDistribution", or "GET /metrics".
	Method string `json:"method"`
	// Request and Response are protobuf messages, or the body of an HTTP response.
	Request  []byte `json:"request,omitempty"`
	Response []byte `json:"response,omitempty"`
	// Error is the reason for a missing response, e.g. "UNIMPLEMENTED: unknown method GetMetrics".
	Error string `json:"error,omitempty"`
	// Outcome is the word of a model.Outcome, or "" in recordings by other programs, where Error decides.
	Outcome string `json:"outcome,omitempty"`
	// At is the time of the response, Took its duration.
	At   time.Time     `json:"at,omitzero"`
	Took time.Duration `json:"took_ns,omitempty"`
	// Pace holds the response times if the call was repeated; nil if it was made once.
	Pace *Pace `json:"pace,omitempty"`
}

// Package live sends the requests of a log to servers: Milvus 2.1 to 2.6 over gRPC, PostgreSQL with pgvector,
// OpenSearch with its k-NN plugin, and MariaDB. It only reads.
//
// Answers have hits with their distances in Milvus's convention, and the time of each request. Every call has a
// deadline. An error ends its request, never the run.
//
// Open finds the kind of server by the scheme of the address (see kinds), reads the description of the collection,
// and rejects a collection that cannot be searched with a one-line error and a hint. Session opens a connection. Ask
// sends a Request as the server's own client would, and decodes the response.
//
// To add a kind of server, add a file with a function like openMilvus, and a line in kinds.
package live

import (
	"cmp"
	"context"
	"crypto/tls"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"kitescope/engine"
	"kitescope/engine/dist"
	"kitescope/replay/load"
)

// Target is a server that serves the collection given by Options.
type Target interface {
	load.Target
	// Description returns the description of the collection as of Open.
	Description() Description
	// Server returns the address of the server and the process behind it.
	Server() Server
}

// Server describes the listener of a target, so that its process can be found, e.g. to measure its resource usage.
type Server struct {
	// Network is "tcp" with Address host:port, or "unix" with a path as Address.
	Network, Address string
	// Commands holds the possible names of its process.
	Commands []string
	// SingleProcess reports whether one process with these arguments does all of the work; if nil, it always does.
	SingleProcess func(arguments []string) bool
}

// Options holds the parameters of a target.
type Options struct {
	// Database is the database of Milvus; "" selects the one in the address, or the default.
	Database string
	// Collection is the collection or the table (with schema and quotes as in SQL). Field is the vector field or
	// column; "" selects the only one. KeyField is the key field; "" selects the primary key.
	Collection, Field, KeyField string
	// Expected is the collection of the log, used if neither Collection nor the address names one.
	Expected string
	// NumberKeys parses keys as numbers if the server has them only as text (ids of OpenSearch).
	NumberKeys bool
	// Metric is the metric by its Milvus name (L2, IP, COSINE, HAMMING, JACCARD; L1 for pgvector); "" selects the
	// index's metric.
	Metric string
	// Consistency is the consistency level of a Milvus search: strong, bounded, session or eventually; "" selects the
	// collection's level. Session is equivalent to eventually, because a session that never wrote has nothing to wait
	// for.
	Consistency string
	// IgnoreGrowing skips growing segments (since Milvus 2.2.3; earlier versions ignore it).
	IgnoreGrowing bool
	// Dim and Element describe the log's vectors. They are compared with every request, and at Open if Dim is not 0.
	Dim     int
	Element dist.Element
	// Deadline is the deadline of each call; 0 means 10 s. The deadline of the context also applies.
	Deadline time.Duration
	// MaxRequests limits the total number of requests over all sessions; 0 means no limit.
	MaxRequests int64
	// Token is a Milvus token, used instead of the user and password in the address.
	Token string
	// TLS enables TLS to Milvus, with client certificates for mutual TLS; nil means plain text. For other servers
	// the address sets it.
	TLS *tls.Config
	// Dial opens connections; nil means TCP without a proxy.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// Description is the server's description of a collection. Unknown text is "".
type Description struct {
	Kind string // name of the kind, e.g. pgvector
	// Database, Collection, Field and KeyField are the server's own names. Aliases of Milvus are resolved.
	Database, Collection, Field, KeyField string
	TextKeys                              bool
	Dim                                   int
	Element                               dist.Element
	Metric                                string // metric of the requests
	Index                                 string // index type (HNSW, IVF_FLAT; hnsw, ivfflat), "" without an index
	Consistency                           string // consistency level of the requests; Milvus only
}

const defaultDeadline = 10 * time.Second

// kind is a kind of server.
type kind struct {
	name    string
	schemes []string // the first one is shown
	port    string   // default port
	path    string   // of an address after the port, as shown in help
	open    func(ctx context.Context, a *address, o *Options) (Target, error)
}

// kinds returns all supported kinds.
func kinds() []kind {
	return []kind{
		{"milvus", []string{"milvus"}, "19530", "[/DATABASE]", openMilvus},
		{"pgvector", []string{"postgres", "postgresql"}, "5432", "/DATABASE", openPostgres},
		{"opensearch", []string{"opensearch"}, "9200", "/INDEX", openOpenSearch},
		{"mariadb", []string{"mariadb"}, "3306", "/DATABASE?table=NAME", openMariaDB},
	}
}

// Shapes returns the form of the address of each kind, for help.
func Shapes() []string {
	var shapes []string
	for _, k := range kinds() {
		shapes = append(shapes, k.schemes[0]+"://[USER@]HOST:PORT"+k.path)
	}
	return shapes
}

// IsMilvus reports whether an address is a Milvus address. Only such a target uses the database, TLS and token of
// the replayed cluster.
func IsMilvus(address string) bool {
	scheme, _, whole := strings.Cut(address, "://")
	return !whole || slices.Contains(kinds()[0].schemes, strings.ToLower(scheme))
}

// Schemes returns the address schemes that Open supports.
func Schemes() []string {
	var names []string
	for _, k := range kinds() {
		names = append(names, k.schemes...)
	}
	return names
}

// Open connects to a server and finds the collection. The address is one of
//
//	milvus://[user:password@]host[:port][/database]
//	host:port (a Milvus)
//	postgres://[user[:password]@]host[:port][/database][?sslmode=...]
//	opensearch://[user:password@]host[:port]/index[?tls=...]
//	mariadb://[user:password@]host[:port]/database?table=name[&tls=...]
//
// Open returns a *FaultError if requests could not be served, e.g. because the collection is missing or not loaded,
// its dimensions differ, privileges are missing, or the kind of server is unknown.
func Open(ctx context.Context, uri string, o Options) (Target, error) {
	a, found, err := parseAddress(uri)
	if err != nil {
		return nil, err
	}
	if o.Deadline <= 0 {
		o.Deadline = defaultDeadline
	}
	if o.Dial == nil {
		o.Dial = (&net.Dialer{}).DialContext
	}
	o.Metric = strings.ToUpper(o.Metric)
	return found.open(ctx, a, &o)
}

// name sets the collection: the one in Options, the one in the address ("" if it has none), or the expected one.
func (o *Options) name(a *address, inAddress string) error {
	if o.Collection != "" && inAddress != "" && o.Collection != inAddress {
		return faultf(Mismatch, "name one of them", "two collections are named: %s and %s", clip(inAddress),
			clip(o.Collection))
	}
	if o.Collection = cmp.Or(o.Collection, inAddress, o.Expected); o.Collection == "" {
		return fault(Mismatch, "no collection given", "give the collection or table to search in %s", a.redacted())
	}
	return nil
}

// budget counts requests.
type budget struct {
	limit int64 // 0 means no limit
	used  atomic.Int64
}

// take counts one request. It returns an error if the limit is reached.
func (b *budget) take() error {
	if used := b.used.Add(1); b.limit > 0 && used > b.limit {
		return fault(Bounded, "not sent: request limit reached", "raise the limit to send more")
	}
	return nil
}

// fits returns an error if a request cannot be sent to the collection d.
func (d *Description) fits(r *load.Request) error {
	v := r.Vectors
	switch {
	case v == nil || v.Rows == 0:
		return fault(Mismatch, "not sent: the request has no vectors", "")
	case v.Element != d.Element:
		return fault(Mismatch,
			"not sent: the request has "+elementName(v.Element)+" vectors, the collection "+elementName(d.Element), "")
	case v.Dim != d.Dim:
		return fault(Mismatch, "not sent: the request's vectors and the collection's differ in dimensions", "")
	case r.K < 1:
		return fault(Mismatch, "not sent: k is below 1", "")
	case slices.ContainsFunc(r.Keys, func(k engine.Key) bool { return k.IsText != d.TextKeys }):
		return fault(Mismatch, "not sent: the filter's keys and the collection's differ in type", "")
	}
	return nil
}

// checkVectors returns an error if the log's vectors differ from the collection's, before anything is sent.
func (d *Description) checkVectors(o *Options) error {
	if o.Dim == 0 && o.Element != dist.Sparse || o.Dim == d.Dim && o.Element == d.Element {
		return nil
	}
	return faultf(Mismatch, "replay another log, or give the field it was recorded on",
		"field %s of %s has %s vectors of %d dims, the log %s of %d", d.Field, d.Collection, elementName(d.Element),
		d.Dim, elementName(o.Element), o.Dim)
}

// elementName returns the Milvus name of an element type.
func elementName(e dist.Element) string {
	switch e {
	case dist.Float32:
		return "float"
	case dist.Float16:
		return "float16"
	case dist.BFloat16:
		return "bfloat16"
	case dist.Int8:
		return "int8"
	case dist.Bit:
		return "binary"
	case dist.Sparse:
		return "sparse"
	}
	return "unknown"
}

// Package live sends requests of a log to servers: Milvus 2.1 to 2.6 over its gRPC interface, PostgreSQL with pgvector, OpenSearch
// with its k-NN plugin, MariaDB. It only ever reads.
//
// In: an address that the user named, a collection or table, requests. Out: answers with their distances, and how long each
// took. Every call has a deadline; what goes wrong is an error of that request, never the end of the run.
//
// In these steps: Open finds by the address's scheme which kind of server it is (the table in kinds), asks it what the
// collection is, and refuses what could not be searched with one line and a hint; Session takes a connection; Ask makes of a
// Request what the server's own client would send, and of the answer hits with distances in Milvus's convention.
//
// A new kind of server is one file with a function as openMilvus, and one line in kinds.
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

// Target is a server that was found to serve the collection that Options name.
type Target interface {
	load.Target
	// Description is what the server said of the collection at Open.
	Description() Description
	// Server is where connections go, and what is there.
	Server() Server
}

// Server is what listens for a target: whoever wants to know what it uses finds its process by this.
type Server struct {
	// Network is "tcp" and Address host:port, or "unix" and a path.
	Network, Address string
	// Commands are what its process may be called.
	Commands []string
	// Whole reports whether one process, of these arguments, does all of the work; nil: it always does.
	Whole func(arguments []string) bool
}

// Options say what is asked, and how.
type Options struct {
	// Database is that of Milvus, "" the one in the address or the default.
	Database string
	// Collection, or table (with its schema and quotes where SQL needs them). Field is the vectors' field or column, "" if there
	// is only one; KeyField that of the keys, "" for the primary key.
	Collection, Field, KeyField string
	// Expected is the collection if neither Collection nor the address names one: that of the log.
	Expected string
	// NumberKeys has keys that a server only has as text (ids of OpenSearch) read as numbers.
	NumberKeys bool
	// Metric in Milvus's words (L2, IP, COSINE, HAMMING, JACCARD; L1 for pgvector), "" for that of the index.
	Metric string
	// Consistency of a Milvus search: strong, bounded, session or eventually; "" as the collection says. A session that never
	// wrote has nothing to wait for: session is as eventually.
	Consistency string
	// IgnoreGrowing leaves out growing segments (Milvus 2.2.3 on; older ones pay no heed).
	IgnoreGrowing bool
	// Dim and Element are those of the log's vectors; they are compared at Open if Dim is not 0, and with each request always.
	Dim     int
	Element dist.Element
	// Deadline of each call, 0 for 10 s. That of ctx counts too.
	Deadline time.Duration
	// MaxRequests bounds what is asked in all, over all sessions; 0 for no bound.
	MaxRequests int64
	// Token of Milvus, in place of user and password in the address.
	Token string
	// TLS is for connections to Milvus in TLS, with client certificates for mutual TLS; nil for plain text. For others the address says it.
	TLS *tls.Config
	// Dial makes connections, nil for TCP without a proxy.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// Description is what a server says of a collection. Text that it does not tell is "".
type Description struct {
	Kind string // as kinds names it
	// Database, Collection and fields by their own names: an alias of Milvus is resolved.
	Database, Collection, Field, KeyField string
	TextKeys                              bool
	Dim                                   int
	Element                               dist.Element
	Metric                                string // that is asked for
	Index                                 string // its type (HNSW, IVF_FLAT; hnsw, ivfflat), "" for none
	Consistency                           string // that is asked for, of Milvus
}

const patience = 10 * time.Second

// kind is a kind of servers.
type kind struct {
	name    string
	schemes []string // the first is the one that is shown
	port    string   // by default
	path    string   // of an address after the port, as help writes it
	open    func(ctx context.Context, a *address, o *Options) (Target, error)
}

// kinds are all that can be asked.
func kinds() []kind {
	return []kind{
		{"milvus", []string{"milvus"}, "19530", "[/DATABASE]", openMilvus},
		{"pgvector", []string{"postgres", "postgresql"}, "5432", "/DATABASE", openPostgres},
		{"opensearch", []string{"opensearch"}, "9200", "/INDEX", openOpenSearch},
		{"mariadb", []string{"mariadb"}, "3306", "/DATABASE?table=NAME", openMariaDB},
	}
}

// Shapes are how addresses of each kind are written, for help.
func Shapes() []string {
	var shapes []string
	for _, k := range kinds() {
		shapes = append(shapes, k.schemes[0]+"://[USER@]HOST:PORT"+k.path)
	}
	return shapes
}

// IsMilvus reports whether an address is one of a Milvus: what is known of the replayed cluster (database, TLS, token) is for it.
func IsMilvus(address string) bool {
	scheme, _, whole := strings.Cut(address, "://")
	return !whole || slices.Contains(kinds()[0].schemes, strings.ToLower(scheme))
}

// Schemes are the schemes of addresses that Open knows.
func Schemes() []string {
	var names []string
	for _, k := range kinds() {
		names = append(names, k.schemes...)
	}
	return names
}

// Open connects to milvus://[user:password@]host[:port][/database], host:port (a Milvus),
// postgres://[user[:password]@]host[:port][/database][?sslmode=...], opensearch://[user:password@]host[:port]/index[?tls=...] or
// mariadb://[user:password@]host[:port]/database?table=name[&tls=...], and finds the collection. Whatever would keep requests from being answered is a *FaultError here: no such collection, not loaded,
// other dims, no rights, no such kind of server.
func Open(ctx context.Context, uri string, o Options) (Target, error) {
	a, found, err := parseAddress(uri)
	if err != nil {
		return nil, err
	}
	if o.Deadline <= 0 {
		o.Deadline = patience
	}
	if o.Dial == nil {
		o.Dial = (&net.Dialer{}).DialContext
	}
	o.Metric = strings.ToUpper(o.Metric)
	return found.open(ctx, a, &o)
}

// name settles the collection: what Options say, what the address does ("" if it does not), or what is expected.
func (o *Options) name(a *address, inAddress string) error {
	if o.Collection != "" && inAddress != "" && o.Collection != inAddress {
		return faultf(Mismatch, "name one of them", "two collections are named: %s and %s", clip(inAddress), clip(o.Collection))
	}
	if o.Collection = cmp.Or(o.Collection, inAddress, o.Expected); o.Collection == "" {
		return fault(Mismatch, "no collection given", "give the collection or table to search in %s", a.shown())
	}
	return nil
}

// budget counts what is asked.
type budget struct {
	most int64 // 0: no bound
	used atomic.Int64
}

// take counts one request, unless there were enough.
func (b *budget) take() error {
	if used := b.used.Add(1); b.most > 0 && used > b.most {
		return fault(Bounded, "not sent: request limit reached", "raise the limit to send more")
	}
	return nil
}

// fits reports whether a request can be asked of what d describes.
func (d *Description) fits(r *load.Request) error {
	v := r.Vectors
	switch {
	case v == nil || v.Rows == 0:
		return fault(Mismatch, "not sent: the request has no vectors", "")
	case v.Element != d.Element:
		return fault(Mismatch, "not sent: the request has "+elementName(v.Element)+" vectors, the collection "+elementName(d.Element), "")
	case v.Dim != d.Dim:
		return fault(Mismatch, "not sent: the request's vectors and the collection's differ in dimensions", "")
	case r.K < 1:
		return fault(Mismatch, "not sent: k is below 1", "")
	case slices.ContainsFunc(r.Keys, func(k engine.Key) bool { return k.IsText != d.TextKeys }):
		return fault(Mismatch, "not sent: the filter's keys and the collection's differ in type", "")
	}
	return nil
}

// expected holds the log's vectors against the collection's, before anything is sent.
func (d *Description) expected(o *Options) error {
	if o.Dim == 0 && o.Element != dist.Sparse || o.Dim == d.Dim && o.Element == d.Element {
		return nil
	}
	return faultf(Mismatch, "replay another log, or give the field it was recorded on",
		"field %s of %s has %s vectors of %d dims, the log %s of %d", d.Field, d.Collection, elementName(d.Element), d.Dim, elementName(o.Element), o.Dim)
}

// elementName is an element type in Milvus's words.
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

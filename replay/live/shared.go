package live

import (
	"context"
	"errors"
	"net"
	"slices"
	"strings"
	"time"

	"kitescope/engine"
	"kitescope/engine/dist"
	"kitescope/replay/load"
)

// answers collects the hits of a request whose vectors are searched one after another. It reuses its memory.
type answers struct {
	answer load.Answer
	hits   []load.Hit
}

// ask checks a request and calls search to append the hits of each of its vectors.
func (a *answers) ask(
	ctx context.Context, d *Description, o *Options, b *budget, r *load.Request, search func(
		ctx context.Context, row []byte,
	) error,
) (*load.Answer, error) {
	if err := d.fits(r); err != nil {
		return nil, err
	}
	if r.Expr != "" {
		return nil, fault(Mismatch, "not sent: the filter is a Milvus expression", "filter %s by lists of keys",
			products[d.Kind])
	}
	if err := b.take(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, o.Deadline)
	defer cancel()
	a.answer, a.hits = load.Answer{Hits: a.answer.Hits[:0]}, a.hits[:0]
	for i := range r.Vectors.Rows {
		first := len(a.hits)
		if err := search(ctx, r.Vectors.Row(i)); err != nil {
			return nil, err
		}
		if len(a.hits)-first > r.K {
			return nil, fault(Garbled, "inconsistent response: more hits than requested", "")
		}
		a.answer.Hits = append(a.answer.Hits, a.hits[first:len(a.hits):len(a.hits)])
	}
	return &a.answer, nil
}

// products holds the product names of the kinds that use this file.
var products = map[string]string{"pgvector": "PostgreSQL", "opensearch": "OpenSearch", "mariadb": "MariaDB"}

// hasFilter reports whether a request has a filter of keys that excludes any row.
func hasFilter(r *load.Request) bool { return r.Keys != nil && (len(r.Keys) > 0 || !r.Exclude) }

// databaseOf returns the database of an address or of Options. It returns an error if they differ.
func databaseOf(a *address, o *Options) (string, error) {
	if a.database != "" && o.Database != "" && a.database != o.Database {
		return "",
			faultf(Mismatch, "name one of them", "two databases are named: %s and %s", clip(a.database),
				clip(o.Database))
	}
	if a.database == "" {
		return o.Database, nil
	}
	return a.database, nil
}

// column is a column of an SQL table.
type column struct {
	name, quoted, typ string
	primary           bool // the only column of the primary key
	vector, byName    bool // holds vectors; searched only if named explicitly
	element           dist.Element
	dim               int // 0 is unknown
}

// choose selects the vector and key columns given by Options, or the only ones, and stores them in d.
func (o *Options) choose(d *Description, columns []column, types string) (vectors, key column, err error) {
	var names []string
	var named column
	table := clip(d.Collection)
	for _, c := range columns {
		if c.vector && (o.Field == c.name || o.Field == "" && !c.byName) {
			names, vectors = append(names, c.name), c
		}
		if c.name == o.Field {
			named = c
		}
		if c.name == o.KeyField || o.KeyField == "" && c.primary {
			key = c
		}
	}
	switch {
	case len(names) == 0 && named.name != "":
		err = faultf(Mismatch, "name a column of type "+types, "column %s of %s has type %s", clip(o.Field), table,
			clip(named.typ))
	case len(names) == 0 && o.Field != "":
		err = faultf(NotFound, "check its name", "table %s has no column %s", table, clip(o.Field))
	case len(names) == 0:
		err = faultf(Mismatch, "choose another table", "table %s has no vector column", table)
	case len(names) > 1:
		err = faultf(Mismatch, "name one of them", "table %s has several vector columns: %s", table,
			strings.Join(names, ", "))
	case key.name == "":
		err = faultf(Mismatch, "give the key column", "table %s has no single-column primary key, or no column %s",
			table, clip(o.KeyField))
	}
	d.Field, d.Dim, d.Element, d.KeyField = vectors.name, vectors.dim, vectors.element, key.name
	return vectors, key, err
}

// milvusDistance converts a distance of pgvector or MariaDB to Milvus's convention. They return the root for L2 and one
// minus the cosine; pgvector returns the negative inner product.
func milvusDistance(metric string, d float64) float32 {
	switch metric {
	case "L2":
		return float32(d * d)
	case "IP":
		return float32(-d)
	case "COSINE":
		return float32(1 - d)
	}
	return float32(d)
}

// hitOf returns a hit of an SQL table.
func (d *Description) hitOf(number int64, text string, distance float64) load.Hit {
	key := engine.NumberKey(number)
	if d.TextKeys {
		key = engine.TextKey(text)
	}
	return load.Hit{Key: key, Distance: milvusDistance(d.Metric, distance)}
}

// contains reports whether text contains any of parts.
func contains(text string, parts ...string) bool {
	return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(text, part) })
}

// lostFault returns the reason why the named server did not respond. It does not repeat library messages, because
// they may contain the address.
func lostFault(ctx context.Context, err error, name, host string, deadline time.Duration) error {
	if gone := callerError(ctx); gone != nil {
		return gone
	}
	if f, ok := errors.AsType[*FaultError](err); ok {
		return f
	}
	text := err.Error()
	var timeout net.Error
	switch f := tlsFault(text, host); {
	case f != nil:
		return f
	case contains(text, "server gave HTTP response to HTTPS client"):
		return faultf(Denied, "turn TLS off, or use the TLS port", "%s does not speak TLS", host)
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		f := timeoutFault(ctx, deadline)
		f.Advice += "; check that " + name + " listens at " + host
		return f
	}
	if f := dialFault(text, host); f != nil {
		return f
	}
	if contains(text, "EOF", "connection reset", "broken pipe", "closed") {
		return faultf(Unreachable, "check that it is "+name+" and still running", "%s closed the connection", host)
	}
	return faultf(Unreachable, "check the address, and that the server is running", "no connection with %s", host)
}

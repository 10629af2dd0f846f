package live

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"kitescope/engine/dist"
	"kitescope/replay/load"
)

// postgres is a table of a PostgreSQL with pgvector.
type postgres struct {
	addr   *address
	o      *Options
	config *pgconn.Config
	desc   Description
	sql    *statements
	budget budget
}

func openPostgres(ctx context.Context, a *address, o *Options) (Target, error) {
	p := &postgres{addr: a, o: o}
	p.budget.most = o.MaxRequests
	if err := o.name(a, ""); err != nil {
		return nil, err
	}
	if o.Database != "" && a.database != "" && o.Database != a.database {
		return nil, faultf(Mismatch, "name one of them", "two databases are named: %s and %s", clip(a.database), clip(o.Database))
	}
	config, err := pgconn.ParseConfig(a.uri)
	if err != nil {
		// Its text may repeat parts of the address.
		return nil, fault(Mismatch, "the target's address does not parse", "write postgres://[user[:password]@]host[:port][/database][?sslmode=...]")
	}
	if err := a.only(config); err != nil {
		return nil, err
	}
	if o.Database != "" {
		config.Database = o.Database
	}
	if o.TLS != nil {
		config.TLSConfig, config.Fallbacks = o.TLS.Clone(), nil
		if config.TLSConfig.ServerName == "" {
			config.TLSConfig.ServerName = config.Host
		}
		config.TLSConfig.MinVersion = max(config.TLSConfig.MinVersion, tls.VersionTLS12)
	}
	config.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		return o.Dial(ctx, network, address)
	}
	config.ConnectTimeout = o.Deadline
	config.MaxProtocolMessageBodyLen = largestAnswer
	// The server itself holds the sessions to reading, and ends what we no longer wait for.
	config.RuntimeParams["default_transaction_read_only"] = "on"
	config.RuntimeParams["statement_timeout"] = strconv.FormatInt(max(o.Deadline.Milliseconds(), 1), 10)
	config.RuntimeParams["application_name"] = "kitescope"
	config.RuntimeParams["client_encoding"] = "UTF8"
	p.config = config
	if p.desc, p.sql, err = p.describe(ctx); err != nil {
		return nil, err
	}
	return p, nil
}

// only is an error if the address names other servers beside the one that is shown: in parameters, or several for one.
func (a *address) only(config *pgconn.Config) error {
	same := a.host == config.Host || a.host == net.JoinHostPort(config.Host, strconv.Itoa(int(config.Port)))
	for _, f := range config.Fallbacks { // the same without TLS
		same = same && f.Host == config.Host && f.Port == config.Port
	}
	if !same {
		return fault(Mismatch, "the target's address names several servers", "name one host and port before the database, and none in parameters or the environment")
	}
	return nil
}

// Name is the address without credentials, and the table.
func (p *postgres) Name() string {
	return p.addr.scheme + "://" + p.addr.host + "/" + p.desc.Database + "/" + p.desc.Collection
}

// Close has nothing to end: sessions own their connections.
func (p *postgres) Close() error { return nil }

// Server implements Target.
func (p *postgres) Server() Server {
	s := Server{Commands: []string{"postgres", "postmaster"}}
	s.Network, s.Address = pgconn.NetworkAddress(p.config.Host, p.config.Port)
	return s
}

// Describe connects and reads the catalogs.
func (p *postgres) Describe(ctx context.Context) (Description, error) {
	d, _, err := p.describe(ctx)
	return d, err
}

func (p *postgres) describe(ctx context.Context) (Description, *statements, error) {
	conn, err := p.connect(ctx)
	if err != nil {
		return Description{}, nil, err
	}
	defer p.end(ctx, conn)
	ctx, cancel := context.WithTimeout(ctx, p.o.Deadline)
	defer cancel()
	return (&catalog{ctx: ctx, conn: conn, p: p}).describe()
}

func (p *postgres) connect(ctx context.Context) (*pgconn.PgConn, error) {
	bounded, cancel := context.WithTimeout(ctx, p.o.Deadline)
	defer cancel()
	conn, err := pgconn.ConnectConfig(bounded, p.config)
	if err == nil {
		return conn, nil
	}
	err = p.fault(ctx, err)
	if f, ok := errors.AsType[*FaultError](err); ok && f.Kind == TimedOut {
		f.Advice = "check that PostgreSQL listens at " + p.addr.host
	}
	return nil, err
}

// end closes a connection politely, but does not wait for it: what it cannot say in a second, closing the socket says.
func (p *postgres) end(ctx context.Context, conn *pgconn.PgConn) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	_ = conn.Close(ctx) // the socket is closed whatever the server says
}

// fault says why the server did not answer, without the words of pgconn, which repeat the address.
func (p *postgres) fault(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if gone := ended(ctx); gone != nil {
		return gone
	}
	if f, ok := errors.AsType[*FaultError](err); ok {
		return f
	}
	if server, ok := errors.AsType[*pgconn.PgError](err); ok {
		return p.serverFault(server)
	}
	if f := tlsFault(err.Error(), p.addr.host); f != nil {
		return f
	}
	if f := dialFault(err, p.addr.host); f != nil && !errors.Is(err, context.DeadlineExceeded) {
		return f
	}
	text := err.Error()
	var timeout net.Error
	switch {
	case errors.Is(err, context.DeadlineExceeded), pgconn.Timeout(err), errors.As(err, &timeout) && timeout.Timeout():
		return late(ctx, p.o.Deadline)
	case strings.Contains(text, "unexpected EOF"), strings.Contains(text, "connection reset"), strings.Contains(text, "closed"),
		strings.Contains(text, "broken pipe"):
		return faultf(Unreachable, "check that it is PostgreSQL and still running", "%s closed the connection", p.addr.host)
	case strings.Contains(text, "invalid message"), strings.Contains(text, "unknown message"), strings.Contains(text, "unexpected message"),
		strings.Contains(text, "invalid body length"), strings.Contains(text, "exceeded max"):
		return faultf(Garbled, "give the port of a PostgreSQL server, 5432 by default", "%s does not answer like PostgreSQL", p.addr.host)
	case strings.Contains(text, "server refused TLS"):
		return faultf(Denied, "turn TLS off (sslmode=disable), or enable it on the server", "%s does not offer TLS", p.addr.host)
	}
	return faultf(Unreachable, "check the address, and that the server is running", "no connection with %s", p.addr.host)
}

// serverFault sorts by SQLSTATE (PostgreSQL's appendix A).
func (p *postgres) serverFault(e *pgconn.PgError) *FaultError {
	reason := said(e.Message)
	class := e.Code[:min(2, len(e.Code))]
	switch {
	case class == "28":
		return faultf(Denied, "give user and password in the address, and check the server's pg_hba.conf",
			"%s does not accept the credentials: %s", p.addr.host, reason)
	case e.Code == "3D000":
		return fault(NotFound, "not found: "+reason, "give a database after the host")
	case e.Code == "42501":
		return fault(Denied, "denied: "+reason, "grant the user SELECT")
	case e.Code == "42P01", e.Code == "42703":
		return fault(NotFound, "not found: "+reason, "check the names of table and columns")
	case e.Code == "57014":
		return fault(TimedOut, "the server gave up at the deadline", "raise the deadline to wait longer")
	case class == "53":
		return fault(Limited, "limited: "+reason, "use fewer sessions, or raise the server's limits")
	case class == "57":
		return fault(Unreachable, "the server ends connections: "+reason, "check that it is still running")
	}
	return fault(Failed, "refused: "+reason, "")
}

// Session opens one more connection.
func (p *postgres) Session(ctx context.Context) (load.Session, error) {
	s := &postgresSession{p: p}
	if err := s.connect(ctx); err != nil {
		return nil, err
	}
	return s, nil
}

// operator is pgvector's for a metric, and the name of its class of indexes' operators. Hamming and Jaccard are for bits, the
// others for vectors and halfvecs; L1 came with pgvector 0.7.
func operator(metric string, e dist.Element) (string, bool) {
	bits := map[string]string{"HAMMING": "<~>", "JACCARD": "<%>"}
	floats := map[string]string{"L2": "<->", "IP": "<#>", "COSINE": "<=>", "L1": "<+>"}
	known := floats
	if e == dist.Bit {
		known = bits
	}
	op, ok := known[metric]
	return op, ok
}

// similar is a distance of pgvector in Milvus's convention: pgvector returns the root for L2, the negative inner product, and
// one less the cosine.
func similar(metric string, d float64) float32 {
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

package live

import (
	"context"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"math"
	"net"
	"strconv"
	"strings"
	"time"

	"kitescope/engine"
	"kitescope/replay/load"
)

// mariaDB is a table of a MariaDB 11.7 or later, which has vectors.
type mariaDB struct {
	addr     *address
	o        *Options
	secure   *tls.Config
	database string
	desc     Description
	sql      mariaStatement
	budget   budget
}

// mariaStatement is what a session asks: begin, the vector, into, a filter of keys if there is one, end and k.
type mariaStatement struct{ begin, into, key, end string }

func openMariaDB(ctx context.Context, a *address, o *Options) (Target, error) {
	m := &mariaDB{addr: a, o: o, database: a.database}
	m.budget.most = o.MaxRequests
	settings, err := a.parameters("table", "tls", "ca")
	if err != nil {
		return nil, err
	}
	if err := o.name(a, settings["table"]); err != nil {
		return nil, err
	}
	switch {
	case m.database == "":
		m.database = o.Database
	case o.Database != "" && o.Database != m.database:
		return nil, faultf(Mismatch, "name one of them", "two databases are named: %s and %s", clip(m.database), clip(o.Database))
	}
	if m.database == "" {
		return nil, fault(Mismatch, "no database given", "write mariadb://[user:password@]host:port/database?table=NAME")
	}
	if m.secure = o.TLS; m.secure == nil {
		if m.secure, err = a.secured(settings); err != nil {
			return nil, err
		}
	}
	if m.desc, m.sql, err = m.describe(ctx); err != nil {
		return nil, err
	}
	return m, nil
}

// Name is the address without credentials, and the table.
func (m *mariaDB) Name() string {
	return m.addr.scheme + "://" + m.addr.host + "/" + m.desc.Database + "/" + m.desc.Collection
}

// Server implements Target.
func (m *mariaDB) Server() Server {
	return Server{Network: "tcp", Address: m.addr.host, Commands: []string{"mariadbd", "mysqld"}}
}

// Describe connects and reads the schema.
func (m *mariaDB) Describe(ctx context.Context) (Description, error) {
	d, _, err := m.describe(ctx)
	return d, err
}

// Close has nothing to end: sessions own their connections.
func (m *mariaDB) Close() error { return nil }

// connect opens a session that can only read, and whose statements the server itself ends at the deadline.
func (m *mariaDB) connect(ctx context.Context) (*mariaConn, error) {
	bounded, cancel := context.WithTimeout(ctx, m.o.Deadline)
	defer cancel()
	conn, err := m.o.Dial(bounded, "tcp", m.addr.host)
	if err != nil {
		return nil, m.fault(ctx, err)
	}
	end, _ := bounded.Deadline()
	_ = conn.SetDeadline(end)
	stop := context.AfterFunc(bounded, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	c, err := mariaConnect(conn, m.addr.user, m.addr.password, m.database, m.secure)
	stop()
	if err != nil {
		return nil, m.fault(ctx, err)
	}
	if err := m.supported(c.version); err != nil {
		c.close()
		return nil, err
	}
	limit := strconv.FormatFloat(max(m.o.Deadline.Seconds(), 0.001), 'f', 3, 64)
	for _, sql := range []string{"SET SESSION TRANSACTION READ ONLY", "SET SESSION max_statement_time=" + limit} {
		if err := c.query(bounded, end, []byte(sql), largestDescription, func([][]byte) error { return nil }); err != nil {
			c.close()
			return nil, m.fault(ctx, err)
		}
	}
	return c, nil
}

// supported refuses servers without vectors, by the version in their greeting: 5.5.5-10.11.6-MariaDB-..., 11.8.2-MariaDB, 8.0.30.
func (m *mariaDB) supported(version string) error {
	if !strings.Contains(version, "MariaDB") {
		return faultf(Mismatch, "give the address of a MariaDB 11.7 or later", "%s is not a MariaDB: %s", m.addr.host, clip(version))
	}
	if olderThan(strings.TrimPrefix(version, "5.5.5-"), 11, 7) {
		return faultf(Mismatch, "vectors came with MariaDB 11.7", "%s is too old for vectors: %s", m.addr.host, clip(version))
	}
	return nil
}

// Session opens one more connection.
func (m *mariaDB) Session(ctx context.Context) (load.Session, error) {
	s := &mariaSession{m: m}
	if err := s.connect(ctx); err != nil {
		return nil, err
	}
	return s, nil
}

// mariaSession is one connection.
type mariaSession struct {
	m      *mariaDB
	conn   *mariaConn
	ef     int // as the session has it, 0 the server's
	sql    []byte
	hits   []load.Hit
	answer load.Answer
}

func (s *mariaSession) connect(ctx context.Context) (err error) {
	s.conn, err = s.m.connect(ctx)
	s.ef = 0
	return err
}

// Close ends the connection.
func (s *mariaSession) Close() error {
	if s.conn != nil {
		s.conn.close()
		s.conn = nil
	}
	return nil
}

// Ask searches for each vector. MariaDB tells no time of its own.
func (s *mariaSession) Ask(ctx context.Context, r *load.Request) (*load.Answer, error) {
	if err := s.m.desc.fits(r); err != nil {
		return nil, err
	}
	if r.Expr != "" {
		return nil, fault(Mismatch, "not sent: the filter is an expression of Milvus's", "filter MariaDB by lists of keys")
	}
	if err := s.m.budget.take(); err != nil {
		return nil, err
	}
	s.answer, s.hits = load.Answer{Hits: s.answer.Hits[:0]}, s.hits[:0]
	bounded, cancel := context.WithTimeout(ctx, s.m.o.Deadline)
	defer cancel()
	// A deadline or a restart cost the connection; the request that met it has failed, and this one makes a new one.
	if s.conn == nil || s.conn.broken {
		_ = s.Close()
		if err := s.connect(bounded); err != nil {
			return nil, err
		}
	}
	end, _ := bounded.Deadline()
	for i := range r.Vectors.Rows {
		first := len(s.hits)
		if err := s.search(bounded, end, r, r.Vectors.Row(i)); err != nil {
			return nil, s.m.fault(ctx, err)
		}
		s.answer.Hits = append(s.answer.Hits, s.hits[first:len(s.hits):len(s.hits)])
	}
	return &s.answer, nil
}

func (s *mariaSession) search(ctx context.Context, end time.Time, r *load.Request, row []byte) error {
	if r.EF > 0 && r.EF != s.ef {
		sql := strconv.AppendInt([]byte("SET SESSION mhnsw_ef_search="), int64(r.EF), 10)
		if err := s.conn.query(ctx, end, sql, largestDescription, func([][]byte) error { return nil }); err != nil {
			return err
		}
		s.ef = r.EF
	}
	s.sql = s.m.sql.statement(s.sql[:0], r, row)
	found := 0
	return s.conn.query(ctx, end, s.sql, s.m.desc.largest(r), func(values [][]byte) error {
		if found++; found > r.K || len(values) != 2 {
			return errMariaGarbled
		}
		hit, err := s.m.hit(values[0], values[1])
		s.hits = append(s.hits, hit)
		return err
	})
}

// statement is complete: MariaDB takes vectors as bytes, little-endian float32, which is what rows are.
func (q *mariaStatement) statement(b []byte, r *load.Request, row []byte) []byte {
	b = append(append(b, q.begin...), "x'"...)
	b = hex.AppendEncode(b, row)
	b = append(append(b, '\''), q.into...)
	if r.Keys != nil && (len(r.Keys) > 0 || !r.Exclude) {
		b = append(append(b, " WHERE "...), q.key...)
		if r.Exclude {
			b = append(b, " NOT"...)
		}
		b = append(b, " IN ("...)
		if len(r.Keys) == 0 {
			b = append(b, "NULL"...) // which nothing is in
		}
		for i, k := range r.Keys {
			if i > 0 {
				b = append(b, ',')
			}
			if k.IsText {
				b = appendMariaText(b, k.Text)
			} else {
				b = strconv.AppendInt(b, k.Number, 10)
			}
		}
		b = append(b, ')')
	}
	return strconv.AppendInt(append(b, q.end...), int64(r.K), 10)
}

// appendMariaText writes a text in hexadecimal, which no setting of a session reads otherwise.
func appendMariaText(b []byte, text string) []byte {
	b = append(b, "_utf8mb4 x'"...)
	return append(hex.AppendEncode(b, []byte(text)), '\'')
}

// hit is a row of an answer: the key, and the distance, of which MariaDB gives the root for L2 and one less the cosine.
func (m *mariaDB) hit(key, distance []byte) (load.Hit, error) {
	d, err := strconv.ParseFloat(string(distance), 64)
	if key == nil || distance == nil || err != nil {
		return load.Hit{}, errMariaGarbled
	}
	h := load.Hit{Key: engine.Key{IsText: m.desc.TextKeys}, Distance: similar(m.desc.Metric, d)}
	if h.Key.IsText {
		h.Key.Text = string(key)
		return h, nil
	}
	if h.Key.Number, err = strconv.ParseInt(string(key), 10, 64); err != nil {
		return load.Hit{}, faultf(Mismatch, "give another key column", "a key of %s is above %d", m.desc.Collection, int64(math.MaxInt64))
	}
	return h, nil
}

// fault says why the server did not answer.
func (m *mariaDB) fault(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if gone := ended(ctx); gone != nil {
		return gone
	}
	if f, ok := errors.AsType[*FaultError](err); ok {
		return f
	}
	if server, ok := errors.AsType[*mariaError](err); ok {
		return m.serverFault(server)
	}
	if auth, ok := errors.AsType[*mariaAuthError](err); ok {
		return faultf(Denied, "give a user who is identified by mysql_native_password", "%s wants an authentication that is not known here: %s", m.addr.host, auth.Plugin)
	}
	if f := tlsFault(err.Error(), m.addr.host); f != nil {
		return f
	}
	var timeout net.Error
	switch {
	case errors.Is(err, errMariaNoTLS):
		return faultf(Denied, "turn TLS off, or enable it on the server", "%s does not offer TLS", m.addr.host)
	case errors.Is(err, errMariaGarbled), errors.Is(err, errMariaLarge):
		return faultf(Garbled, "give the port of a MariaDB, 3306 by default", "%s does not answer like MariaDB", m.addr.host)
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		f := late(ctx, m.o.Deadline)
		f.Advice += "; check that MariaDB listens at " + m.addr.host
		return f
	}
	if f := dialFault(err, m.addr.host); f != nil {
		return f
	}
	return faultf(Unreachable, "check that it is MariaDB and still running", "%s closed the connection", m.addr.host)
}

// serverFault sorts by the codes of MariaDB (mysqld_error.h).
func (m *mariaDB) serverFault(e *mariaError) *FaultError {
	reason := said(e.Message)
	switch e.Code {
	case 1045, 1698:
		return faultf(Denied, "give the user in the address, and the password in KITESCOPE_TARGET_PASSWORD", "%s does not accept the credentials", m.addr.host)
	case 1044, 1130, 1142, 1143:
		return fault(Denied, "denied: "+reason, "grant the user SELECT")
	case 1049:
		return fault(NotFound, "not found: "+reason, "give a database after the host")
	case 1054, 1146:
		return fault(NotFound, "not found: "+reason, "check the names of table and columns")
	case 1969:
		return fault(TimedOut, "the server gave up at the deadline", "raise the deadline to wait longer")
	case 1040, 1203, 1226:
		return fault(Limited, "limited: "+reason, "use fewer sessions, or raise the server's limits")
	case 1053, 1927:
		return fault(Unreachable, "the server ends connections: "+reason, "check that it is still running")
	}
	return fault(Failed, "refused: "+reason, "")
}

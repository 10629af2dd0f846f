package live

import (
	"bytes"
	"context"
	"crypto/tls"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"regexp"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"

	"github.com/go-sql-driver/mysql"

	"kitescope/engine/dist"
	"kitescope/internal/bounded"
	"kitescope/replay/load"
)

// mariaDB is a table of MariaDB 11.7 or later, which supports vectors.
type mariaDB struct {
	addr     *address
	o        *Options
	secure   *tls.Config
	database string
	desc     Description
	sql      mariaStatement
	budget   budget
}

func openMariaDB(ctx context.Context, a *address, o *Options) (Target, error) {
	m := &mariaDB{addr: a, o: o}
	m.budget.limit = o.MaxRequests
	settings, err := a.parameters("table", "tls", "ca")
	if err != nil {
		return nil, err
	}
	if err := o.name(a, settings["table"]); err != nil {
		return nil, err
	}
	if m.database, err = databaseOf(a, o); err != nil {
		return nil, err
	}
	if m.database == "" {
		return nil,
			fault(Mismatch, "no database given", "write mariadb://[user:password@]host:port/database?table=NAME")
	}
	if m.secure, err = a.secured(settings); err != nil {
		return nil, err
	}
	m.desc, m.sql, err = m.describe(ctx)
	if err != nil {
		return nil, err
	}
	return m, nil
}

// Name returns the address without credentials, and the table.
func (m *mariaDB) Name() string {
	return m.addr.scheme + "://" + m.addr.host + "/" + m.desc.Database + "/" + m.desc.Collection
}

// Server implements Target.
func (m *mariaDB) Server() Server {
	return Server{Network: "tcp", Address: m.addr.host, Commands: []string{"mariadbd", "mysqld"}}
}

// Description implements Target.
func (m *mariaDB) Description() Description { return m.desc }

// mariaSession is one read-only connection. If it is lost, database/sql opens a new one for the next request.
type mariaSession struct {
	answers
	m    *mariaDB
	db   *sql.DB
	left bounded.Bytes // limits the bytes read for an answer
}

// mariaConn checks the first packet of a connection.
type mariaConn struct {
	net.Conn
	first []byte // rest of the first packet, not yet read by the driver
}

// maxHandshake limits the size of the first packet, which takes about a hundred bytes.
const maxHandshake = 4 << 10

// minHandshake is the total size of the fixed fields of a handshake, before and after the server's version
// (https://mariadb.com/kb/en/connection/#initial-handshake-packet).
const minHandshake = 1 + 4 + 8 + 1 + 2 + 3 + 2 + 7 + 4 + 13

// handshake reads the first packet before the driver does, because the driver panics on a truncated packet and then
// leaks a goroutine.
func (c *mariaConn) handshake(ctx context.Context) error {
	if at, ok := ctx.Deadline(); ok {
		if err := c.SetReadDeadline(at); err != nil {
			return err
		}
	}
	packet := make([]byte, 4)
	if _, err := io.ReadFull(c.Conn, packet); err != nil {
		return err
	}
	size := int(packet[0]) | int(packet[1])<<8 | int(packet[2])<<16
	if size > maxHandshake {
		return errMariaGarbled
	}
	packet = append(packet, make([]byte, size)...)
	if _, err := io.ReadFull(c.Conn, packet[4:]); err != nil {
		return err
	}
	c.first = packet
	const refusal = 0xff
	body := packet[4:]
	if len(body) > 3 && body[0] == refusal {
		return nil
	}
	if end := bytes.IndexByte(body, 0); end < 0 || len(body)-end < minHandshake {
		return errMariaGarbled
	}
	return nil
}

func (c *mariaConn) Read(p []byte) (int, error) {
	if len(c.first) > 0 {
		n := copy(p, c.first)
		c.first = c.first[n:]
		return n, nil
	}
	return c.Conn.Read(p)
}

// session prepares a connection without dialing.
func (m *mariaDB) session() (*mariaSession, error) {
	s := &mariaSession{m: m}
	config := mysql.NewConfig()
	config.User, config.Passwd = m.addr.user, m.addr.password
	config.Net, config.Addr, config.DBName = "tcp", m.addr.host, m.database
	config.TLS = m.secure
	config.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := m.o.Dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		c := &mariaConn{Conn: s.left.Conn(conn)}
		if err := c.handshake(ctx); err != nil {
			_ = conn.Close()
			if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
				err = mysql.ErrInvalidConn
			}
			return nil, err
		}
		return c, nil
	}
	config.InterpolateParams = true // one round trip for each search
	config.Params = map[string]string{"transaction_read_only": "ON"}
	config.ConnectionAttributes = "program_name:kitescope"
	config.Logger = &mysql.NopLogger{} // the default logs to stderr
	connector, err := mysql.NewConnector(config)
	if err != nil {
		return nil,
			fault(Mismatch, "the target's address does not parse",
				"write mariadb://[user:password@]host:port/database?table=NAME")
	}
	s.db = sql.OpenDB(connector)
	s.db.SetMaxOpenConns(1)
	return s, nil
}

// Session opens a new connection.
func (m *mariaDB) Session(ctx context.Context) (load.Session, error) {
	s, err := m.session()
	if err != nil {
		return nil, err
	}
	bounded, cancel := context.WithTimeout(ctx, m.o.Deadline)
	defer cancel()
	s.left.Allow(maxCatalog)
	if err := s.ping(bounded); err != nil {
		_ = s.Close()
		return nil, s.fault(ctx, err)
	}
	return s, nil
}

func (s *mariaSession) ping(ctx context.Context) (err error) {
	defer recoverDriver(&err)
	return s.db.PingContext(ctx)
}

// recoverDriver turns a panic of the driver, which trusts the lengths that a server sends, into an error. It repeats
// other panics.
func recoverDriver(err *error) {
	p := recover()
	switch {
	case p == nil:
	case bytes.Contains(debug.Stack(), []byte("go-sql-driver/mysql.")):
		*err = errMariaGarbled
	default:
		panic(p)
	}
}

// Close closes the connection.
func (s *mariaSession) Close() error { return s.db.Close() }

// Ask searches for each vector.
func (s *mariaSession) Ask(ctx context.Context, r *load.Request) (*load.Answer, error) {
	var query string
	var values []any
	answer, err := s.ask(ctx, &s.m.desc, s.m.o, &s.m.budget, r, func(ctx context.Context, row []byte) error {
		if query == "" {
			query, values = s.m.statement(r)
		}
		values[0] = row // MariaDB accepts vectors as bytes of little-endian float32, like rows
		return s.search(ctx, s.m.desc.maxAnswerSize(r), query, values)
	})
	return answer, s.fault(ctx, err)
}

func (s *mariaSession) search(ctx context.Context, limit int, query string, values []any) (err error) {
	defer recoverDriver(&err)
	s.left.Allow(int64(limit))
	rows, err := s.db.QueryContext(ctx, query, values...)
	if err != nil {
		return err
	}
	defer rows.Close()
	var number int64
	var text string
	var distance float64
	key := any(&number)
	if s.m.desc.TextKeys {
		key = &text
	}
	for rows.Next() {
		if err := rows.Scan(key, &distance); err != nil {
			return faultf(Mismatch, "give another key column", "a key of %s is NULL or above 2^63, or has no distance",
				s.m.desc.Collection)
		}
		s.hits = append(s.hits, s.m.desc.hitOf(number, text, distance))
	}
	return rows.Err()
}

// mariaStatement holds the parts of a search: SELECT key, distance of ... FROM table, and the key in a filter.
type mariaStatement struct{ search, key string }

// statement returns the search of a request and its values; the first value is the vector. The settings of the
// search, including the time after which the server ends it, apply only to the statement.
func (m *mariaDB) statement(r *load.Request) (string, []any) {
	var b strings.Builder
	fmt.Fprintf(&b, "SET STATEMENT max_statement_time=%.3f", max(m.o.Deadline.Seconds(), 0.001))
	if r.EF > 0 {
		fmt.Fprintf(&b, ", mhnsw_ef_search=%d", r.EF)
	}
	b.WriteString(" FOR " + m.sql.search)
	values := []any{nil}
	if hasFilter(r) {
		b.WriteString(" WHERE " + m.sql.key)
		if r.Exclude {
			b.WriteString(" NOT")
		}
		b.WriteString(" IN (")
		if len(r.Keys) == 0 {
			b.WriteString("NULL") // matches no row
		}
		b.WriteString(strings.TrimPrefix(strings.Repeat(", ?", len(r.Keys)), ", ") + ")")
		for _, k := range r.Keys {
			if k.IsText {
				values = append(values, k.Text)
			} else {
				values = append(values, k.Number)
			}
		}
	}
	return b.String() + " ORDER BY d LIMIT " + strconv.Itoa(r.K), values
}

const (
	selectMariaTable = "SELECT VERSION(), (SELECT TABLE_ROWS FROM information_schema.TABLES WHERE TABLE_SCHEMA = ? " +
		"AND TABLE_NAME = ?)"
	selectMariaIndex = "SHOW CREATE TABLE "
	// COLUMN_KEY is PRI for each column of a primary key.
	selectMariaColumns = "SELECT COLUMN_NAME, DATA_TYPE, COLUMN_TYPE, COLUMN_KEY = 'PRI' FROM " +
		"information_schema.COLUMNS WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ?"
)

// describe finds the columns and the index, and prepares the statement of sessions.
func (m *mariaDB) describe(ctx context.Context) (Description, mariaStatement, error) {
	s, err := m.session()
	if err != nil {
		return Description{}, mariaStatement{}, err
	}
	defer s.Close()
	bounded, cancel := context.WithTimeout(ctx, m.o.Deadline)
	defer cancel()
	s.left.Allow(maxCatalog)
	d, statement, err := s.describe(bounded)
	return d, statement, s.fault(ctx, err)
}

func (s *mariaSession) describe(ctx context.Context) (_ Description, _ mariaStatement, err error) {
	defer recoverDriver(&err)
	m := s.m
	d := Description{Kind: "mariadb", Database: m.database, Collection: m.o.Collection}
	var none mariaStatement
	var version string
	if err := s.db.QueryRowContext(ctx, selectMariaTable, m.database, m.o.Collection).Scan(&version,
		new(sql.NullInt64)); err != nil {
		return d, none, err
	}
	if err := m.supported(version); err != nil {
		return d, none, err
	}
	columns, err := s.columns(ctx)
	if err != nil {
		return d, none, err
	}
	vectors, key, err := m.o.choose(&d, columns, "vector")
	if err != nil {
		return d, none, err
	}
	d.TextKeys = !strings.HasSuffix(key.typ, "int")
	if err := s.describeIndex(ctx, &d); err != nil {
		return d, none, err
	}
	if err := d.checkVectors(m.o); err != nil {
		return d, none, err
	}
	distance, known := map[string]string{"L2": "VEC_DISTANCE_EUCLIDEAN", "COSINE": "VEC_DISTANCE_COSINE"}[d.Metric]
	if !known {
		return d, none, faultf(Mismatch, "L2 or COSINE", "MariaDB has no metric %s", clip(d.Metric))
	}
	search := "SELECT " + key.quoted + ", " + distance + "(" + vectors.quoted + ", ?) AS d FROM " + m.table()
	return d, mariaStatement{search, key.quoted}, nil
}

// supported returns an error for servers without vectors, e.g. 10.11.6-MariaDB-... and 8.0.30.
func (m *mariaDB) supported(version string) error {
	if !strings.Contains(version, "MariaDB") {
		return faultf(Mismatch, "give the address of a MariaDB 11.7 or later", "%s is not a MariaDB: %s", m.addr.host,
			clip(version))
	}
	if olderThan(version, 11, 7) {
		return faultf(Mismatch, "vectors came with MariaDB 11.7", "%s is too old for vectors: %s", m.addr.host,
			clip(version))
	}
	return nil
}

// mariaQuoted returns a name quoted for SQL.
func mariaQuoted(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }

func (m *mariaDB) table() string { return mariaQuoted(m.database) + "." + mariaQuoted(m.o.Collection) }

func (s *mariaSession) columns(ctx context.Context) ([]column, error) {
	rows, err := s.db.QueryContext(ctx, selectMariaColumns, s.m.database, s.m.o.Collection)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var columns []column
	var primary []int
	for rows.Next() {
		var c column
		var whole string
		if err := rows.Scan(&c.name, &c.typ, &whole, &c.primary); err != nil {
			return nil, errMariaGarbled
		}
		c.quoted, c.typ, c.element = mariaQuoted(c.name), strings.ToLower(c.typ), dist.Float32
		if c.vector = c.typ == "vector"; c.vector {
			c.dim, _ = strconv.Atoi(strings.Trim(strings.ToLower(whole), "vector()"))
		}
		if c.primary {
			primary = append(primary, len(columns))
		}
		columns = append(columns, c)
	}
	if len(primary) > 1 { // no single column is the key
		for _, i := range primary {
			columns[i].primary = false
		}
	}
	if len(columns) == 0 && rows.Err() == nil {
		return nil,
			faultf(NotFound, "check its name, and that the user may select from it", "table %s is not in database %s",
				clip(s.m.o.Collection), clip(s.m.database))
	}
	return columns, rows.Err()
}

// mariaVectorKey matches a line of SHOW CREATE TABLE: VECTOR KEY `name` (`column`) `distance`='cosine' `m`='8'.
var mariaVectorKey = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("(?m)^ *VECTOR KEY `(?:[^`]|``)*` \\(`((?:[^`]|``)*)`\\)(.*)$")
})

// mariaCosine matches its option for the cosine metric.
var mariaCosine = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("(?i)`?distance`?='?cosine\\b") })

// describeIndex selects the index of the vector column if it has the requested metric. Without an index, a search
// compares all rows.
func (s *mariaSession) describeIndex(ctx context.Context, d *Description) error {
	var name, create string
	if err := s.db.QueryRowContext(ctx, selectMariaIndex+s.m.table()).Scan(&name, &create); err != nil {
		return err
	}
	d.Metric = s.m.o.Metric
	for _, found := range mariaVectorKey().FindAllStringSubmatch(create, -1) {
		if strings.ReplaceAll(found[1], "``", "`") != d.Field {
			continue
		}
		metric := "L2" // MariaDB's default, which a table definition omits
		if mariaCosine().MatchString(found[2]) {
			metric = "COSINE"
		}
		if d.Metric == "" || d.Metric == metric {
			d.Metric, d.Index = metric, "hnsw" // a modified HNSW (mhnsw)
		}
	}
	if d.Metric == "" {
		return faultf(Mismatch, "name the metric", "column %s of %s has no index to take the metric from",
			clip(d.Field), clip(d.Collection))
	}
	return nil
}

var errMariaGarbled = errors.New("not MariaDB's protocol, or larger than a response can be")

// fault returns the fault of the target. It also detects answers that were too large, which the driver does not
// report.
func (s *mariaSession) fault(ctx context.Context, err error) error {
	if err != nil && s.left.Exceeded() {
		err = errMariaGarbled
	}
	return s.m.fault(ctx, err)
}

// fault returns the reason why the server did not respond.
func (m *mariaDB) fault(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if server, ok := errors.AsType[*mysql.MySQLError](err); ok {
		return m.serverFault(server)
	}
	is := func(known ...error) bool {
		for _, k := range known {
			if errors.Is(err, k) {
				return true
			}
		}
		return false
	}
	switch {
	case callerError(ctx) != nil:
		return callerError(ctx)
	case is(mysql.ErrNoTLS):
		return faultf(Denied, "turn TLS off, or enable it on the server", "%s does not offer TLS", m.addr.host)
	case is(mysql.ErrUnknownPlugin, mysql.ErrOldPassword, mysql.ErrCleartextPassword):
		return faultf(Denied, "give a user who is identified by mysql_native_password or ed25519",
			"%s requires an unsupported authentication", m.addr.host)
	case is(errMariaGarbled, mysql.ErrMalformPkt, mysql.ErrPktSync, mysql.ErrPktSyncMul, mysql.ErrOldProtocol,
		mysql.ErrBusyBuffer):
		return faultf(Garbled, "give the port of a MariaDB, 3306 by default", "%s does not respond like MariaDB",
			m.addr.host)
	case is(mysql.ErrInvalidConn, driver.ErrBadConn):
		return faultf(Unreachable, "check that it is MariaDB and still running", "%s closed the connection",
			m.addr.host)
	}
	return lostFault(ctx, err, "MariaDB", m.addr.host, m.o.Deadline)
}

// serverFault classifies an error by its MariaDB code (mysqld_error.h).
func (m *mariaDB) serverFault(e *mysql.MySQLError) *FaultError {
	reason := normalize(e.Message)
	switch e.Number {
	case 1045, 1698:
		return faultf(Denied, "give the user in the address, and the password in KITESCOPE_TARGET_PASSWORD",
			"%s does not accept the credentials", m.addr.host)
	case 1044, 1130, 1142, 1143:
		return fault(Denied, "denied: "+reason, "grant the user SELECT")
	case 1049:
		return fault(NotFound, "not found: "+reason, "give a database after the host")
	case 1054, 1146:
		return fault(NotFound, "not found: "+reason, "check the names of table and columns")
	case 1193:
		return faultf(Mismatch, "vectors came with MariaDB 11.7", "%s is too old for vectors: %s", m.addr.host, reason)
	case 1969:
		return fault(TimedOut, "the server gave up at the deadline", "raise the deadline to wait longer")
	case 1040, 1203, 1226:
		return fault(Limited, "limited: "+reason, "use fewer sessions, or raise the server's limits")
	case 1053, 1927:
		return fault(Unreachable, "the server closes connections: "+reason, "check that it is still running")
	}
	return fault(Failed, "refused: "+reason, "")
}

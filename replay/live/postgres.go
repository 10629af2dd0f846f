package live

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"

	"kitescope/engine/dist"
	"kitescope/internal/bounded"
	"kitescope/replay/load"
)

// postgres is a table of a PostgreSQL server with pgvector.
type postgres struct {
	addr   *address
	o      *Options
	config *pgx.ConnConfig
	desc   Description
	sql    statements
	budget budget
}

// maxStatements limits the prepared statements that a session keeps on the server. A log with many values of k
// would fill it otherwise.
const maxStatements = 64

func openPostgres(ctx context.Context, a *address, o *Options) (Target, error) {
	p := &postgres{addr: a, o: o}
	p.budget.limit = o.MaxRequests
	if err := o.name(a, ""); err != nil {
		return nil, err
	}
	database, err := databaseOf(a, o)
	if err != nil {
		return nil, err
	}
	config, err := pgx.ParseConfig(a.uri)
	if err != nil {
		// Its text may repeat parts of the address.
		return nil,
			fault(Mismatch, "the target's address does not parse",
				"write postgres://[user[:password]@]host[:port][/database][?sslmode=...]")
	}
	if err := a.checkSingleHost(&config.Config); err != nil {
		return nil, err
	}
	if database != "" {
		config.Database = database
	}
	plain := func(c *tls.Config) bool { return c == nil }
	if slices.ContainsFunc(config.Fallbacks, func(f *pgconn.FallbackConfig) bool {
		return plain(f.TLSConfig) != plain(config.TLSConfig)
	}) {
		config.RequireAuth = "!password,!md5" // the server decides whether there is TLS
	}
	config.ConnectTimeout = o.Deadline
	config.MaxProtocolMessageBodyLen = maxAnswer
	config.StatementCacheCapacity = maxStatements
	// The server itself restricts sessions to reading, and ends statements that we no longer wait for.
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

// checkSingleHost returns an error if parameters or a list in the address name a server other than the shown one.
func (a *address) checkSingleHost(config *pgconn.Config) error {
	same := a.host == config.Host || a.host == net.JoinHostPort(config.Host, strconv.Itoa(int(config.Port)))
	for _, f := range config.Fallbacks { // the same server without TLS
		same = same && f.Host == config.Host && f.Port == config.Port
	}
	if !same {
		return fault(Mismatch, "the target's address names several servers",
			"name one host and port before the database, and none in parameters or the environment")
	}
	return nil
}

// Name returns the address without credentials, and the table.
func (p *postgres) Name() string {
	return p.addr.scheme + "://" + p.addr.host + "/" + p.desc.Database + "/" + p.desc.Collection
}

// Server implements Target.
func (p *postgres) Server() Server {
	s := Server{Commands: []string{"postgres", "postmaster"}}
	s.Network, s.Address = pgconn.NetworkAddress(p.config.Host, p.config.Port)
	return s
}

// Description implements Target.
func (p *postgres) Description() Description { return p.desc }

// describe connects and reads the catalogs.
func (p *postgres) describe(ctx context.Context) (Description, statements, error) {
	conn, err := p.connect(ctx, new(bounded.Bytes))
	if err != nil {
		return Description{}, statements{}, err
	}
	defer closeConn(ctx, conn)
	limited, cancel := context.WithTimeout(ctx, p.o.Deadline)
	defer cancel()
	c := &catalog{ctx: limited, conn: conn, p: p}
	d, sql, err := c.describe()
	return d, sql, p.fault(ctx, err)
}

// connect opens a connection. left limits the bytes that it may receive, because the driver keeps all parameters
// that a server announces.
func (p *postgres) connect(ctx context.Context, left *bounded.Bytes) (*pgx.Conn, error) {
	limited, cancel := context.WithTimeout(ctx, p.o.Deadline)
	defer cancel()
	left.Allow(maxCatalog)
	config := p.config.Copy()
	config.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := p.o.Dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return left.Conn(conn), nil
	}
	conn, err := pgx.ConnectConfig(limited, config)
	return conn, p.fault(ctx, err)
}

// closeConn closes a connection gracefully, but waits at most one second before it closes the socket.
func closeConn(ctx context.Context, conn *pgx.Conn) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	_ = conn.Close(ctx) // closes the socket regardless of the server's response
}

// postgresSession is one connection.
type postgresSession struct {
	answers
	p        *postgres
	conn     *pgx.Conn
	left     bounded.Bytes
	settings map[string]int // of the session, by name
	query    []byte
}

// Session opens a new connection.
func (p *postgres) Session(ctx context.Context) (load.Session, error) {
	s := &postgresSession{p: p}
	if err := s.connect(ctx); err != nil {
		return nil, err
	}
	return s, nil
}

func (s *postgresSession) connect(ctx context.Context) error {
	conn, err := s.p.connect(ctx, &s.left)
	if err != nil {
		return err
	}
	// Send vectors as the bytes that pgvector receives, as if they were bytea.
	conn.TypeMap().RegisterType(&pgtype.Type{
		Name: "kitescope vector", OID: s.p.sql.vectorType, Codec: pgtype.ByteaCodec{},
	})
	s.conn, s.settings = conn, map[string]int{}
	return nil
}

// Close closes the connection.
func (s *postgresSession) Close() error {
	if s.conn != nil {
		closeConn(context.Background(), s.conn)
		s.conn = nil
	}
	return nil
}

// Ask searches with one statement for each vector, one after another, because SQL has no other form that uses an
// index. ef is hnsw.ef_search, which also limits the number of hits, and nprobe is ivfflat.probes.
func (s *postgresSession) Ask(ctx context.Context, r *load.Request) (*load.Answer, error) {
	sql, values := s.p.sql.build(r)
	ready := false
	answer, err := s.ask(ctx, &s.p.desc, s.p.o, &s.p.budget, r, func(ctx context.Context, row []byte) error {
		if !ready {
			if err := s.prepare(ctx, r); err != nil {
				return err
			}
			ready = true
		}
		s.query = appendVector(s.query[:0], s.p.desc.Element, s.p.desc.Dim, row)
		values[0] = s.query
		s.left.Allow(int64(s.p.desc.maxAnswerSize(r)))
		return s.search(ctx, sql, values)
	})
	return answer, s.p.fault(ctx, err)
}

// prepare ensures that there is a connection with the settings of a request. It reconnects if a deadline or a
// restart has closed the last connection; the request that ran at that time has failed.
func (s *postgresSession) prepare(ctx context.Context, r *load.Request) error {
	if s.conn == nil || s.conn.IsClosed() {
		if err := s.connect(ctx); err != nil {
			return err
		}
	}
	for name, n := range map[string]int{"hnsw.ef_search": r.EF, "ivfflat.probes": r.NProbe} {
		if n <= 0 || s.settings[name] == n {
			continue // 0 keeps the server's setting
		}
		if _, err := s.conn.Exec(ctx, "SELECT pg_catalog.set_config($1, $2, false)", name, strconv.Itoa(n)); err !=
			nil {
			return err
		}
		s.settings[name] = n
	}
	return nil
}

func (s *postgresSession) search(ctx context.Context, sql string, values []any) error {
	rows, err := s.conn.Query(ctx, sql, values...)
	if err != nil {
		return err
	}
	defer rows.Close()
	var number int64
	var text string
	var distance float64
	key := any(&number)
	if s.p.desc.TextKeys {
		key = &text
	}
	for rows.Next() {
		if err := rows.Scan(key, &distance); err != nil {
			return fault(Garbled, "inconsistent response: rows are not keys with distances", "")
		}
		s.hits = append(s.hits, s.p.desc.hitOf(number, text, distance))
	}
	return rows.Err()
}

// statements holds the statements of a session, without the limit.
type statements struct {
	all, include, exclude string // exclude a filter, with the keys in $2, with all other keys
	order                 string
	vectorType            uint32 // of $1
}

// build returns the statement of a request and its values; the first value is the vector.
func (s *statements) build(r *load.Request) (string, []any) {
	limit := s.order + strconv.Itoa(r.K)
	switch {
	case !hasFilter(r):
		return s.all + limit, []any{nil}
	case r.Exclude:
		return s.exclude + limit, []any{nil, keyList(r)}
	}
	return s.include + limit, []any{nil, keyList(r)}
}

func keyList(r *load.Request) any {
	if len(r.Keys) > 0 && r.Keys[0].IsText {
		texts := make([]string, len(r.Keys))
		for i, k := range r.Keys {
			texts[i] = k.Text
		}
		return texts
	}
	numbers := make([]int64, len(r.Keys))
	for i, k := range r.Keys {
		numbers[i] = k.Number
	}
	return numbers
}

// appendVector appends a row in the binary format that pgvector receives (vector.c and halfvec.c: int16 dims, int16
// unused, big-endian elements; PostgreSQL's bit: int32 bits, bytes with the first bit highest). It is lossless. In
// Milvus the client decides whether the first bit of a byte is the lowest or the highest. Bytes are copied
// unchanged, because only the number of different bits counts.
func appendVector(b []byte, e dist.Element, dim int, row []byte) []byte {
	if e == dist.Bit {
		return append(binary.BigEndian.AppendUint32(b, uint32(dim)), row...)
	}
	b = binary.BigEndian.AppendUint16(b, uint16(dim))
	b = append(b, 0, 0)
	if e == dist.Float16 {
		for i := 0; i+1 < len(row); i += 2 {
			b = append(b, row[i+1], row[i])
		}
		return b
	}
	for i := 0; i+3 < len(row); i += 4 {
		b = append(b, row[i+3], row[i+2], row[i+1], row[i])
	}
	return b
}

// catalog reads the description of a table from PostgreSQL's catalogs.
type catalog struct {
	ctx  context.Context
	conn *pgx.Conn
	p    *postgres
	// schema is the quoted schema of pgvector, which may not be on the search path.
	schema string
}

// rows runs a query and returns the values as text; NULL is "".
func (c *catalog) rows(sql string, values ...any) ([][]string, error) {
	result, err := c.conn.Query(c.ctx, sql, append([]any{pgx.QueryResultFormats{pgx.TextFormatCode}}, values...)...)
	if err != nil {
		return nil, err
	}
	defer result.Close()
	var all [][]string
	for result.Next() {
		var texts []string
		for _, v := range result.RawValues() {
			texts = append(texts, string(v))
		}
		all = append(all, texts)
	}
	return all, result.Err()
}

// one runs a query for a single row. It returns nil if there is no row.
func (c *catalog) one(sql string, values ...any) ([]string, error) {
	rows, err := c.rows(sql, values...)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	return rows[0], nil
}

const (
	selectServer = `SELECT current_database(), e.extversion, quote_ident(n.nspname) FROM (SELECT 1) AS one ` +
		`LEFT JOIN pg_catalog.pg_extension e ON e.extname = 'vector' LEFT JOIN pg_catalog.pg_namespace n ON n.oid = e.extnamespace`
	selectTable = `SELECT c.oid, pg_catalog.has_table_privilege(c.oid, 'SELECT'), ` +
		`quote_ident(n.nspname) || '.' || quote_ident(c.relname) FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace ` +
		`WHERE c.oid = coalesce(to_regclass($1::text), to_regclass(quote_ident($1::text)))`
	selectColumns = `SELECT a.attname, t.typname, a.atttypmod, quote_ident(a.attname), ` +
		`coalesce((SELECT i.indnkeyatts = 1 FROM pg_catalog.pg_index i WHERE i.indrelid = a.attrelid AND i.indisprimary AND a.attnum = ANY(i.indkey)), false), t.oid ` +
		`FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_type t ON t.oid = a.atttypid WHERE a.attrelid = $1::text::oid AND a.attnum > 0 AND NOT a.attisdropped`
	selectIndex = `SELECT m.amname, o.opcname FROM pg_catalog.pg_index i ` +
		`JOIN pg_catalog.pg_class c ON c.oid = i.indexrelid JOIN pg_catalog.pg_am m ON m.oid = c.relam JOIN pg_catalog.pg_opclass o ON o.oid = i.indclass[0] ` +
		`JOIN pg_catalog.pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0] ` +
		`WHERE i.indrelid = $1::text::oid AND a.attname = $2::text AND i.indisvalid AND m.amname IN ('hnsw', 'ivfflat') ORDER BY c.oid`
)

// describe finds the table, the columns and the index, and prepares the statements of sessions.
func (c *catalog) describe() (Description, statements, error) {
	d := Description{Kind: "pgvector"}
	var none statements
	if err := c.describeServer(&d); err != nil {
		return d, none, err
	}
	oid, err := c.describeTable(&d)
	if err != nil {
		return d, none, err
	}
	columns, types, err := c.columns(oid)
	if err != nil {
		return d, none, err
	}
	vectors, key, err := c.p.o.choose(&d, columns, "vector, halfvec or bit")
	if err != nil {
		return d, none, err
	}
	d.TextKeys = key.typ != "int2" && key.typ != "int4" && key.typ != "int8"
	if d.Dim < 1 {
		if err := c.readDims(&d, vectors); err != nil {
			return d, none, err
		}
	}
	if err := c.describeIndex(&d, oid); err != nil {
		return d, none, err
	}
	if err := d.checkVectors(c.p.o); err != nil {
		return d, none, err
	}
	sql, err := c.statements(&d, vectors, key)
	sql.vectorType = types[d.Field]
	return d, sql, err
}

func (c *catalog) describeServer(d *Description) error {
	server, err := c.one(selectServer)
	if err != nil {
		return err
	}
	if len(server) < 3 || server[1] == "" {
		return faultf(Mismatch, "run CREATE EXTENSION vector", "database %s of %s has no pgvector", c.p.config.Database,
			c.p.addr.host)
	}
	d.Database, c.schema = server[0], server[2]
	return nil
}

// describeTable returns the table's oid.
func (c *catalog) describeTable(d *Description) (string, error) {
	table, err := c.one(selectTable, c.p.o.Collection)
	if err != nil {
		if e, ok := errors.AsType[*pgconn.PgError](err); ok && c.p.serverFault(e).Kind == Failed {
			return "",
				faultf(NotFound, `write it as in SQL: name, schema.name, "Odd Name"`, "%s is not a table name",
					clip(c.p.o.Collection))
		}
		return "", err
	}
	if len(table) < 3 {
		return "",
			faultf(NotFound, "check its name, and its schema", "table %s is not in database %s", clip(c.p.o.Collection),
				d.Database)
	}
	d.Collection = table[2]
	if table[1] != "t" {
		return "", faultf(Denied, "grant it to the user", "the user may not select from %s", d.Collection)
	}
	return table[0], nil
}

// columns returns the columns of a table and the oids of their types.
func (c *catalog) columns(oid string) ([]column, map[string]uint32, error) {
	rows, err := c.rows(selectColumns, oid)
	if err != nil {
		return nil, nil, err
	}
	var columns []column
	types := map[string]uint32{}
	for _, r := range rows {
		col := column{name: r[0], typ: r[1], quoted: r[3], primary: r[4] == "t", byName: r[1] == "bit"}
		col.element, col.vector = map[string]dist.Element{
			"vector": dist.Float32, "halfvec": dist.Float16, "bit": dist.Bit,
		}[col.typ]
		col.dim, _ = strconv.Atoi(r[2])
		columns = append(columns, col)
		n, _ := strconv.ParseUint(r[5], 10, 32)
		types[col.name] = uint32(n)
	}
	return columns, types, nil
}

// readDims reads the dimensions from a row, because the column's type does not define them.
func (c *catalog) readDims(d *Description, vectors column) error {
	length := c.schema + ".vector_dims(" + vectors.quoted + ")"
	if d.Element == dist.Bit {
		length = "length(" + vectors.quoted + ")"
	}
	row, err := c.one(fmt.Sprintf("SELECT %s FROM %s WHERE %s IS NOT NULL LIMIT 1", length, d.Collection,
		vectors.quoted))
	if err != nil {
		return err
	}
	if len(row) == 1 {
		d.Dim, _ = strconv.Atoi(row[0])
	}
	if d.Dim < 1 {
		return faultf(Mismatch, "", "the dims of column %s of %s are unknown: it is empty", d.Field, d.Collection)
	}
	return nil
}

// metricOf returns the metric of an index by the name of its operator class, e.g. vector_l2_ops.
func metricOf(class string) string {
	for _, known := range [][2]string{
		{"_l2_", "L2"},
		{"_ip_", "IP"},
		{"_cosine_", "COSINE"},
		{"_l1_", "L1"},
		{"_hamming_", "HAMMING"},
		{"_jaccard_", "JACCARD"},
	} {
		if strings.Contains(class, known[0]) {
			return known[1]
		}
	}
	return ""
}

// operator returns pgvector's operator for a metric. Hamming and Jaccard are for bits, the others for vectors and
// halfvecs. L1 was added in pgvector 0.7.
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

// describeIndex selects the first index with the requested metric, or the first index if no metric is requested.
func (c *catalog) describeIndex(d *Description, oid string) error {
	rows, err := c.rows(selectIndex, oid, d.Field)
	if err != nil {
		return err
	}
	d.Metric = c.p.o.Metric
	for _, r := range rows {
		metric := metricOf(r[1])
		if metric == "" || d.Metric != "" && d.Metric != metric {
			continue
		}
		d.Index, d.Metric = r[0], metric
		break
	}
	if d.Metric == "" {
		return faultf(Mismatch, "name the metric", "column %s of %s has no index to take the metric from", d.Field,
			d.Collection)
	}
	return nil
}

// statements builds the statements of sessions. The server has quoted all names in them.
func (c *catalog) statements(d *Description, vectors, key column) (statements, error) {
	op, ok := operator(d.Metric, d.Element)
	if !ok {
		return statements{}, faultf(Mismatch, "L2, IP, COSINE or L1 for vectors, HAMMING or JACCARD for bits",
			"pgvector has no metric %s for type %s", clip(d.Metric), vectors.typ)
	}
	keys, list := key.quoted+"::bigint", "bigint[]"
	// A filter on the column's own type can use its index.
	filter := key.quoted
	if d.TextKeys {
		keys, list = key.quoted+"::text", "text[]"
		if key.typ != "text" && key.typ != "varchar" {
			filter = keys
		}
	}
	query := "$1::" + c.schema + "." + vectors.typ
	if d.Element == dist.Bit {
		query = fmt.Sprintf("$1::bit(%d)", d.Dim)
	}
	distance := vectors.quoted + " OPERATOR(" + c.schema + "." + op + ") " + query
	begin := "SELECT " + keys + ", " + distance + " FROM " + d.Collection
	return statements{
		all:     begin,
		include: begin + " WHERE " + filter + " = ANY($2::" + list + ")",
		exclude: begin + " WHERE " + filter + " <> ALL($2::" + list + ")",
		order:   " ORDER BY " + distance + " LIMIT ",
	}, nil
}

// fault returns the reason why the server did not respond. It does not repeat messages of pgx, because they contain
// the address.
func (p *postgres) fault(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if server, ok := errors.AsType[*pgconn.PgError](err); ok && callerError(ctx) == nil {
		return p.serverFault(server)
	}
	text := err.Error()
	switch {
	case callerError(ctx) != nil:
		return callerError(ctx)
	case errors.Is(err, bounded.ErrTooMuch),
		contains(text, "invalid message", "unknown message", "unexpected message", "invalid body length",
			"exceeded max"):
		return faultf(Garbled, "give the port of a PostgreSQL server, 5432 by default",
			"%s does not respond like PostgreSQL", p.addr.host)
	case contains(text, "require_auth check failed"):
		how := "in clear text"
		if contains(text, "requested md5") {
			how = "as MD5"
		}
		return faultf(Denied,
			"enable TLS on the server and set sslmode=require, or send it without TLS with sslmode=disable",
			"%s requests the password %s", p.addr.host, how)
	case contains(text, "SCRAM"):
		return faultf(Denied, "check that it is PostgreSQL, and its scram_iterations",
			"%s does not log in by SCRAM like PostgreSQL", p.addr.host)
	case contains(text, "server refused TLS") && p.config.RequireAuth == "": // otherwise it was tried without TLS
		return faultf(Denied, "turn TLS off (sslmode=disable), or enable it on the server", "%s does not offer TLS",
			p.addr.host)
	}
	return lostFault(ctx, err, "PostgreSQL", p.addr.host, p.o.Deadline)
}

// serverFault classifies an error by its SQLSTATE (PostgreSQL's appendix A).
func (p *postgres) serverFault(e *pgconn.PgError) *FaultError {
	reason := normalize(e.Message)
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
		return fault(Unreachable, "the server closes connections: "+reason, "check that it is still running")
	}
	return fault(Failed, "refused: "+reason, "")
}

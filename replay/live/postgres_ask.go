package live

import (
	"context"
	"encoding/binary"
	"math"
	"strconv"

	"github.com/jackc/pgx/v5/pgconn"

	"kitescope/engine"
	"kitescope/engine/dist"
	"kitescope/replay/load"
)

// postgresSession is one connection.
type postgresSession struct {
	p    *postgres
	conn *pgconn.PgConn
	// prepared are the statements that the server knows, by their text.
	prepared map[string]string
	settings map[string]int // of the session, by name
	answer   load.Answer
	hits     []load.Hit
	query    []byte
}

// mostStatements bounds what a session has the server keep: a log with ever new k would fill it.
const mostStatements = 64

func (s *postgresSession) connect(ctx context.Context) error {
	conn, err := s.p.connect(ctx)
	if err != nil {
		return err
	}
	s.conn, s.prepared, s.settings = conn, map[string]string{}, map[string]int{}
	return nil
}

// Close ends the connection.
func (s *postgresSession) Close() error {
	if s.conn != nil {
		s.p.end(context.Background(), s.conn)
		s.conn = nil
	}
	return nil
}

// Ask searches: nq vectors are nq statements, one after the other, as SQL has no other way that uses an index. ef is
// hnsw.ef_search, which also bounds how many hits there are, nprobe is ivfflat.probes. PostgreSQL tells no time of its own with an
// answer: Answer.Server is 0.
func (s *postgresSession) Ask(ctx context.Context, r *load.Request) (*load.Answer, error) {
	s.answer = load.Answer{Hits: s.answer.Hits[:0]}
	s.hits = s.hits[:0]
	err := s.each(ctx, r, func(rows *pgconn.ResultReader) error {
		first := len(s.hits)
		if err := s.read(rows, r.K); err != nil {
			return err
		}
		s.answer.Hits = append(s.answer.Hits, s.hits[first:len(s.hits):len(s.hits)])
		return nil
	})
	if err != nil {
		return nil, err
	}
	return &s.answer, nil
}

// each runs the statement of each of a request's vectors and hands out its rows.
func (s *postgresSession) each(ctx context.Context, r *load.Request, take func(*pgconn.ResultReader) error) error {
	if err := s.p.desc.fits(r); err != nil {
		return err
	}
	if err := s.p.budget.take(); err != nil {
		return err
	}
	bounded, cancel := context.WithTimeout(ctx, s.p.o.Deadline)
	defer cancel()
	// A deadline or a restart cost the connection; the request that met it has failed, and this one makes a new one.
	if s.conn == nil || s.conn.IsClosed() {
		if err := s.connect(bounded); err != nil {
			return err
		}
	}
	if err := s.run(bounded, r, take); err != nil {
		return s.p.fault(ctx, err)
	}
	return nil
}

func (s *postgresSession) run(ctx context.Context, r *load.Request, take func(*pgconn.ResultReader) error) error {
	if err := s.set(ctx, "hnsw.ef_search", r.EF); err != nil {
		return err
	}
	if err := s.set(ctx, "ivfflat.probes", r.NProbe); err != nil {
		return err
	}
	if r.Expr != "" {
		return fault(Mismatch, "not sent: the filter is an expression of Milvus's", "filter PostgreSQL by lists of keys")
	}
	sql, params, formats := s.p.sql.all, [][]byte{nil}, []int16{1}
	if r.Keys != nil && (len(r.Keys) > 0 || !r.Exclude) {
		sql = s.p.sql.only
		if r.Exclude {
			sql = s.p.sql.without
		}
		params, formats = append(params, keyArray(r.Keys, s.p.desc.TextKeys)), append(formats, 1)
	}
	name, err := s.prepare(ctx, sql+s.p.sql.order+strconv.Itoa(r.K))
	if err != nil {
		return err
	}
	for i := range r.Vectors.Rows {
		s.query = appendVector(s.query[:0], s.p.desc.Element, s.p.desc.Dim, r.Vectors.Row(i))
		params[0] = s.query
		if err := take(s.conn.ExecPrepared(ctx, name, params, formats, []int16{1})); err != nil {
			return err
		}
	}
	return nil
}

// set changes a setting of the session where it differs. 0 leaves what the server has.
func (s *postgresSession) set(ctx context.Context, name string, n int) error {
	if n <= 0 || s.settings[name] == n {
		return nil
	}
	result := s.conn.ExecParams(ctx, "SELECT pg_catalog.set_config($1, $2, false)", [][]byte{[]byte(name), []byte(strconv.Itoa(n))}, nil, nil, nil).Read()
	if result.Err != nil {
		return result.Err
	}
	s.settings[name] = n
	return nil
}

func (s *postgresSession) prepare(ctx context.Context, sql string) (string, error) {
	if name, known := s.prepared[sql]; known {
		return name, nil
	}
	if len(s.prepared) >= mostStatements {
		for known, name := range s.prepared {
			if err := s.conn.Deallocate(ctx, name); err != nil {
				return "", err
			}
			delete(s.prepared, known)
		}
	}
	name := "s" + strconv.Itoa(len(s.prepared))
	if _, err := s.conn.Prepare(ctx, name, sql, nil); err != nil {
		return "", err
	}
	s.prepared[sql] = name
	return name, nil
}

// read appends the hits of a statement, at most k.
func (s *postgresSession) read(rows *pgconn.ResultReader, k int) error {
	text, metric, broken := s.p.desc.TextKeys, s.p.desc.Metric, false
	first := len(s.hits)
	for rows.NextRow() {
		v := rows.Values()
		if len(v) != 2 || len(v[1]) != 8 || !text && len(v[0]) != 8 || v[0] == nil || len(s.hits)-first >= k {
			broken = true
			continue
		}
		key := engine.Key{IsText: text}
		if text {
			key.Text = string(v[0])
		} else {
			key.Number = int64(binary.BigEndian.Uint64(v[0]))
		}
		s.hits = append(s.hits, load.Hit{Key: key, Distance: similar(metric, math.Float64frombits(binary.BigEndian.Uint64(v[1])))})
	}
	if _, err := rows.Close(); err != nil {
		return err
	}
	if broken {
		return fault(Garbled, "inconsistent answer: rows are not keys with distances", "")
	}
	return nil
}

// appendVector adds a row in the binary form that pgvector receives (vector.c and halfvec.c: int16 dims, int16 unused, big-endian
// elements; PostgreSQL's bit: int32 bits, bytes with the first bit highest). It loses nothing. Milvus has the first bit of a byte
// lowest or highest as the client likes: only how many bits differ counts, so bytes are taken as they are.
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

const (
	oidInt8 = 20
	oidText = 25
)

// keyArray is a one-dimensional array in PostgreSQL's binary form (array_recv in arrayfuncs.c).
func keyArray(keys []engine.Key, text bool) []byte {
	oid := uint32(oidInt8)
	if text {
		oid = oidText
	}
	var b []byte
	for _, n := range []uint32{1, 0, oid, uint32(len(keys)), 1} {
		b = binary.BigEndian.AppendUint32(b, n)
	}
	if len(keys) == 0 {
		return append(b[:0], 0, 0, 0, 0, 0, 0, 0, 0, byte(oid>>24), byte(oid>>16), byte(oid>>8), byte(oid))
	}
	for _, k := range keys {
		if text {
			b = append(binary.BigEndian.AppendUint32(b, uint32(len(k.Text))), k.Text...)
			continue
		}
		b = binary.BigEndian.AppendUint32(b, 8)
		b = binary.BigEndian.AppendUint64(b, uint64(k.Number))
	}
	return b
}

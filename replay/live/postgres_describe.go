package live

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"kitescope/engine/dist"
)

// statements are what a session asks, complete but for the limit and parameters.
type statements struct {
	all, only, without string // without a filter, of the keys in $2, of all others
	order              string
}

// catalog reads what PostgreSQL says of a table.
type catalog struct {
	ctx  context.Context
	conn *pgconn.PgConn
	p    *postgres
	// schema is where pgvector is, quoted: it need not be on the search path.
	schema string
}

// rows asks with parameters as text, and returns values as text; NULL is "".
func (c *catalog) rows(sql string, params ...string) ([][]string, error) {
	values := make([][]byte, len(params))
	for i, p := range params {
		values[i] = []byte(p)
	}
	result := c.conn.ExecParams(c.ctx, sql, values, nil, nil, nil)
	var all [][]string
	bytes := 0
	for result.NextRow() {
		row := result.Values()
		bytes += 32
		texts := make([]string, len(row))
		for i, v := range row {
			texts[i] = string(v)
			bytes += len(v) + 16
		}
		if bytes > largestDescription {
			_ = c.conn.Close(c.ctx) // what else comes is not read
			return nil, faultf(Garbled, "give the port of a PostgreSQL server, 5432 by default", "%s sent more than a table description can hold", c.p.addr.host)
		}
		all = append(all, texts)
	}
	if _, err := result.Close(); err != nil {
		return nil, c.p.fault(c.ctx, err)
	}
	return all, nil
}

// one asks for a single row.
func (c *catalog) one(sql string, params ...string) ([]string, error) {
	rows, err := c.rows(sql, params...)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	return rows[0], nil
}

const (
	selectServer = `SELECT current_setting('server_version'), current_database(), e.extversion, quote_ident(n.nspname) FROM (SELECT 1) AS one ` +
		`LEFT JOIN pg_catalog.pg_extension e ON e.extname = 'vector' LEFT JOIN pg_catalog.pg_namespace n ON n.oid = e.extnamespace`
	selectTable = `SELECT c.oid, n.nspname, c.relname, c.reltuples::bigint, pg_catalog.has_table_privilege(c.oid, 'SELECT'), ` +
		`quote_ident(n.nspname) || '.' || quote_ident(c.relname) FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace ` +
		`WHERE c.oid = coalesce(to_regclass($1), to_regclass(quote_ident($1)))`
	selectColumns = `SELECT a.attname, t.typname, a.atttypmod, quote_ident(a.attname), ` +
		`coalesce((SELECT i.indnkeyatts = 1 FROM pg_catalog.pg_index i WHERE i.indrelid = a.attrelid AND i.indisprimary AND a.attnum = ANY(i.indkey)), false) ` +
		`FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_type t ON t.oid = a.atttypid WHERE a.attrelid = $1::oid AND a.attnum > 0 AND NOT a.attisdropped`
	selectIndex = `SELECT m.amname, o.opcname, coalesce(array_to_string(c.reloptions, ','), ''), c.reltuples::bigint FROM pg_catalog.pg_index i ` +
		`JOIN pg_catalog.pg_class c ON c.oid = i.indexrelid JOIN pg_catalog.pg_am m ON m.oid = c.relam JOIN pg_catalog.pg_opclass o ON o.oid = i.indclass[0] ` +
		`JOIN pg_catalog.pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0] ` +
		`WHERE i.indrelid = $1::oid AND a.attname = $2 AND i.indisvalid AND m.amname IN ('hnsw', 'ivfflat') ORDER BY c.oid`
)

// describe finds table, columns and index, and makes the statements of sessions.
func (c *catalog) describe() (Description, *statements, error) {
	d := Description{Kind: "pgvector", Rows: -1, IndexedRows: -1}
	if err := c.describeServer(&d); err != nil {
		return d, nil, err
	}
	oid, err := c.describeTable(&d)
	if err != nil {
		return d, nil, err
	}
	columns, err := c.describeColumns(&d, oid)
	if err != nil {
		return d, nil, err
	}
	if err := c.describeIndex(&d, oid); err != nil {
		return d, nil, err
	}
	if err := d.expected(c.p.o); err != nil {
		return d, nil, err
	}
	sql, err := c.prepare(&d, columns)
	return d, sql, err
}

func (c *catalog) describeServer(d *Description) error {
	server, err := c.one(selectServer)
	if err != nil {
		return err
	}
	if len(server) < 4 || server[2] == "" {
		return faultf(Mismatch, "run CREATE EXTENSION vector", "database %s of %s has no pgvector", c.p.config.Database, c.p.addr.host)
	}
	d.Version, d.Database = "PostgreSQL "+clip(server[0])+", pgvector "+clip(server[2]), server[1]
	c.schema = server[3]
	return nil
}

// describeTable returns the table's oid.
func (c *catalog) describeTable(d *Description) (string, error) {
	table, err := c.one(selectTable, c.p.o.Collection)
	if err != nil {
		if f, ok := errors.AsType[*FaultError](err); ok && f.Kind == Failed {
			return "", faultf(NotFound, `write it as in SQL: name, schema.name, "Odd Name"`, "%s is not a table name", clip(c.p.o.Collection))
		}
		return "", err
	}
	if len(table) < 6 {
		return "", faultf(NotFound, "check its name, and its schema", "table %s is not in database %s", clip(c.p.o.Collection), d.Database)
	}
	d.Collection = table[5]
	if table[4] != "t" {
		return "", faultf(Denied, "grant it to the user", "the user may not select from %s", d.Collection)
	}
	if n, err := strconv.ParseInt(table[3], 10, 64); err == nil && n >= 0 {
		d.Rows = n
	}
	return table[0], nil
}

// chosen are the columns that are asked for, quoted.
type chosen struct{ vector, key, keyType, vectorType string }

func (c *catalog) describeColumns(d *Description, oid string) (chosen, error) {
	var found chosen
	rows, err := c.rows(selectColumns, oid)
	if err != nil {
		return found, err
	}
	o, vectors := c.p.o, []string(nil)
	for _, r := range rows {
		name, typ, quoted, primary := r[0], r[1], r[3], r[4] == "t"
		e, isVector := map[string]dist.Element{"vector": dist.Float32, "halfvec": dist.Float16, "bit": dist.Bit}[typ]
		switch {
		case isVector && (o.Field == name || o.Field == "" && typ != "bit"):
			vectors = append(vectors, name)
			d.Field, d.Element, found.vector, found.vectorType = name, e, quoted, typ
			d.Dim, _ = strconv.Atoi(r[2])
		case o.Field == name:
			return found, faultf(Mismatch, "name a column of type vector, halfvec or bit", "column %s of %s has type %s", name, d.Collection, typ)
		}
		if name == o.KeyField || o.KeyField == "" && primary {
			d.KeyField, found.key, found.keyType = name, quoted, typ
		}
	}
	switch {
	case len(vectors) == 0 && o.Field != "":
		return found, faultf(NotFound, "check its name", "table %s has no column %s", d.Collection, clip(o.Field))
	case len(vectors) == 0:
		return found, faultf(Mismatch, "choose another table, or a column of bits", "table %s has no vector column", d.Collection)
	case len(vectors) > 1:
		return found, faultf(Mismatch, "name one of them", "table %s has several vector columns: %s", d.Collection, strings.Join(vectors, ", "))
	case d.KeyField == "":
		return found, faultf(Mismatch, "give the key column", "table %s has no single-column primary key, or no column %s", d.Collection, clip(o.KeyField))
	}
	switch found.keyType {
	case "int2", "int4", "int8":
	default:
		d.TextKeys = true
	}
	if d.Dim > 0 {
		return found, nil
	}
	return found, c.measure(d, found)
}

// measure asks a row for its dims, where the column's type does not tell them.
func (c *catalog) measure(d *Description, found chosen) error {
	length := c.schema + ".vector_dims(" + found.vector + ")"
	if d.Element == dist.Bit {
		length = "length(" + found.vector + ")"
	}
	row, err := c.one(fmt.Sprintf("SELECT %s FROM %s WHERE %s IS NOT NULL LIMIT 1", length, d.Collection, found.vector))
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

// metricOf is the metric of an index, by the name of its operators' class: vector_l2_ops.
func metricOf(class string) string {
	for _, known := range [][2]string{{"_l2_", "L2"}, {"_ip_", "IP"}, {"_cosine_", "COSINE"}, {"_l1_", "L1"}, {"_hamming_", "HAMMING"}, {"_jaccard_", "JACCARD"}} {
		if strings.Contains(class, known[0]) {
			return known[1]
		}
	}
	return ""
}

// describeIndex takes the first index that answers the wanted metric, or the first at all if none is wanted.
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
		d.Index, d.Metric, d.IndexParams = r[0], metric, map[string]string{}
		for option := range strings.SplitSeq(r[2], ",") {
			if k, v, ok := strings.Cut(option, "="); ok {
				d.IndexParams[clip(k)] = clip(v)
			}
		}
		if n, err := strconv.ParseInt(r[3], 10, 64); err == nil && n >= 0 {
			d.IndexedRows = n
		}
		break
	}
	if d.Metric == "" {
		return faultf(Mismatch, "name the metric", "column %s of %s has no index to take the metric from", d.Field, d.Collection)
	}
	return nil
}

// prepare makes the statements of sessions. All names that are in them were quoted by the server.
func (c *catalog) prepare(d *Description, found chosen) (*statements, error) {
	op, ok := operator(d.Metric, d.Element)
	if !ok {
		return nil, faultf(Mismatch, "L2, IP, COSINE or L1 for vectors, HAMMING or JACCARD for bits",
			"pgvector has no metric %s for type %s", clip(d.Metric), found.vectorType)
	}
	key, list := found.key+"::bigint", "bigint[]"
	// Compared in the column's own type, keys are found by its index.
	filter := found.key
	if d.TextKeys {
		key, list = found.key+"::text", "text[]"
		if found.keyType != "text" && found.keyType != "varchar" {
			filter = key
		}
	}
	query := "$1::" + c.schema + "." + found.vectorType
	if d.Element == dist.Bit {
		query = fmt.Sprintf("$1::bit(%d)", d.Dim)
	}
	distance := found.vector + " OPERATOR(" + c.schema + "." + op + ") " + query
	begin := "SELECT " + key + ", " + distance + " FROM " + d.Collection
	return &statements{
		all:     begin,
		only:    begin + " WHERE " + filter + " = ANY($2::" + list + ")",
		without: begin + " WHERE " + filter + " <> ALL($2::" + list + ")",
		order:   " ORDER BY " + distance + " LIMIT ",
	}, nil
}

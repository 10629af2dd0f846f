package live

import (
	"context"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"kitescope/engine/dist"
)

const (
	selectMariaColumns = "SELECT COLUMN_NAME, DATA_TYPE, COLUMN_TYPE, COLUMN_KEY FROM information_schema.COLUMNS WHERE TABLE_SCHEMA="
	selectMariaRows    = "SELECT TABLE_ROWS FROM information_schema.TABLES WHERE TABLE_SCHEMA="
	showMariaTable     = "SHOW CREATE TABLE "
)

// mariaVectorKey is a line of SHOW CREATE TABLE: VECTOR KEY `name` (`column`) `distance`='cosine' `m`='8'.
var mariaVectorKey = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("(?m)^ *VECTOR KEY `(?:[^`]|``)*` \\(`((?:[^`]|``)*)`\\)(.*)$")
})

// mariaOption is one of its options.
var mariaOption = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("`?(\\w+)`?='?([^'` ,]*)'?") })

// describe finds columns and index, and makes the statement of sessions.
func (m *mariaDB) describe(ctx context.Context) (Description, mariaStatement, error) {
	d := Description{Kind: "mariadb", Database: m.database, Collection: m.o.Collection, Rows: -1, IndexedRows: -1}
	c, err := m.connect(ctx)
	if err != nil {
		return d, mariaStatement{}, err
	}
	defer c.close()
	ctx, cancel := context.WithTimeout(ctx, m.o.Deadline)
	defer cancel()
	d.Version = "MariaDB " + clip(strings.TrimSuffix(strings.TrimPrefix(c.version, "5.5.5-"), "-MariaDB"))
	if err := m.describeColumns(ctx, c, &d); err != nil {
		return d, mariaStatement{}, err
	}
	if err := m.describeIndex(ctx, c, &d); err != nil {
		return d, mariaStatement{}, err
	}
	if err := d.expected(m.o); err != nil {
		return d, mariaStatement{}, err
	}
	distance, known := map[string]string{"L2": "VEC_DISTANCE_EUCLIDEAN", "COSINE": "VEC_DISTANCE_COSINE"}[d.Metric]
	if !known {
		return d, mariaStatement{}, faultf(Mismatch, "L2 or COSINE", "MariaDB has no metric %s", clip(d.Metric))
	}
	rows, err := m.rows(ctx, c, m.ofTable(selectMariaRows))
	if err != nil {
		return d, mariaStatement{}, err
	}
	if len(rows) == 1 && len(rows[0]) == 1 {
		if n, err := strconv.ParseInt(rows[0][0], 10, 64); err == nil && n >= 0 {
			d.Rows = n
		}
	}
	key := mariaQuoted(d.KeyField)
	return d, mariaStatement{
		begin: "SELECT " + key + ", " + distance + "(" + mariaQuoted(d.Field) + ", ", into: ") AS d FROM " + mariaQuoted(m.database) + "." + mariaQuoted(d.Collection),
		key: key, end: " ORDER BY d LIMIT ",
	}, nil
}

// mariaQuoted is a name as SQL has it.
func mariaQuoted(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }

// ofTable completes a statement that ends in the name of a database.
func (m *mariaDB) ofTable(sql string) []byte {
	b := appendMariaText([]byte(sql), m.database)
	return appendMariaText(append(b, " AND TABLE_NAME="...), m.o.Collection)
}

// rows asks for all rows; NULL is "".
func (m *mariaDB) rows(ctx context.Context, c *mariaConn, sql []byte) ([][]string, error) {
	end, _ := ctx.Deadline()
	var all [][]string
	err := c.query(ctx, end, sql, largestDescription, func(row [][]byte) error {
		texts := make([]string, len(row))
		for i, v := range row {
			texts[i] = string(v)
		}
		all = append(all, texts)
		return nil
	})
	return all, m.fault(ctx, err)
}

func (m *mariaDB) describeColumns(ctx context.Context, c *mariaConn, d *Description) error {
	rows, err := m.rows(ctx, c, m.ofTable(selectMariaColumns))
	if err != nil {
		return err
	}
	if len(rows) == 0 {
		return faultf(NotFound, "check its name, and that the user may select from it", "table %s is not in database %s", clip(m.o.Collection), clip(m.database))
	}
	var vectors, primary []string
	types := map[string]string{}
	for _, r := range rows {
		if len(r) != 4 {
			return m.fault(ctx, errMariaGarbled)
		}
		name, typ := r[0], strings.ToLower(r[1])
		types[name] = typ
		if r[3] == "PRI" {
			primary = append(primary, name)
		}
		if typ == "vector" && (m.o.Field == "" || m.o.Field == name) {
			vectors = append(vectors, name)
			d.Field, d.Element = name, dist.Float32
			d.Dim, _ = strconv.Atoi(strings.Trim(strings.ToLower(r[2]), "vector()"))
		}
	}
	if d.KeyField = m.o.KeyField; d.KeyField == "" && len(primary) == 1 {
		d.KeyField = primary[0]
	}
	typ, known := types[d.KeyField]
	other, asked := types[m.o.Field]
	switch {
	case len(vectors) == 0 && asked:
		return faultf(Mismatch, "name a column of type vector", "column %s of %s has type %s", clip(m.o.Field), clip(d.Collection), clip(other))
	case len(vectors) == 0 && m.o.Field != "":
		return faultf(NotFound, "check its name", "table %s has no column %s", clip(d.Collection), clip(m.o.Field))
	case len(vectors) == 0:
		return faultf(Mismatch, "choose another table", "table %s has no vector column", clip(d.Collection))
	case len(vectors) > 1:
		return faultf(Mismatch, "name one of them", "table %s has several vector columns: %s", clip(d.Collection), strings.Join(vectors, ", "))
	case d.Dim < 1:
		return faultf(Garbled, "", "the dims of column %s of %s are unknown", clip(d.Field), clip(d.Collection))
	case !known:
		return faultf(Mismatch, "give the key column", "table %s has no single-column primary key, or no column %s", clip(d.Collection), clip(m.o.KeyField))
	}
	d.TextKeys = !strings.HasSuffix(typ, "int")
	return nil
}

// describeIndex takes the index of the vectors' column if it answers the wanted metric; without one all rows are compared.
func (m *mariaDB) describeIndex(ctx context.Context, c *mariaConn, d *Description) error {
	rows, err := m.rows(ctx, c, []byte(showMariaTable+mariaQuoted(m.database)+"."+mariaQuoted(d.Collection)))
	if err != nil {
		return err
	}
	d.Metric = m.o.Metric
	if len(rows) != 1 || len(rows[0]) < 2 {
		return m.fault(ctx, errMariaGarbled)
	}
	for _, found := range mariaVectorKey().FindAllStringSubmatch(rows[0][1], -1) {
		if strings.ReplaceAll(found[1], "``", "`") != d.Field {
			continue
		}
		options := map[string]string{}
		for _, o := range mariaOption().FindAllStringSubmatch(found[2], -1) {
			options[clip(strings.ToLower(o[1]))] = clip(o[2])
		}
		metric := "L2" // a table says what is not MariaDB's default
		if strings.EqualFold(options["distance"], "cosine") {
			metric = "COSINE"
		}
		if d.Metric == "" || d.Metric == metric {
			d.Metric, d.Index, d.IndexParams = metric, "hnsw", options // a modified HNSW (mhnsw)
		}
	}
	if d.Metric == "" {
		return faultf(Mismatch, "name the metric", "column %s of %s has no index to take the metric from", clip(d.Field), clip(d.Collection))
	}
	return nil
}

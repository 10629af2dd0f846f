package expr_test

import (
	"bufio"
	"compress/gzip"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"kitescope/engine/binlog"
	"kitescope/engine/expr"
	"kitescope/engine/object"
)

// response is the response of a real server to a query with an expression: the ids of rows as bits, or an error.
// testdata/README.md describes how the responses were recorded.
type response struct {
	Expr, Rows, Error string
	N                 int
}

func readResponses(t testing.TB, version string) (list []response) {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", "milvus-"+version+".jsonl.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(z); lines.Scan(); {
		var a response
		if err := json.Unmarshal(lines.Bytes(), &a); err != nil {
			t.Fatal(err)
		}
		list = append(list, a)
	}
	return list
}

// schemaOf returns the schema of the collections in testdata. Fields are numbered from 100 on. Before 2.3 there
// was neither JSON nor arrays.
func schemaOf(major, minor int) *expr.Schema {
	s := &expr.Schema{Release: expr.Release{Major: major, Minor: minor}}
	add := func(name string, t, element binlog.Type) {
		s.Fields = append(s.Fields, expr.Field{ID: int64(100 + len(s.Fields)), Name: name, Type: t, Element: element})
	}
	for _, f := range []struct {
		name string
		t    binlog.Type
	}{
		{"id", binlog.Int64},
		{"vec", binlog.FloatVector},
		{"b", binlog.Bool},
		{"i8", binlog.Int8},
		{"i16", binlog.Int16},
		{"i32", binlog.Int32},
		{"i64", binlog.Int64},
		{"f", binlog.Float},
		{"d", binlog.Double},
		{"s", binlog.VarChar},
		{"g", binlog.Int64},
	} {
		add(f.name, f.t, binlog.None)
	}
	if major == 2 && minor < 3 {
		return s
	}
	add("j", binlog.JSON, binlog.None)
	for _, f := range []struct {
		name string
		t    binlog.Type
	}{
		{"ab", binlog.Bool},
		{"a8", binlog.Int8},
		{"a64", binlog.Int64},
		{"af", binlog.Float},
		{"ad", binlog.Double},
		{"as", binlog.VarChar},
	} {
		add(f.name, binlog.Array, f.t)
	}
	add("$meta", binlog.JSON, binlog.None)
	s.Fields[len(s.Fields)-1].Dynamic = true
	return s
}

// segments returns the columns of each segment in testdata.
func segments(t testing.TB, version string, schema *expr.Schema) (list []*expr.Columns) {
	t.Helper()
	ctx := context.Background()
	store, err := object.OpenTar(ctx, filepath.Join("testdata", "milvus-"+version+".tar.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	files, err := store.List(ctx, "insert_log/")
	if err != nil {
		t.Fatal(err)
	}
	logs := map[string]map[int64][]string{}
	for _, f := range files {
		parts := strings.Split(f.Name, "/") // insert_log/COLLECTION/PARTITION/SEGMENT/FIELD/LOG
		field, err := strconv.ParseInt(parts[4], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		if logs[parts[3]] == nil {
			logs[parts[3]] = map[int64][]string{}
		}
		logs[parts[3]][field] = append(logs[parts[3]][field], f.Name)
	}
	for _, segment := range logs {
		c := &expr.Columns{Fields: map[int64]*binlog.Column{}}
		for _, f := range schema.Fields {
			if f.Type == binlog.FloatVector {
				continue
			}
			column, err := binlog.ReadColumns(ctx, store, segment[f.ID])
			if err != nil {
				t.Fatal(err)
			}
			c.Rows, c.Fields[f.ID] = column.Rows, column
		}
		list = append(list, c)
	}
	return list
}

// ids returns the primary keys of the rows that pass a plan, as bits.
func ids(t testing.TB, p *expr.Plan, list []*expr.Columns) []byte {
	t.Helper()
	bits := make([]byte, 75)
	for _, c := range list {
		left, err := p.Excluded(c)
		if err != nil {
			t.Fatalf("%s: %v", p.Text, err)
		}
		for row, id := range c.Fields[100].Int64s {
			if !left.Has(row) {
				bits[id/8] |= 1 << (id % 8)
			}
		}
	}
	return bits
}

// partlyParsed holds expressions that 2.1 reads only in part, because its parser does not check for the end of the
// text.
var partlyParsed = map[string]bool{
	"i8 > 0)": true, "i8 > 0 AND i16 > 0": true, "i8 > 0 OR i16 > 0": true, "i8 in[1]": true,
}

// TestServers compares the rows that match expressions with the rows that real servers returned.
func TestServers(t *testing.T) {
	for _, version := range []string{"2.1.0", "2.2.16", "2.3.5"} {
		t.Run(version, func(t *testing.T) {
			schema := schemaOf(2, int(version[2]-'0'))
			list := segments(t, version, schema)
			all := readResponses(t, version)
			present := []byte(nil) // without deleted rows
			for _, a := range all {
				if a.Expr == "id >= 0" {
					present = unhex(t, a.Rows)
				}
			}
			same, refused, more := 0, 0, 0
			for _, a := range all {
				p, err := expr.Parse(a.Expr, schema)
				if version == "2.1.0" && partlyParsed[a.Expr] {
					continue
				}
				if a.Error != "" {
					if err != nil {
						refused++
					} else {
						more++
						t.Logf("answered here only: %s (%s)", a.Expr, a.Error)
					}
					continue
				}
				if err != nil {
					t.Errorf("%s: %v", a.Expr, err)
					continue
				}
				got, want := ids(t, p, list), unhex(t, a.Rows)
				for i := range got {
					got[i] &= present[i]
				}
				if diff := differ(got, want); diff != "" {
					t.Errorf("%s: %s", a.Expr, diff)
					continue
				}
				same++
			}
			t.Logf("%d the same, %d refused by both, %d answered here only", same, refused, more)
			if same < 300 {
				t.Errorf("%d expressions compared, expected 300 and more", same)
			}
		})
	}
}

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// differ describes the first rows that only one of the two has.
func differ(got, want []byte) string {
	var more, less []int
	for i := range 8 * len(want) {
		g, w := got[i/8]>>(i%8)&1, want[i/8]>>(i%8)&1
		if g > w {
			more = append(more, i)
		}
		if g < w {
			less = append(less, i)
		}
	}
	if len(more)+len(less) == 0 {
		return ""
	}
	return fmt.Sprintf("%d rows more %v, %d less %v", len(more), more[:min(3, len(more))], len(less),
		less[:min(3, len(less))])
}

package view

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"kitescope/inspect/model"
	"kitescope/internal/table"
	"kitescope/internal/words"
)

// TestHeadersAreNames checks that a column is found by its name and by its header, with spaces or
// underscores.
func TestHeadersAreNames(t *testing.T) {
	for _, r := range Resources {
		for i := range r.Columns {
			c := &r.Columns[i]
			label := c.Label()
			for _, name := range []string{c.Name, label, strings.ReplaceAll(label, " ", "_")} {
				if at := r.Column(name); at < 0 || r.Columns[at].Label() != label {
					t.Errorf("%s: %q finds column %d, not %d", r.Name, name, at, i)
				}
			}
		}
	}
}

// TestNodesAreFoundByAnyName checks that a node is found by its name, in any case, and by its id, in all
// columns with nodes. Ids still compare as numbers.
func TestNodesAreFoundByAnyName(t *testing.T) {
	env := smallEnv()
	found := map[table.Kind]int{}
	for _, r := range Resources {
		rows := r.Table(env)
		for i := range r.Columns {
			column, kind := r.Columns[i].Name, r.Columns[i].Kind
			if !kind.Named() {
				continue
			}
			for row := range rows.Len() {
				c := rows.Cell(row, i)
				ids, names := c.List[:len(c.List)/2], c.List[len(c.List)/2:]
				if kind == table.NamedID && c.Absent == table.Present {
					ids, names = []string{strconv.FormatInt(c.Int, 10)}, []string{c.Text}
				}
				for k, name := range names {
					where := column
					switch {
					case name == ids[k]: // a node that is gone and whose role is unknown
						continue
					case kind == table.NamedPairs && k%2 == 0:
						continue // the key
					case kind == table.NamedPairs:
						where += "." + names[k-1]
					case !strings.Contains(name, "-"+ids[k]):
						t.Errorf("%s.%s: node %s is called %q", r.Name, column, ids[k], name)
					}
					for _, word := range []string{ids[k], name, strings.ToUpper(name), name[:4] + "*"} {
						s, err := ParseSelection(r, []string{where + "=" + word})
						if err != nil || !s.Match(rows, row) {
							t.Errorf("%s %s=%s does not find row %d: %v", r.Name, where, word, row, err)
						}
						found[kind]++
					}
				}
			}
		}
	}
	if found[table.NamedID] == 0 || found[table.NamedIDs] == 0 || found[table.NamedPairs] == 0 {
		t.Errorf("no cells with nodes of a kind: %v", found)
	}
	if got := selectIDs(t, env, "vchannels", "watcher=datanode-99"); len(got) > 0 {
		t.Errorf("datanode-99 watches %v", got)
	}
	if s, err := ParseSelection(vchannels, []string{"watcher>datanode-3"}); err == nil {
		t.Errorf("names are compared: %v", s.Words())
	}
	if !slices.Equal(selectIDs(t, env, "vchannels", "watcher>0"), selectIDs(t, env, "vchannels", "watcher!=")) {
		t.Error("ids are not compared as numbers")
	}
}

// TestNodesNeedSessions checks that a column of nodes needs the sessions. Without them it would have only
// ids.
func TestNodesNeedSessions(t *testing.T) {
	q := Query{Columns: []string{"name", "watcher"}}
	if needs, err := q.Needs(vchannels); err != nil || !needs.Has(model.PartSessions) {
		t.Errorf("%v, %v", needs, err)
	}
}

// TestSelectShownNumbers checks that a selection by a size or an age, as a table shows it, finds the row.
func TestSelectShownNumbers(t *testing.T) {
	rows := segments.Table(smallEnv())
	for _, c := range []struct {
		label string
		shown func(table.Cell) string
	}{
		{"size", func(c table.Cell) string { return words.Bytes(c.Int) }},
		{"age", func(c table.Cell) string { return words.Age(time.Duration(c.Int)) }},
	} {
		for row := range rows.Len() {
			cell := rows.Cell(row, segments.Column(c.label))
			s, err := ParseSelection(segments, []string{c.label + "=" + c.shown(cell)})
			if err != nil || cell.Absent == table.Present && !s.Match(rows, row) {
				t.Errorf("%s=%s does not find row %d: %v", c.label, c.shown(cell), row, err)
			}
		}
	}
}

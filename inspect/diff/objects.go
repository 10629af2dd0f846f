package diff

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"kitescope/inspect/model"
	"kitescope/inspect/view"
	"kitescope/internal/table"
	"kitescope/internal/words"
)

// kind holds the columns of a resource that are compared.
type kind struct {
	*view.Resource
	columns []int
	// volatile is a column that changes in a healthy cluster without an operation, or -1. It is compared only
	// with Options.Volatile.
	volatile int
}

// kinds holds all kinds of objects except segments, in the order of the output. Only the existence of
// roles is compared, because users and grants are kinds of their own.
var kinds = []kind{
	newKind("databases", "name state properties", ""),
	newKind("collections", "name state database_id shards consistency_level vchannels properties description layout",
		""),
	newKind("partitions", "name state", ""),
	newKind("fields", "name type element_type state params index_params default primary_key", ""),
	newKind("aliases", "collection_id state", ""),
	newKind("vchannels", "pchannel watcher watch_state other_watchers removal state", "checkpoint_at"),
	newKind("pchannels", "state node access_mode", "checkpoint_at"),
	newKind("indexes", "name field_id type metric params deleted", ""),
	newKind("load-states", "state replicas load_type partitions", "percent"),
	newKind("replicas", "resource_group nodes ro_nodes streaming_nodes ro_streaming_nodes", ""),
	newKind("resource-groups", "nodes capacity requests limits", ""),
	newKind("nodes", "address version state host labels", ""),
	newKind("users", "roles", ""),
	newKind("roles", "", ""),
	newKind("grants", "grantor", ""),
	newKind("privilege-groups", "privileges", ""),
	newKind("config", "value", "mod_revision"),
	newKind("tasks", "state reason node", "progress"),
}

func newKind(resource, columns, volatile string) kind {
	r, err := view.Find(resource)
	if err != nil {
		panic(err)
	}
	k := kind{Resource: r, volatile: -1}
	for name := range strings.FieldsSeq(columns) {
		k.columns = append(k.columns, r.Column(name))
	}
	if volatile != "" {
		k.volatile = r.Column(volatile)
	}
	return k
}

func (k *kind) compare(p *pair) {
	if !p.bothRead(k.Name, k.Needs) {
		return
	}
	a, b := k.Table(&view.Env{Cluster: p.a.WithRuntime(nil)}), k.Table(&view.Env{Cluster: p.b.WithRuntime(nil)})
	before := make(map[string]int)
	for row := range a.Len() {
		// on both sides, only the first of several rows with the same ID counts
		if id := a.Ref(row).ID; !has(before, id) {
			before[id] = row
		}
	}
	after := make(map[string]int)
	for row := range b.Len() {
		ref := b.Ref(row)
		if has(after, ref.ID) {
			continue
		}
		after[ref.ID] = row
		if x, ok := before[ref.ID]; ok {
			k.compareRows(p, a, x, b, row)
		} else {
			c := Change{Kind: Added, Object: ref, Collection: p.collectionRef(collectionOf(b, row))}
			c.To, c.ToNames = k.describe(b, row)
			p.add(c)
		}
	}
	for row := range a.Len() {
		ref := a.Ref(row)
		if !has(after, ref.ID) {
			after[ref.ID] = row
			c := Change{Kind: Removed, Object: ref, Collection: p.collectionRef(collectionOf(a, row))}
			c.From, c.FromNames = k.describe(a, row)
			p.add(c)
		}
	}
}

func has(rows map[string]int, id string) bool {
	_, ok := rows[id]
	return ok
}

func (k *kind) compareRows(p *pair, a view.Table, x int, b view.Table, y int) {
	columns := k.columns
	if k.volatile >= 0 && p.options.Volatile {
		columns = append(slices.Clip(columns), k.volatile)
	}
	for _, column := range columns {
		before, after, kind := a.Cell(x, column), b.Cell(y, column), k.Columns[column].Kind
		if from, to := text(before.ForScripts(kind)), text(after.ForScripts(kind)); from != to {
			p.add(Change{
				Kind: Changed, Object: b.Ref(y), Collection: p.collectionRef(collectionOf(b, y)),
				Field: k.Columns[column].Name, From: from, To: to,
				FromNames: text(before.ForPeople(kind)), ToNames: text(after.ForPeople(kind)),
			})
		}
	}
}

// collectionOf returns the id of the collection that an object is or belongs to, or 0 if it belongs to none.
func collectionOf(t view.Table, row int) model.CollectionID {
	ref := t.Ref(row)
	if ref.Resource != "collections" {
		ref, _ = t.Owner(row)
	}
	if ref.Resource != "collections" {
		return 0
	}
	id, _ := strconv.ParseInt(ref.ID, 10, 64)
	return model.CollectionID(id)
}

// describe returns the values of an added or removed object, with the ids of nodes and with their names.
// The name and the moving column are left out.
func (k *kind) describe(t view.Table, row int) (ids, names string) {
	var byID, byName []string
	for _, column := range k.columns {
		c, of := t.Cell(row, column), &k.Columns[column]
		if value := text(c.ForScripts(of.Kind)); value != "" && of.Name != "name" {
			byID, byName = append(byID, of.Name+"="+value), append(byName, of.Name+"="+text(c.ForPeople(of.Kind)))
		}
	}
	return strings.Join(byID, " "), strings.Join(byName, " ")
}

// text returns the text of a cell for a Change. Lists are sorted. False and absent values give "".
func text(c table.Cell, kind table.Kind) string {
	if c.Absent != table.Present {
		return ""
	}
	switch kind {
	case table.Text, table.State:
		return c.Text
	case table.Bool:
		if c.Int == 0 {
			return ""
		}
		return "true"
	case table.Time:
		return timeText(time.Unix(0, c.Int))
	case table.Percent:
		return strconv.FormatFloat(c.Float, 'f', -1, 64)
	case table.List:
		return strings.Join(slices.SortedFunc(slices.Values(c.List), words.CompareNatural), ",")
	case table.Pairs:
		var parts []string
		for pair := range slices.Chunk(c.List, 2) {
			parts = append(parts, strings.Join(pair, "="))
		}
		slices.Sort(parts)
		return strings.Join(parts, ",")
	default:
		return strconv.FormatInt(c.Int, 10)
	}
}

func timeText(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// emptyEnv is an empty cluster, the environment of objects that are described without their cluster.
var emptyEnv = &view.Env{Cluster: model.Build(model.Parts{Loaded: model.PartAll})}

// single returns a table with one object of the model and the kind of the object. Both are nil if objects
// of its type are not compared.
func single(object any) (*kind, view.Table) {
	t := view.Single(emptyEnv, object)
	if t == nil {
		return nil, nil
	}
	i := slices.IndexFunc(kinds, func(k kind) bool { return k.Resource == t.Resource() })
	return &kinds[i], t
}

// Describe returns the Ref of an object of the model, its collection (0 if it has none) and the text that
// describes it as an added object. The text is "" if objects of its type are not compared.
func Describe(object any) (ref model.Ref, collection model.CollectionID, text string) {
	k, t := single(object)
	if k == nil {
		return model.Ref{}, 0, ""
	}
	text, _ = k.describe(t, 0)
	return t.Ref(0), collectionOf(t, 0), text
}

// Fields returns the fields of an object whose values differ between before and after, which must have the
// same type. It skips the moving columns (see Options.Volatile) and leaves Change.Collection zero. It returns
// nil if objects of this type are not compared.
func Fields(before, after any) []Change {
	k, a := single(before)
	if k == nil {
		return nil
	}
	_, b := single(after)
	p := &pair{a: emptyEnv.Cluster, b: emptyEnv.Cluster, diff: &Diff{}}
	k.compareRows(p, a, 0, b, 0)
	for i := range p.diff.Changes {
		p.diff.Changes[i].Collection = model.Ref{}
	}
	return p.diff.Changes
}

package view

import (
	"cmp"
	"slices"
	"strings"

	"kitescope/inspect/model"
	"kitescope/internal/table"
)

const (
	// deepestPrefix is how many levels are told apart, and prefixIDs how many ids may be among them: a collection's and a partition's, as
	// a row for each segment would add nothing up, and there are a million.
	deepestPrefix, prefixIDs = 6, 2
	// usualPrefix is how many levels people see unless they ask for more: of binlogs ROOT/meta/datacoord-meta/binlog/.
	usualPrefix = 4
)

// prefixRow is what the keys under one prefix take in etcd.
type prefixRow struct {
	usage
	prefix string // with the slash at its end
	depth  int
	// collection is the one that all of its keys name; several says that they name more than one, or that some name none.
	collection model.CollectionID
	several    bool
}

var etcdPrefixes = define(definition[*prefixRow]{
	Resource: Resource{
		Schema: table.Schema{
			Name: "etcd-prefixes", Singular: "etcd-prefix", Names: []string{"prefix"}, Slashes: true,
			Shorthands: collectionShorthands("level", "depth"),
		},
		Aliases:  []string{"prefixes"},
		Doc:      "What the keys under each prefix take in etcd, the largest first, down to 6 levels; tables show 4, unless a depth is given.",
		Needs:    model.PartAll,
		Keyspace: true,
		Leaves:   "deeper", Tells: []string{"depth", "collection", "collection_id"},
	},
	rows: prefixRows,
	columns: concat([]column[*prefixRow]{
		col(table.Column{Name: "prefix", Doc: "The beginning of the keys, up to a slash. A key counts for every prefix that it has."},
			func(_ *Env, p *prefixRow) table.Cell { return text(p.prefix) }),
		col(table.Column{Name: "depth", Kind: table.Int, Priority: 4, Doc: "Levels of the prefix: 1 for the root path."},
			func(_ *Env, p *prefixRow) table.Cell { return count(int64(p.depth)) }),
		col(table.Column{Name: "keys", Kind: table.Int, Doc: "Keys under it, on all levels below."},
			func(_ *Env, p *prefixRow) table.Cell { return count(p.keys) }),
	}, usageColumns(func(p *prefixRow) *usage { return &p.usage }), []column[*prefixRow]{
		col(table.Column{Name: "collection_id", Kind: table.ID, Show: table.OnDemand, Doc: "Id of the collection that all of its keys name; none if they name several."},
			func(_ *Env, p *prefixRow) table.Cell { return someID(p.only()) }),
		col(table.Column{Name: "collection", Show: table.Wide, Priority: 5, By: "collection_id", Doc: "Name of that collection, none if it is gone."},
			func(e *Env, p *prefixRow) table.Cell { return text(e.Cluster.CollectionName(p.only())) }),
	}),
	ref:  func(_ *Env, p *prefixRow) Ref { return Ref{ID: p.prefix, Name: p.prefix} },
	left: func(_ *Env, p *prefixRow) bool { return p.depth > usualPrefix },
	links: func(_ *Env, p *prefixRow) []Link {
		return []Link{link("keys", "keys", "key="+p.prefix+"*")}
	},
})

// only is the collection that all keys name, 0 if there is no such.
func (p *prefixRow) only() model.CollectionID {
	if p.several {
		return 0
	}
	return p.collection
}

func (p *prefixRow) named(by model.CollectionID, first bool) {
	if first {
		p.collection = by
	} else if p.collection != by {
		p.several = true
	}
}

// prefixRows go through the keys once: as they are in order, those of a prefix stand together.
func prefixRows(e *Env) []*prefixRow {
	space := e.Cluster.Keyspace
	if space == nil {
		return nil
	}
	var rows, open []*prefixRow // open are those that the last key is under, each a level deeper
	var all int64
	shut := func(depth int) {
		for len(open) > depth {
			p := open[len(open)-1]
			open = open[:len(open)-1]
			if len(open) > 0 {
				above := open[len(open)-1]
				above.named(p.collection, above.keys == 0)
				above.several = above.several || p.several
				above.add(&p.usage)
			}
		}
	}
	for i := range space.Len() {
		info, collection := space.Info(i), space.Collection(i)
		shut(under(open, info.Key))
		for len(open) < deepestPrefix {
			prefix := nextPrefix(info.Key, open)
			if prefix == "" || idsIn(prefix) > prefixIDs {
				break
			}
			p := &prefixRow{prefix: strings.Clone(prefix), depth: len(open) + 1}
			rows, open = append(rows, p), append(open, p)
		}
		if len(open) == 0 { // a key without a slash
			all += int64(len(info.Key) + info.Size)
			continue
		}
		last := open[len(open)-1]
		last.named(collection, last.keys == 0)
		all += last.count(info)
	}
	shut(0)
	for _, p := range rows {
		p.all = all
	}
	slices.SortStableFunc(rows, func(a, b *prefixRow) int { return cmp.Compare(b.bytes, a.bytes) })
	return rows
}

// idsIn counts the levels of a prefix that are ids.
func idsIn(prefix string) (n int) {
	for step := range strings.SplitSeq(prefix, "/") {
		if step != "" && strings.Trim(step, "0123456789") == "" {
			n++
		}
	}
	return n
}

// under is how many of the prefixes a key has.
func under(open []*prefixRow, key string) int {
	n := len(open)
	for n > 0 && !strings.HasPrefix(key, open[n-1].prefix) {
		n--
	}
	return n
}

// nextPrefix is the key's prefix that is one level deeper than the last, "" if there is none. A slash at the beginning is no level.
func nextPrefix(key string, open []*prefixRow) string {
	from := 1
	if len(open) > 0 {
		from = len(open[len(open)-1].prefix)
	}
	if from > len(key) {
		return ""
	}
	slash := strings.IndexByte(key[from:], '/')
	if slash < 0 {
		return ""
	}
	return key[:from+slash+1]
}

package view

import (
	"cmp"
	"slices"
	"strings"

	"kitescope/inspect/model"
	"kitescope/internal/table"
)

const (
	// maxPrefixDepth is the maximum number of levels of a prefix. prefixIDs is the maximum number of ids among
	// them, e.g. those of a collection and a partition: with segment ids too there would be a million rows
	// that add up nothing.
	maxPrefixDepth, prefixIDs = 6, 2
	// defaultPrefixDepth is the number of levels that lists show by default, e.g. ROOT/meta/datacoord-meta/binlog/
	// for binlogs.
	defaultPrefixDepth = 4
)

// prefixRow is the etcd usage of the keys under one prefix.
type prefixRow struct {
	usage
	prefix string // with the trailing slash
	depth  int
	// collection is the one that all keys name. multiple is true if they name more than one, or if some name
	// none.
	collection model.CollectionID
	multiple   bool
}

var etcdPrefixes = define(definition[*prefixRow]{
	Resource: Resource{
		Schema: table.Schema{
			Name: "etcd-prefixes", Singular: "etcd-prefix", Names: []string{"prefix"}, Slashes: true,
			Shorthands: collectionShorthands("level", "depth"),
		},
		Aliases: []string{"prefixes"},
		Doc: "Space in etcd by key prefix, largest first, down to 6 levels; tables show 4 unless a depth is " +
			"given.",
		Needs:    model.PartAll,
		Keyspace: true,
		Omits:    "deeper", OmitOverrides: []string{"depth", "collection", "collection_id"},
	},
	rows: prefixRows,
	columns: concat([]column[*prefixRow]{
		col(table.Column{
			Name: "prefix", Doc: "The beginning of the keys, up to a slash. A key counts for every prefix that it has.",
		},
			func(_ *Env, p *prefixRow) table.Cell { return text(p.prefix) }),
		col(table.Column{
			Name: "depth", Kind: table.Int, Priority: 4, Doc: "Levels of the prefix: 1 for the root path.",
		},
			func(_ *Env, p *prefixRow) table.Cell { return count(int64(p.depth)) }),
		col(table.Column{Name: "keys", Kind: table.Int, Doc: "Keys under it, on all levels below."},
			func(_ *Env, p *prefixRow) table.Cell { return count(p.keys) }),
	}, usageColumns(func(p *prefixRow) *usage { return &p.usage }), []column[*prefixRow]{
		col(table.Column{
			Name: "collection_id", Kind: table.ID, Show: table.OnDemand,
			Doc: "Id of the collection that all of its keys name; none if they name several.",
		},
			func(_ *Env, p *prefixRow) table.Cell { return idOrNone(p.soleCollection()) }),
		col(table.Column{
			Name: "collection", Show: table.Wide, Priority: 5, IDColumn: "collection_id",
			Doc: "Name of that collection, none if it is gone.",
		},
			func(e *Env, p *prefixRow) table.Cell { return text(e.Cluster.CollectionName(p.soleCollection())) }),
	}),
	ref:     func(_ *Env, p *prefixRow) Ref { return Ref{ID: p.prefix, Name: p.prefix} },
	omitted: func(_ *Env, p *prefixRow) bool { return p.depth > defaultPrefixDepth },
	links: func(_ *Env, p *prefixRow) []Link {
		return []Link{link("keys", "keys", "key="+p.prefix+"*")}
	},
})

// soleCollection returns the collection that all keys name, or 0.
func (p *prefixRow) soleCollection() model.CollectionID {
	if p.multiple {
		return 0
	}
	return p.collection
}

func (p *prefixRow) addCollection(by model.CollectionID, first bool) {
	if first {
		p.collection = by
	} else if p.collection != by {
		p.multiple = true
	}
}

// prefixRows returns the usage of each prefix, the largest first. It reads the keys once: they are sorted, so
// the keys of a prefix are adjacent.
func prefixRows(e *Env) []*prefixRow {
	space := e.Cluster.Keyspace
	if space == nil {
		return nil
	}
	var rows, open []*prefixRow // open holds the prefixes of the last key, one per level
	var all int64
	shut := func(depth int) {
		for len(open) > depth {
			p := open[len(open)-1]
			open = open[:len(open)-1]
			if len(open) > 0 {
				above := open[len(open)-1]
				above.addCollection(p.collection, above.keys == 0)
				above.multiple = above.multiple || p.multiple
				above.add(&p.usage)
			}
		}
	}
	for i := range space.Len() {
		info, collection := space.Info(i), space.Collection(i)
		shut(openPrefixes(open, info.Key))
		for len(open) < maxPrefixDepth {
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
		last.addCollection(collection, last.keys == 0)
		all += last.count(info)
	}
	shut(0)
	for _, p := range rows {
		p.all = all
	}
	slices.SortStableFunc(rows, func(a, b *prefixRow) int { return cmp.Compare(b.bytes, a.bytes) })
	return rows
}

// idsIn returns the number of levels of a prefix that are ids.
func idsIn(prefix string) (n int) {
	for step := range strings.SplitSeq(prefix, "/") {
		if step != "" && strings.Trim(step, "0123456789") == "" {
			n++
		}
	}
	return n
}

// openPrefixes returns the number of open prefixes that a key has.
func openPrefixes(open []*prefixRow, key string) int {
	n := len(open)
	for n > 0 && !strings.HasPrefix(key, open[n-1].prefix) {
		n--
	}
	return n
}

// nextPrefix returns the key's prefix that is one level deeper than the last open one, or "". A leading slash
// does not count as a level.
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

package view

import (
	"cmp"
	"slices"

	"kitescope/inspect/model"
	"kitescope/internal/table"
)

// Node is one line of a tree with its children.
type Node struct {
	Ref Ref
	// Kind is the resource's singular: "collection", "partition", "vchannel", "segment", "index".
	Kind string
	// Label is the name of the object for people.
	Label    string
	Children []*Node
	// Findings counts the findings about the object. Worst adds those about all descendants. Both are zero if
	// no checks ran.
	Findings, Worst table.Tally
	// Omitted is the number of segments that are left out, set only on the root.
	Omitted int

	fields func() []Field
}

// Fields returns the values of the object. It computes them on each call, because a tree of 20,000 segments
// has too many cells to keep.
func (n *Node) Fields() []Field { return n.fields() }

// TreeOptions are the options of a tree.
type TreeOptions struct {
	// All shows dropped segments too.
	All bool
	// Worst sorts the children of each node by their findings, worst first.
	Worst bool
}

// TreeNeeds lists the parts of the metadata for a tree.
const TreeNeeds = model.PartCatalog | model.PartChannels | model.PartSegments | model.PartLogs |
	model.PartSegmentIndexes

// NewTree returns the tree of a collection: partitions, their vchannels, their segments, and their indexes.
// The collection is a name, "database.name", alias or id. An id also finds leftovers of a dropped collection.
func NewTree(env *Env, collection string, options TreeOptions) (*Node, error) {
	id, err := oneCollection(env, collection)
	if err != nil {
		return nil, err
	}
	b := treeBuilder{env: env, options: options}
	root := b.collection(id)
	byPartition := map[model.PartitionID][]*model.Segment{}
	for _, s := range env.Cluster.SegmentsOf(id) {
		if !options.All && s.State == model.SegmentDropped {
			root.Omitted++
			continue
		}
		byPartition[s.Partition] = append(byPartition[s.Partition], s)
	}
	known := map[model.PartitionID]bool{}
	for _, p := range env.Cluster.PartitionsOf(id) {
		known[p.ID] = true
		root.Children = append(root.Children, b.partition(p, byPartition[p.ID]))
	}
	for _, p := range sortedKeys(byPartition) { // L0 segments for all partitions, and leftovers
		if !known[p] {
			lost := &model.Partition{ID: p, Collection: id, Name: env.Cluster.PartitionName(p)}
			root.Children = append(root.Children, b.partition(lost, byPartition[p]))
		}
	}
	if env.Judgement != nil {
		root.addFindings(env.Judgement, options.Worst)
	}
	return root, nil
}

// addFindings adds the results of checks.
func (n *Node) addFindings(j *Judgement, worstFirst bool) {
	n.Findings = j.Tally(n.Ref)
	n.Worst = n.Findings
	for _, c := range n.Children {
		c.addFindings(j, worstFirst)
		n.Worst = n.Worst.Plus(c.Worst)
	}
	if worstFirst {
		slices.SortStableFunc(n.Children, func(a, b *Node) int {
			return cmp.Compare(b.Worst.Weight(), a.Worst.Weight())
		})
	}
}

func oneCollection(env *Env, word string) (model.CollectionID, error) {
	t := collections.Table(env)
	row, err := Lookup(t, word)
	if err == nil {
		return env.Cluster.Collections[row].ID, nil
	}
	if ids := collectionIDs(env.Cluster, word); len(ids) == 1 && len(env.Cluster.SegmentsOf(ids[0])) > 0 {
		return ids[0], nil
	}
	return 0, err
}

type treeBuilder struct {
	env     *Env
	options TreeOptions
}

// node returns the node of an object with some columns of its row. It computes the cells on demand to save
// memory, because a tree has many nodes.
func node[T any](b *treeBuilder, r *Resource, row T, label string, columns ...string) *Node {
	env := b.env
	ref := r.def.(*definition[T]).ref(env, row)
	ref.Resource = r.Name
	return &Node{Ref: ref, Kind: r.Singular, Label: label, fields: func() []Field {
		t := tableOf(env, r, row)
		list := make([]Field, len(columns), len(columns)+1)
		for k, name := range columns {
			i := r.Column(name)
			list[k] = Field{&r.Columns[i], t.Cell(0, i)}
		}
		if env.Judgement.Tally(ref) != (table.Tally{}) {
			i := r.Column("findings")
			list = append(list, Field{&r.Columns[i], t.Cell(0, i)})
		}
		return list
	}}
}

// These column lists are shared by all nodes of a kind, to save memory.
var (
	segmentFields = []string{"state", "level", "rows", "deleted_rows", "size_bytes", "index_state"}
	indexFields   = []string{"field", "type", "state", "rows", "size_bytes", "fail_reason"}
	missingFields = []string{"field", "type", "state"}
)

func (b *treeBuilder) collection(id model.CollectionID) *Node {
	c := b.env.Cluster.Collection(id)
	if c == nil {
		c = &model.Collection{ID: id, State: "Dropped"}
		return node(b, collections, c, id.String()+" (gone)", "id", "rows", "segments", "size_bytes")
	}
	return node(b, collections, c, qualifiedName(b.env, c), "id", "rows", "segments", "size_bytes", "shards",
		"load_state", "indexed_percent")
}

func (b *treeBuilder) partition(p *model.Partition, list []*model.Segment) *Node {
	label := p.Name
	if label == "" {
		label = p.ID.String() + " (gone)"
	}
	columns := []string{"id", "rows", "segments", "size_bytes"}
	if b.env.Cluster.Partition(p.ID) != nil {
		columns = append(columns, "load_state")
	}
	n := node(b, partitions, p, label, columns...)
	byChannel := map[string][]*model.Segment{}
	for _, s := range list {
		byChannel[s.VChannel] = append(byChannel[s.VChannel], s)
	}
	names := sortedKeys(byChannel)
	for _, v := range b.env.Cluster.VChannelsOf(p.Collection) { // also empty ones, if the partition exists
		if _, ok := byChannel[v.Name]; !ok && p.ID != -1 && b.env.Cluster.Partition(p.ID) != nil {
			names = append(names, v.Name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		n.Children = append(n.Children, b.vchannel(name, byChannel[name]))
	}
	return n
}

// vchannel returns the node of a vchannel. It counts only the segments of its partition.
func (b *treeBuilder) vchannel(name string, list []*model.Segment) *Node {
	v := b.env.Cluster.VChannel(name)
	if v == nil {
		v = &model.VChannel{Name: name, Shard: -1}
	}
	n := node(b, vchannels, v, name, "checkpoint_age_seconds", "watcher")
	var totals model.Totals
	for _, s := range list {
		totals.Add(s, b.env.Cluster.IndexState(s))
	}
	own := n.fields
	n.fields = func() []Field { return append(b.sums(&totals), own()...) }
	n.Children = make([]*Node, len(list))
	for i, s := range list {
		n.Children[i] = b.segment(s)
	}
	return n
}

func (b *treeBuilder) sums(t *model.Totals) []Field {
	var list []Field
	for _, sum := range []struct {
		column string
		value  table.Cell
	}{{"rows", count(t.Rows)}, {"segments", count(int64(t.Segments))}, {"size_bytes", sizeOf(*t)}} {
		i := collections.Column(sum.column)
		c := &collections.Columns[i]
		cell := sum.value
		if !b.env.Cluster.Loaded.Has(collections.NeedsOf(i)) {
			cell = unknown()
		}
		list = append(list, Field{c, cell})
	}
	return list
}

func (b *treeBuilder) segment(s *model.Segment) *Node {
	n := node(b, segments, s, s.ID.String(), segmentFields...)
	for i := range s.Indexes {
		x := &s.Indexes[i]
		if x.Deleted && !b.options.All {
			continue
		}
		label := indexName(b.env, x.Index)
		n.Children = append(n.Children, node(b, segmentIndexes, x, label, indexFields...))
	}
	b.missing(n, s)
	return n
}

// missing adds a node for each index that a segment needs but has no record of.
func (b *treeBuilder) missing(n *Node, s *model.Segment) {
	if !b.env.Cluster.Loaded.Has(model.PartSegmentIndexes) || !b.env.Cluster.WantsIndex(s) {
		return
	}
	for _, x := range liveIndexes(b.env, s.Collection) {
		has := slices.ContainsFunc(s.Indexes, func(have model.SegmentIndex) bool {
			return have.Index == x.ID && !have.Deleted
		})
		if has {
			continue
		}
		lost := &model.SegmentIndex{
			Segment: s.ID, Collection: s.Collection, Partition: s.Partition, Index: x.ID, State: model.IndexMissing,
		}
		n.Children = append(n.Children, node(b, segmentIndexes, lost, x.Name, missingFields...))
	}
}

// Count returns the number of nodes in the tree, including the root.
func (n *Node) Count() int {
	sum := 1
	for _, c := range n.Children {
		sum += c.Count()
	}
	return sum
}

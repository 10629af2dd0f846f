package faulttest

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"kitescope/inspect/model"
)

// names resolves references in cases, e.g. {segment:docs_hnsw_cos/flushed/0}. It uses the unedited base, so
// an edit cannot change the meaning of a later line.
type names struct{ c *model.Cluster }

// object is a possible result of a reference: its text, and the keys that store it, relative to the metadata
// prefix. A prefix ends in a slash.
type object struct {
	id   string
	keys []string
}

// reference matches {kind:path}. Prototext does not match because it has a space after its colons.
var reference = regexp.MustCompile(`\{([a-z-]+):([^{}\s]+)\}`)

// expand replaces the references in a text with ids and names.
func (n names) expand(text string) (out string, err error) {
	out = reference.ReplaceAllStringFunc(text, func(ref string) string {
		m := reference.FindStringSubmatch(ref)
		x, problem := n.one(m[1], m[2])
		if problem != nil && err == nil {
			err = problem
		}
		return x.id
	})
	return out, err
}

// many matches a path that ends in /* or /FROM..TO (both included). The line applies to each of the objects.
// Several such paths in one line are paired: the first of each, then the second of each.
var many = regexp.MustCompile(`([a-z-]+):([^{}\s\[\]=]+/)(\*|\d+\.\.\d+)`)

// each returns one copy of the line for each object that its starred paths match.
func (n names) each(text string) ([]string, error) {
	m := many.FindStringSubmatch(text)
	if m == nil {
		return []string{text}, nil
	}
	kind, path, which := m[1], m[2], m[3]
	all, err := n.all(kind, strings.TrimSuffix(path, "/"))
	if err != nil {
		return nil, err
	}
	from, to := 0, len(all)-1
	if which != "*" {
		low, high, _ := strings.Cut(which, "..")
		from, _ = strconv.Atoi(low)
		to, _ = strconv.Atoi(high)
	}
	if from > to || to >= len(all) {
		return nil, fmt.Errorf("%s:%s%s: there are %d of them", kind, path, which, len(all))
	}
	var lines []string
	for i := from; i <= to; i++ {
		lines = append(lines, many.ReplaceAllStringFunc(text, func(part string) string {
			if head, ok := strings.CutSuffix(part, which); ok {
				return head + strconv.Itoa(i)
			}
			return part
		}))
	}
	return lines, nil
}

// one resolves a reference to a single object. A path may end in the object's number.
func (n names) one(kind, path string) (object, error) {
	list, problem := n.all(kind, path)
	if problem == nil && len(list) == 1 {
		return list[0], nil
	}
	i := strings.LastIndexByte(path, '/')
	number, err := strconv.Atoi(path[i+1:])
	if i < 0 || err != nil {
		return object{},
			cmp.Or(problem, fmt.Errorf("%s:%s: there are %d of them: end it in /NUMBER", kind, path, len(list)))
	}
	if first, err := strconv.ParseInt(path[:i], 10, 64); kind == "number" && err == nil {
		return object{id: strconv.FormatInt(first+int64(number), 10)}, nil
	}
	if list, err = n.all(kind, path[:i]); err != nil {
		return object{}, err
	}
	if number < 0 || number >= len(list) {
		return object{}, fmt.Errorf("%s:%s: there are %d of them", kind, path, len(list))
	}
	return list[number], nil
}

// all resolves a path without a number to all its objects.
func (n names) all(kind, path string) ([]object, error) {
	resolve, ok := map[string]func(string) ([]object, error){
		"number": numbers, "database": n.databases, "collection": n.collections, "partition": n.partitions,
		"field": n.fields, "index": n.indexes,
		"segment": n.segments, "binlogs": n.logs("binlog"), "deltalogs": n.logs("deltalog"),
		"statslogs":     n.logs("statslog"),
		"segment-index": n.segmentIndexes, "vchannel": n.vchannels, "pchannel": n.pchannels,
		"checkpoint": n.checkpoints,
		"watch":      n.watches, "removal": n.removals, "load": n.loads, "partition-load": n.partitionLoads,
		"replica": n.replicas,
		"group":   n.groups, "session": n.sessions, "node": n.sessions, "id": n.nodeIDs, "address": n.addresses,
		"holder": n.holders, "bystander": n.bystanders, "leader": n.leaders, "follower": n.followers,
		"holder-id": toNodeIDs(n.holders), "bystander-id": toNodeIDs(n.bystanders),
	}[kind]
	if !ok {
		return nil, fmt.Errorf("%s:%s: unknown kind of reference", kind, path)
	}
	list, err := resolve(path)
	if err != nil {
		return nil, fmt.Errorf("%s:%s: %w", kind, path, err)
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s:%s: there is none in the base", kind, path)
	}
	return list, nil
}

// numbers returns the ids from FIRST on, for records that the base does not have.
func numbers(path string) (list []object, err error) {
	first, err := strconv.ParseInt(path, 10, 64)
	if err != nil {
		return nil, err
	}
	const most = 10_000
	for i := range int64(most) {
		list = append(list, object{id: strconv.FormatInt(first+i, 10)})
	}
	return list, nil
}

func (n names) collection(name string) (*model.Collection, error) {
	database, rest, ok := strings.Cut(name, ".")
	if !ok {
		database, rest = "default", name
	}
	for _, c := range n.c.Collections {
		if c.Name == rest && n.c.DatabaseName(c.Database) == database {
			return c, nil
		}
	}
	return nil, fmt.Errorf("no collection %q", name)
}

// splitCollection splits a path at its first slash into a collection and the rest.
func (n names) splitCollection(path string) (c *model.Collection, rest string, err error) {
	name, rest, _ := strings.Cut(path, "/")
	c, err = n.collection(name)
	return c, rest, err
}

func (n names) databases(path string) (list []object, err error) {
	for _, d := range n.c.Databases {
		if d.Name == path {
			list = append(list, object{d.ID.String(), []string{"root-coord/database/db-info/" + d.ID.String()}})
		}
	}
	return list, nil
}

func (n names) collections(path string) ([]object, error) {
	c, err := n.collection(path)
	if err != nil {
		return nil, err
	}
	return []object{
		{c.ID.String(), []string{fmt.Sprintf("root-coord/database/collection-info/%d/%d", c.Database, c.ID)}},
	}, nil
}

func (n names) partitions(path string) (list []object, err error) {
	c, name, err := n.splitCollection(path)
	if err != nil {
		return nil, err
	}
	for _, p := range n.c.PartitionsOf(c.ID) {
		if name == "" || p.Name == name {
			list = append(list, object{p.ID.String(), []string{fmt.Sprintf("root-coord/partitions/%d/%d", c.ID, p.ID)}})
		}
	}
	return list, nil
}

func (n names) fields(path string) (list []object, err error) {
	c, name, err := n.splitCollection(path)
	if err != nil {
		return nil, err
	}
	for _, f := range c.Fields {
		if f.Name == name {
			list = append(list, object{f.ID.String(), []string{fmt.Sprintf("root-coord/fields/%d/%d", c.ID, f.ID)}})
		}
	}
	return list, nil
}

func (n names) indexes(path string) (list []object, err error) {
	c, name, err := n.splitCollection(path)
	if err != nil {
		return nil, err
	}
	for _, x := range n.c.IndexesOf(c.ID) {
		if f := c.Field(x.Field); f != nil && f.Name == name {
			list = append(list, object{x.ID.String(), []string{fmt.Sprintf("field-index/%d/%d", c.ID, x.ID)}})
		}
	}
	return list, nil
}

// segmentsIn returns the segments of COLLECTION/STATE, by id.
func (n names) segmentsIn(path string) (list []*model.Segment, err error) {
	c, state, err := n.splitCollection(path)
	if err != nil {
		return nil, err
	}
	for _, s := range n.c.SegmentsOf(c.ID) {
		if strings.EqualFold(s.State.String(), state) {
			list = append(list, s)
		}
	}
	return list, nil
}

func segmentPath(s *model.Segment) string {
	return fmt.Sprintf("%d/%d/%d", s.Collection, s.Partition, s.ID)
}

func (n names) segments(path string) ([]object, error) {
	found, err := n.segmentsIn(path)
	return convert(found, func(s *model.Segment) object {
		return object{s.ID.String(), []string{"datacoord-meta/s/" + segmentPath(s)}}
	}), err
}

// logs returns a function that resolves the keys of one kind of logs of segments.
func (n names) logs(kind string) func(string) ([]object, error) {
	return func(path string) ([]object, error) {
		found, err := n.segmentsIn(path)
		return convert(found, func(s *model.Segment) object {
			return object{s.ID.String(), []string{"datacoord-meta/" + kind + "/" + segmentPath(s) + "/"}}
		}), err
	}
}

// segmentIndexes resolves the index builds of segments. The id is that of the first build.
func (n names) segmentIndexes(path string) ([]object, error) {
	found, err := n.segmentsIn(path)
	return convert(found, func(s *model.Segment) object {
		x := object{id: "0", keys: []string{"segment-index/" + segmentPath(s) + "/"}}
		if len(s.Indexes) > 0 {
			x.id = s.Indexes[0].Build.String()
		}
		return x
	}), err
}

// shards resolves COLLECTION to its vchannels, in the order of shards.
func (n names) shards(path string, f func(*model.VChannel) object) ([]object, error) {
	c, _, err := n.splitCollection(path)
	if err != nil {
		return nil, err
	}
	list := slices.Clone(n.c.VChannelsOf(c.ID))
	slices.SortFunc(list, func(a, b *model.VChannel) int { return cmp.Compare(a.Shard, b.Shard) })
	return convert(list, f), nil
}

func (n names) vchannels(path string) ([]object, error) {
	return n.shards(path, func(v *model.VChannel) object { return object{id: v.Name} })
}

func (n names) pchannels(path string) ([]object, error) {
	return n.shards(path, func(v *model.VChannel) object { return object{id: v.PChannel} })
}

func (n names) checkpoints(path string) ([]object, error) {
	return n.shards(path, func(v *model.VChannel) object {
		return object{v.Name, []string{"datacoord-meta/channel-cp/" + v.Name}}
	})
}

func (n names) removals(path string) ([]object, error) {
	return n.shards(path, func(v *model.VChannel) object {
		return object{v.Name, []string{"datacoord-meta/channel-removal/" + v.Name}}
	})
}

func (n names) watches(path string) ([]object, error) {
	return n.shards(path, func(v *model.VChannel) object {
		return object{v.Watcher.String(), []string{fmt.Sprintf("channelwatch/%d/%s", v.Watcher, v.Name)}}
	})
}

func (n names) loads(path string) ([]object, error) {
	c, err := n.collection(path)
	if err != nil {
		return nil, err
	}
	return []object{{c.ID.String(), []string{"querycoord-collection-loadinfo/" + c.ID.String()}}}, nil
}

func (n names) partitionLoads(path string) ([]object, error) {
	c, err := n.collection(path)
	if err != nil {
		return nil, err
	}
	return []object{{c.ID.String(), []string{"querycoord-partition-loadinfo/" + c.ID.String() + "/"}}}, nil
}

func (n names) replicas(path string) ([]object, error) {
	c, _, err := n.splitCollection(path)
	if err != nil {
		return nil, err
	}
	return convert(n.c.ReplicasOf(c.ID), func(r *model.Replica) object {
		return object{r.ID.String(), []string{fmt.Sprintf("querycoord-replica/%d/%d", r.Collection, r.ID)}}
	}), nil
}

func (n names) groups(path string) (list []object, err error) {
	for _, g := range n.c.ResourceGroups {
		if g.Name == path {
			list = append(list, object{g.Name, []string{"queryCoord-ResourceGroup/" + g.Name}})
		}
	}
	return list, nil
}

func convert[T any](list []T, f func(T) object) []object {
	out := make([]object, len(list))
	for i, x := range list {
		out[i] = f(x)
	}
	return out
}

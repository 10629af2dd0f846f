package meta

import (
	"cmp"
	"slices"
	"strings"

	"kitescope/inspect/model"
	"kitescope/inspect/source"
)

// span is an interval of keys and the parts whose keys it may hold.
type span struct {
	source.Range
	parts model.Part
	// dependents are the parts that are incomplete without these keys.
	dependents model.Part
	// cuts is the maximum number of cuts of a prefix that grows with the number of segments and continues with a
	// collection id; 0 for all other prefixes.
	cuts int
}

// spans partitions the whole root: every key below it is in exactly one span. Keys that match no pattern belong to
// PartRest.
func spans(h source.Header) []span {
	var known []span
	for prefix, parts := range prefixParts() {
		absolute := h.MetaPrefix() + prefix
		if rest, ok := strings.CutPrefix(prefix, "/"); ok {
			absolute = h.Root + "/" + rest
		}
		known = append(known, span{
			Range: source.Prefix(absolute), parts: parts, dependents: dependentParts(prefix, parts),
			cuts: hotPrefixes()[prefix],
		})
	}
	slices.SortFunc(known, func(a, b span) int { return cmp.Compare(a.From, b.From) })
	root := source.Prefix(h.Root + "/")
	var all []span
	from := root.From
	for _, k := range known {
		if from < k.From {
			all = append(all, span{
				Range: source.Range{From: from, To: k.From}, parts: model.PartRest, dependents: model.PartRest,
			})
		}
		all = append(all, k)
		from = k.To
	}
	return append(all, span{
		Range: source.Range{From: from, To: root.To}, parts: model.PartRest, dependents: model.PartRest,
	})
}

// dependentParts returns the parts that are incomplete without the keys of a prefix. These may be fewer than the parts
// for which the prefix is read.
func dependentParts(prefix string, parts model.Part) model.Part {
	switch prefix {
	case "session/":
		return model.PartSessions
	case "streamingnode-meta/":
		return model.PartChannels
	}
	return parts
}

// prefixParts returns the prefixes that are read separately. They do not overlap. A leading slash means relative
// to the root. A prefix may cover several kinds of keys if the kinds belong to the same part.
func prefixParts() map[string]model.Part {
	const objects, serving, channels, users, tasks = model.PartObjects, model.PartServing, model.PartChannels,
		model.PartUsers, model.PartTasks
	return map[string]model.Part{
		"session/":                                         model.PartAll, // few, and they hold the version
		"root-coord/aliases/":                              objects,
		"root-coord/collection-alias/":                     objects,
		"root-coord/collection/":                           objects,
		"root-coord/database/":                             objects,
		"root-coord/fields/":                               objects,
		"root-coord/functions/":                            objects,
		"root-coord/index/":                                model.PartIndexes,
		"root-coord/partitions/":                           objects,
		"root-coord/struct-array-fields/":                  objects,
		"root-coord/credential/":                           users,
		"root-coord/privilege-group/":                      users,
		"root-coord/segment-index/":                        model.PartSegmentIndexes,
		"field-index/":                                     model.PartIndexes,
		"queryCoord-Collection-Target/":                    channels,
		"queryCoord-ReplicaMeta/":                          serving,
		"queryCoord-ResourceGroup/":                        serving,
		"queryCoord-collectionMeta/":                       serving,
		"querycoord-collection-loadinfo/":                  serving,
		"querycoord-partition-loadinfo/":                   serving,
		"querycoord-replica/":                              serving,
		"streamingcoord-meta/broadcast-task/":              tasks,
		"streamingcoord-meta/cchannel":                     serving,
		"streamingcoord-meta/pchannel/":                    serving,
		"streamingcoord-meta/replicate-configuration":      serving,
		"streamingcoord-meta/replicating-pchannel/":        serving,
		"streamingcoord-meta/version":                      serving,
		"streamingnode-meta/":                              channels | model.PartSegments,
		"channelwatch/":                                    channels,
		"datacoord-meta/channel-cp/":                       channels,
		"datacoord-meta/channel-removal/":                  channels,
		"datacoord-meta/analyze-task/":                     tasks,
		"datacoord-meta/compaction-task/":                  tasks,
		"datacoord-meta/current-partition-stats-version/":  tasks,
		"datacoord-meta/copy-segment-job/":                 tasks,
		"datacoord-meta/copy-segment-task/":                tasks,
		"datacoord-meta/export-snapshot-job/":              tasks,
		"datacoord-meta/external-collection-refresh-job/":  tasks,
		"datacoord-meta/external-collection-refresh-task/": tasks,
		"datacoord-meta/import-job/":                       tasks,
		"datacoord-meta/import-task/":                      tasks,
		"datacoord-meta/partition-stats/":                  tasks,
		"datacoord-meta/preimport-task/":                   tasks,
		"datacoord-meta/snapshot/":                         tasks,
		"datacoord-meta/stats-task/":                       tasks,
		"datacoord-meta/s/":                                model.PartSegments,
		"datacoord-meta/binlog/":                           model.PartLogs,
		"datacoord-meta/bm25log/":                          model.PartLogs,
		"datacoord-meta/deltalog/":                         model.PartLogs,
		"datacoord-meta/predicate-deltalog/":               model.PartLogs,
		"datacoord-meta/statslog/":                         model.PartLogs,
		"segment-index/":                                   model.PartSegmentIndexes,
		"indexes/":                                         model.PartSegmentIndexes,
		"importtask/":                                      tasks,
		historyPrefix:                                      model.PartHistory,
		"/config/":                                         model.PartConfig,
	}
}

// hotPrefixes returns the prefixes of prefixParts that are cut by collection, and the maximum number of cuts of
// each. A segment has one record, one or two indexes, several binlogs, and at most one stats and one delta log.
// Each piece costs a round trip, and no response may get huge.
func hotPrefixes() map[string]int {
	return map[string]int{
		"datacoord-meta/s/": 64, "segment-index/": 64, "datacoord-meta/binlog/": 64, "datacoord-meta/statslog/": 32,
		"datacoord-meta/deltalog/": 32,
		"datacoord-meta/bm25log/":  16, "datacoord-meta/predicate-deltalog/": 4, "root-coord/segment-index/": 16,
	}
}

const (
	// smallStore is the revision up to which nothing is cut, to save round trips. A revision is a transaction of
	// up to 128 keys (etcd's --max-txn-ops). 200,000 segments fit into 4,000 revisions, and are read faster and in
	// less memory in pieces.
	smallStore = 2_000
	// partitionCutLimit is the number of collections up to which their partitions are cut as well.
	partitionCutLimit = 16
)

// Ranges returns the key ranges to read for the parts. If the catalog is known, prefixes that grow with the number
// of segments are cut at the ids of its collections and partitions. The pieces still cover the whole prefix, so
// keys of unknown collections are read as well. Without a catalog (nil) prefixes are not cut. With PartAll the
// ranges cover the whole root.
func Ranges(h source.Header, parts model.Part, catalog *model.Cluster) []source.Range {
	var points []string
	if catalog != nil {
		points = cutPoints(h, catalog.Collections, catalog.Partitions)
	}
	small, hot := splitRanges(h, parts)
	return append(small, cutAll(hot, points)...).sorted()
}

// cutPoints returns the key prefixes "{collection}/" and "{collection}/{partition}/" at which hot prefixes are
// cut, in lexical order like etcd's keys. It returns nil for a small store.
func cutPoints(h source.Header, collections []*model.Collection, partitions []*model.Partition) []string {
	if h.Revision > 0 && h.Revision <= smallStore {
		return nil
	}
	var points []string
	for _, x := range collections {
		points = append(points, x.ID.String()+"/")
	}
	if len(collections) <= partitionCutLimit {
		for _, p := range partitions {
			points = append(points, p.Collection.String()+"/"+p.ID.String()+"/")
		}
	}
	slices.Sort(points)
	return slices.Compact(points)
}

// sample returns at most n points, evenly spaced.
func sample(points []string, n int) []string {
	if len(points) <= n {
		return points
	}
	out := make([]string, n)
	for i := range out {
		out[i] = points[i*len(points)/n]
	}
	return out
}

// rangeList is a list of ranges that do not overlap.
type rangeList []source.Range

func (l rangeList) sorted() rangeList {
	slices.SortFunc(l, func(a, b source.Range) int { return cmp.Compare(a.From, b.From) })
	return l
}

// contains reports whether a key is in one of the ranges, which must be sorted.
func (l rangeList) contains(key []byte) bool {
	i, found := slices.BinarySearchFunc(l, string(key), func(r source.Range, key string) int {
		return cmp.Compare(r.From, key)
	})
	if found {
		return true
	}
	return i > 0 && l[i-1].Contains(key)
}

// cutAll splits the ranges of prefixes at points.
func cutAll(prefixes []span, points []string) rangeList {
	var out rangeList
	for _, r := range prefixes {
		from := r.From
		for _, p := range sample(points, r.cuts) {
			if at := r.From + p; at > from {
				out = append(out, source.Range{From: from, To: at})
				from = at
			}
		}
		out = append(out, source.Range{From: from, To: r.To})
	}
	return out
}

// collectionRanges returns the ranges of some collections in prefixes: the keys that end with a collection's id, and
// the keys that continue after it.
func collectionRanges(prefixes []span, collections map[model.CollectionID]bool) rangeList {
	var out rangeList
	for _, r := range prefixes {
		for id := range collections {
			key := r.From + id.String()
			out = append(out, source.Range{From: key, To: key + afterSlash})
		}
	}
	return out.sorted()
}

// afterSlash is the byte after "/". Keys that begin with an id and a slash sort before it, and longer ids do not.
const afterSlash = "0"

// splitRanges returns the ranges of the wanted parts: the small ones, with neighbours joined, and the whole
// prefixes to be read later in pieces.
func splitRanges(h source.Header, parts model.Part) (small rangeList, pieces []span) {
	join := false
	for _, s := range spans(h) {
		switch {
		case s.parts&parts == 0:
			join = false
		case s.cuts > 0:
			pieces = append(pieces, s)
			join = false
		case join:
			small[len(small)-1].To = s.To
		default:
			small = append(small, s.Range)
			join = true
		}
	}
	return small, pieces
}

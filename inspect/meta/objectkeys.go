package meta

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"kitescope/inspect/model"
)

// ObjectKeys returns the keys that an object was decoded from; see model.Keyspace.
func (k *keyspace) ObjectKeys(resource, id string) []string {
	var out []string
	for _, candidate := range k.candidates(resource, id) {
		if strings.HasSuffix(candidate, "/") {
			out = append(out, k.keysWithPrefix(candidate)...)
		} else if _, ok := k.Find(candidate); ok {
			out = append(out, candidate)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// keysWithPrefix returns the keys with a prefix.
func (k *keyspace) keysWithPrefix(prefix string) []string {
	var out []string
	for i, _ := k.Find(prefix); i < k.Len(); i++ {
		key := k.Info(i).Key
		if !strings.HasPrefix(key, prefix) {
			break
		}
		out = append(out, key)
	}
	return out
}

// candidates returns the keys that may hold an object, in any layout. A trailing slash means all keys below.
func (k *keyspace) candidates(resource, id string) []string {
	switch resource {
	case "keys":
		return []string{id}
	case "undecoded":
		key, _, _ := strings.Cut(id, ": ")
		return []string{key}
	case "segments", "orphans":
		return k.segmentKeys(id)
	case "segment-indexes":
		return k.segmentIndexKeys(id)
	case "vchannels":
		return k.vchannelKeys(id)
	case "grants":
		return k.grantKeys(id)
	case "replication":
		return k.replicationKeys(id)
	case "wal", "queue-topics", "queue-subscriptions":
		return k.queueKeys(resource, id)
	case "tasks", "nodes", "indexes", "load-states", "replicas", "partitions", "collections", "fields":
		return k.listedKeys(resource, id)
	}
	return k.keysByName(resource, id)
}

// metaKeys prepends the metadata prefix to relative keys, in place.
func (k *keyspace) metaKeys(relative ...string) []string {
	for i, r := range relative {
		relative[i] = string(k.grammar.meta) + r
	}
	return relative
}

// keysByName returns the keys of an object that is identified by its id or name alone.
func (k *keyspace) keysByName(resource, id string) []string {
	switch resource {
	case "databases":
		return k.metaKeys("root-coord/database/db-info/" + id)
	case "aliases":
		_, name, _ := strings.Cut(id, "/")
		return k.metaKeys("root-coord/database/aliases/"+id, "root-coord/aliases/"+name,
			"root-coord/collection-alias/"+name)
	case "pchannels":
		return k.metaKeys("streamingcoord-meta/pchannel/"+id, "streamingnode-meta/wal/"+id+"/consume-checkpoint")
	case "resource-groups":
		return k.metaKeys("queryCoord-ResourceGroup/" + id)
	case "users":
		return k.metaKeys("root-coord/credential/users/"+id, "root-coord/credential/user-role-mapping/"+id+"/")
	case "roles":
		return k.metaKeys("root-coord/credential/roles/"+id, "root-coord/credential/grantee-privileges/"+id+"/")
	case "privilege-groups":
		return k.metaKeys("root-coord/privilege-group/" + id)
	case "config":
		return []string{string(k.grammar.root) + "config/" + id}
	}
	return nil
}

// replicationKeys returns the keys of the configuration and of both ends of a pair of pchannels.
func (k *keyspace) replicationKeys(id string) []string {
	source, target, _ := strings.Cut(id, "/")
	out := k.metaKeys("streamingcoord-meta/replicate-configuration",
		"streamingnode-meta/wal/"+target+"/consume-checkpoint", "streamingnode-meta/wal/"+target+"/salvage-checkpoint/")
	for _, key := range k.keysWithPrefix(string(k.grammar.meta) + "streamingcoord-meta/replicating-pchannel/") {
		if strings.HasSuffix(key, "-"+source) {
			out = append(out, key)
		}
	}
	return out
}

// listedKeys returns the keys of an object that the cluster lists with its key, or with the ids that form the key.
func (k *keyspace) listedKeys(resource, id string) []string {
	var out []string
	switch resource {
	case "tasks":
		for _, t := range k.parts.Tasks {
			if t.Type+"/"+strconv.FormatInt(t.ID, 10) == id {
				out = append(out, t.Key)
			}
		}
	case "nodes":
		for _, s := range k.parts.Sessions {
			if s.Name() == id {
				out = append(out, s.Key)
			}
		}
	case "indexes":
		for _, x := range k.parts.Indexes {
			if x.ID.String() == id {
				out = append(out, x.Key)
			}
		}
	case "load-states":
		out = k.metaKeys("querycoord-collection-loadinfo/"+id, "querycoord-partition-loadinfo/"+id+"/",
			"queryCoord-collectionMeta/"+id)
	case "replicas":
		out = k.metaKeys("queryCoord-ReplicaMeta/" + id)
		for _, r := range k.parts.Replicas {
			if r.ID.String() == id {
				out = append(out, k.metaKeys("querycoord-replica/"+r.Collection.String()+"/"+id)...)
			}
		}
	case "partitions":
		for _, p := range k.parts.Partitions {
			if p.ID.String() == id {
				out = k.keysOrCollection(p.Collection, "root-coord/partitions/"+p.Collection.String()+"/"+id)
			}
		}
	case "fields":
		collection, _, _ := strings.Cut(id, "/")
		n, _ := strconv.ParseInt(collection, 10, 64)
		out = k.keysOrCollection(model.CollectionID(n), "root-coord/fields/"+id, "root-coord/struct-array-fields/"+id)
	case "collections":
		n, _ := strconv.ParseInt(id, 10, 64)
		out = append(k.metaKeys("root-coord/fields/"+id+"/", "root-coord/functions/"+id+"/",
			"root-coord/struct-array-fields/"+id+"/"),
			k.collectionKey(model.CollectionID(n)))
	}
	return out
}

func (k *keyspace) collectionKey(id model.CollectionID) string {
	for _, c := range k.parts.Collections {
		if c.ID == id {
			return c.Key
		}
	}
	return ""
}

// keysOrCollection returns an object's own keys. If none exists, it returns the record of the collection, in which 2.1
// stores the object.
func (k *keyspace) keysOrCollection(id model.CollectionID, relative ...string) []string {
	keys := k.metaKeys(relative...)
	for _, key := range keys {
		if _, ok := k.Find(key); ok {
			return keys
		}
	}
	return []string{k.collectionKey(id)}
}

func (k *keyspace) segment(id string) *model.Segment {
	n, err := strconv.ParseInt(id, 10, 64)
	if err != nil {
		return nil
	}
	if s := findSegment(k.parts.Segments, model.SegmentID(n)); s != nil {
		return s
	}
	return findSegment(k.parts.Orphans, model.SegmentID(n))
}

func (k *keyspace) segmentKeys(id string) []string {
	s := k.segment(id)
	if s == nil {
		return nil
	}
	path := fmt.Sprintf("%d/%d/%d", s.Collection, s.Partition, s.ID)
	keys := k.metaKeys("datacoord-meta/s/"+path, "queryCoord-segmentMeta/"+path)
	for _, prefix := range []string{"binlog", "deltalog", "statslog", "bm25log", "predicate-deltalog"} {
		keys = append(keys, k.metaKeys("datacoord-meta/"+prefix+"/"+path+"/")...)
	}
	keys = append(keys, k.metaKeys("segment-index/"+path+"/")...)
	for i := range s.Indexes {
		keys = append(keys, k.legacyIndexKeys(&s.Indexes[i])...)
	}
	if s.Details != nil && s.Details.Growing != nil {
		keys = append(keys, k.metaKeys("streamingnode-meta/wal/"+s.Details.Growing.PChannel+"/segment-assign/"+id)...)
	}
	return keys
}

func (k *keyspace) legacyIndexKeys(x *model.SegmentIndex) []string {
	if !x.Legacy {
		return nil
	}
	return k.metaKeys(
		fmt.Sprintf("root-coord/segment-index/%d/%d/%d/%d", x.Collection, x.Index, x.Partition, x.Segment),
		fmt.Sprintf("indexes/%d", x.Build),
	)
}

// segmentIndexKeys returns the keys of an id of the form "segment/index/build".
func (k *keyspace) segmentIndexKeys(id string) []string {
	segment, _, _ := strings.Cut(id, "/")
	s := k.segment(segment)
	if s == nil {
		return nil
	}
	for i := range s.Indexes {
		x := &s.Indexes[i]
		if fmt.Sprintf("%d/%d/%d", x.Segment, x.Index, x.Build) == id {
			return append(k.legacyIndexKeys(x),
				k.metaKeys(fmt.Sprintf("segment-index/%d/%d/%d/%d", x.Collection, x.Partition, x.Segment, x.Build))...)
		}
	}
	return nil
}

func (k *keyspace) vchannelKeys(name string) []string {
	keys := k.metaKeys("datacoord-meta/channel-cp/"+name, "datacoord-meta/channel-removal/"+name)
	for _, v := range k.parts.VChannels {
		if v.Name != name {
			continue
		}
		if v.Watched {
			for _, node := range append([]model.NodeID{v.Watcher}, v.OtherWatchers...) {
				keys = append(keys, k.metaKeys("channelwatch/"+node.String()+"/"+name)...)
			}
		}
		wal := "streamingnode-meta/wal/" + v.PChannel + "/vchannel/" + name
		keys = append(keys, k.metaKeys(wal, wal+"/")...)
	}
	return keys
}

// grantKeys returns the keys of an id of the form "role/type/database/object/privilege". The value of the grantee
// key is the id below which the grant key is.
func (k *keyspace) grantKeys(id string) []string {
	parts := strings.Split(id, "/")
	if len(parts) != 5 {
		return nil
	}
	prefix := "root-coord/credential/grantee-privileges/" + parts[0] + "/" + parts[1] + "/"
	keys := k.metaKeys(prefix+parts[2]+"."+parts[3], prefix+parts[3])
	for _, key := range keys {
		if i, ok := k.Find(key); ok {
			grantee := "root-coord/credential/grantee-id/" + string(k.Record(i).Raw) + "/"
			keys = append(keys, k.metaKeys(grantee+"Privilege"+parts[4], grantee+parts[4])...)
		}
	}
	return keys
}

func findSegment(list []*model.Segment, id model.SegmentID) *model.Segment {
	i, ok := slices.BinarySearchFunc(list, id, func(s *model.Segment, id model.SegmentID) int {
		return cmp.Compare(s.ID, id)
	})
	if !ok {
		return nil
	}
	return list[i]
}

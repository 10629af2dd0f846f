package check

import (
	"fmt"

	"kitescope/inspect/model"
)

// Thresholds of near-limit, as shares.
const limitInfo, limitWarning = 0.75, 0.9

// NearLimit finds clusters that come near to what Milvus allows.
var NearLimit = &Check{
	ID:       "near-limit",
	Title:    "The cluster is near a limit of Milvus on collections or partitions",
	Severity: Warning,
	Since:    "0.3",
	Parts:    model.PartObjects | model.PartConfig,
	Doc: `Counts databases, collections and partitions against Milvus's limits, as the processes tell them, else by their defaults (` + "`configs/milvus.yaml`, `component_param.go`" + `):

- partitions times shards over all collections: ` + "`rootCoord.maxGeneralCapacity`" + `, 65,536 (Milvus 2.4 and later);
- collections: ` + "`quotaAndLimits.limits.maxCollectionNum`" + `, 65,536;
- databases: ` + "`rootCoord.maxDatabaseNum`" + `, 64;
- partitions of one collection: ` + "`rootCoord.maxPartitionNum`" + `, 1,024 (4,096 before 2.4).

Information from 75 % on, a warning from 90 %. At the limit, creating fails; long before, coordinators are slow to start, as they read and watch all of them.`,
	Remedy: `Put tenants into partitions by a partition key instead of collections of their own; drop what is not used. The limits can be raised in the configuration.`,
	Run:    runNearLimit,
}

func runNearLimit(p *Pass) error {
	var collections, capacity int64
	databases := int64(len(p.Databases))
	var fullest *model.Collection
	for _, x := range p.Collections {
		if x.Dropped() {
			continue
		}
		collections++
		partitions := int64(len(p.PartitionsOf(x.ID)))
		capacity += partitions * int64(max(1, x.Shards))
		if fullest == nil || partitions > int64(len(p.PartitionsOf(fullest.ID))) {
			fullest = x
		}
	}
	roots := []string{"rootcoord", "mixcoord"}
	partitionLimit := int64(1024)
	if releaseOf(p.Cluster).before(release{2, 4}) {
		partitionLimit = 4096
	}
	f := Finding{Severity: Info}
	worst := 0.0
	judge := func(what, key string, n, limit int64, ref *model.Ref) {
		limit = p.count(key, limit, roots...)
		share := part(n, limit)
		if share < limitInfo {
			return
		}
		if ref != nil {
			f.Objects = append(f.Objects, *ref)
		}
		f.Evidence = append(f.Evidence, Evidence{what, number(n) + " of " + number(limit), "etcd"}, Evidence{key, number(limit), ""})
		if share > worst {
			worst = share
			f.Message = fmt.Sprintf("%s of %s %s: %s of %s", number(n), number(limit), what, percent(share), key)
		}
	}
	if !releaseOf(p.Cluster).before(release{2, 4}) {
		judge("partitions times shards", "rootCoord.maxGeneralCapacity", capacity, 65536, nil)
	}
	judge("collections", "quotaAndLimits.limits.maxCollectionNum", collections, 65536, nil)
	judge("databases", "rootCoord.maxDatabaseNum", databases, 64, nil)
	if fullest != nil {
		ref := refCollection(p.Cluster, fullest.ID)
		judge("partitions of "+collectionLabel(p.Cluster, fullest.ID), "rootCoord.maxPartitionNum", int64(len(p.PartitionsOf(fullest.ID))), partitionLimit, &ref)
	}
	if worst == 0 {
		return nil
	}
	if worst >= limitWarning {
		f.Severity = Warning
	}
	f.Impact = "At the limit, creating fails; coordinators are slow to start with so many."
	f.Hint = "drop what is not used, or use a partition key"
	p.Report(f)
	return nil
}

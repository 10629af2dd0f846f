package rules

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
	"kitescope/internal/words"
)

// Thresholds of near-limit, as fractions of the limit.
const limitInfo, limitWarning = 0.75, 0.9

// nearLimit finds clusters that are close to a Milvus limit.
var nearLimit = &check.Check{
	ID:       "near-limit",
	Title:    "The cluster is close to a Milvus limit on collections or partitions",
	Severity: check.Warning,
	Symptoms: []string{check.LoadsHang},
	Starts:   "collection_created partition_created | collection_altered",
	Parts:    model.PartObjects,
	Doc: `Creating a collection fails at the limit. Coordinators start slowly long before, because they read and watch
all objects. The check compares counts of databases, collections and partitions with Milvus's limits, as processes
report them, else with the defaults (` + "`configs/milvus.yaml`" + `, ` + "`component_param.go`" + `,
` + "`quota_param.go`" + `):

- partitions times shards over all collections: ` + "`rootCoord.maxGeneralCapacity`" + `, 65,536 (Milvus 2.3.5 and
  later; without the configuration it is counted since 2.4);
- collections: ` + "`quotaAndLimits.limits.maxCollectionNum`" + `, 65,536;
- collections of one database: ` + "`quotaAndLimits.limits.maxCollectionNumPerDB`" + `, 65,536, or the database's own
  ` + "`database.max.collections`" + `;
- databases: ` + "`rootCoord.maxDatabaseNum`" + `, 64;
- partitions of one collection: ` + "`rootCoord.maxPartitionNum`" + `, 1,024 (4,096 before 2.4). Not counted:
  collections with a partition key, whose number of partitions never grows.

Info from 75%, warning from 90%.`,
	Remedy: `Use a partition key for tenants instead of a collection each, and drop unused collections. The limits can
be raised in the configuration.`,
	Run: runNearLimit,
}

// limitUsage is the usage of one limit.
type limitUsage struct {
	what, key string
	n, limit  int64
	ref       *model.Ref
}

func runNearLimit(p *check.Pass) {
	var full []limitUsage
	for _, l := range limits(p) {
		if facts.Ratio(l.n, l.limit) >= limitInfo {
			full = append(full, l)
		}
	}
	if len(full) == 0 {
		return
	}
	worst := slices.MaxFunc(full, func(a, b limitUsage) int {
		return cmp.Compare(facts.Ratio(a.n, a.limit), facts.Ratio(b.n, b.limit))
	})
	f := check.Finding{
		Severity: check.Info,
		Message: fmt.Sprintf("%s of %s %s: %s of %s", words.Number(worst.n), words.Number(worst.limit), worst.what,
			words.Share(facts.Ratio(worst.n, worst.limit)), worst.key),
		Impact: "At the limit, creating fails. Coordinators start slowly with so many.",
		Fix: check.Fix(
			check.Shell(check.Kitescope("get collections --sort rows --columns name,database,rows,state")).
				Does("lists collections, empty ones first: drop what is unused"),
			check.Do("put tenants into one collection with a partition key, instead of a collection or partition each"),
			check.Do("raise %s only if the coordinators still start fast enough", worst.key).
				Interrupting(0, "the coordinators while they restart"),
		),
	}
	for _, l := range full {
		f.Evidence = append(f.Evidence,
			check.Factf(l.what, "etcd", "%s of %s (%s)", check.N(l.n), check.N(l.limit), l.key))
		if l.ref != nil {
			f.Objects = append(f.Objects, *l.ref)
		}
	}
	if facts.Ratio(worst.n, worst.limit) >= limitWarning {
		f.Severity = check.Warning
	}
	p.Report(f)
}

// limits returns the usage of each limit.
func limits(p *check.Pass) []limitUsage {
	var collections, capacity int64
	var fullest *model.Collection
	byDatabase := make(map[model.DatabaseID]int64)
	for _, x := range p.Existing() {
		collections++
		byDatabase[x.Database]++
		partitions := int64(len(p.PartitionsOf(x.ID)))
		capacity += partitions * int64(max(1, x.Shards))
		if !hasPartitionKey(x) && (fullest == nil || partitions > int64(len(p.PartitionsOf(fullest.ID)))) {
			fullest = x
		}
	}
	roots := []string{"rootcoord", "mixcoord"}
	old := facts.ReleaseOf(p.Cluster).Before(facts.Release{Major: 2, Minor: 4})
	list := []limitUsage{
		{
			"collections", "quotaAndLimits.limits.maxCollectionNum", collections,
			p.SettingCount("quotaAndLimits.limits.maxCollectionNum", 65536, roots...), nil,
		},
		{
			"databases", "rootCoord.maxDatabaseNum", int64(len(p.Databases)),
			p.SettingCount("rootCoord.maxDatabaseNum", 64, roots...), nil,
		},
	}
	const capacityKey = "rootCoord.maxGeneralCapacity"
	if _, told := p.Setting(capacityKey, roots...); told || !old {
		list = append(list, limitUsage{
			"partitions times shards", capacityKey, capacity, p.SettingCount(capacityKey, 65536, roots...), nil,
		})
	}
	if fullest != nil {
		ref := facts.RefCollection(p.Cluster, fullest.ID)
		limit := int64(1024)
		if old {
			limit = 4096
		}
		list = append(list, limitUsage{
			"partitions of " + facts.CollectionLabel(p.Cluster, fullest.ID), "rootCoord.maxPartitionNum",
			int64(len(p.PartitionsOf(fullest.ID))), p.SettingCount("rootCoord.maxPartitionNum", limit, roots...), &ref,
		})
	}
	return append(list,
		databaseLimits(p, byDatabase,
			p.SettingCount("quotaAndLimits.limits.maxCollectionNumPerDB", 65536, roots...))...)
}

// databaseLimits returns the usage of the collection limit of each database. limit is the default. A database may set
// its own limit.
func databaseLimits(p *check.Pass, collections map[model.DatabaseID]int64, limit int64) []limitUsage {
	var list []limitUsage
	for _, d := range p.Databases {
		l := limitUsage{
			"collections of database " + d.Name, "quotaAndLimits.limits.maxCollectionNumPerDB", collections[d.ID],
			limit, &model.Ref{Resource: "databases", ID: d.ID.String(), Name: d.Name},
		}
		for _, kv := range d.Properties {
			if own, err := strconv.ParseInt(kv.Value, 10, 64); kv.Key == "database.max.collections" && err == nil {
				l.key, l.limit = kv.Key, own
			}
		}
		list = append(list, l)
	}
	return list
}

// hasPartitionKey reports whether a collection has a partition key.
func hasPartitionKey(x *model.Collection) bool {
	return slices.ContainsFunc(x.Fields, func(f *model.Field) bool { return f.PartitionKey })
}

package rules

import (
	"fmt"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
	"kitescope/internal/words"
)

// partitionKeySkew finds partition keys that put most rows into one partition.
var partitionKeySkew = &check.Check{
	ID:       "partition-key-skew",
	Title:    "A partition key puts most rows into few partitions",
	Severity: check.Warning,
	Symptoms: []string{check.SearchesSlow},
	Starts:   "collection_created segment_flushed | segment_created",
	Parts:    model.PartObjects | model.PartSegments,
	Doc: `Most rows are in one partition, and its searches stay slow. The check looks at partitions of collections
with a partition key and at least 100,000 rows. Milvus hashes the key's values over a fixed number of partitions (16
by default, 64 in older versions). Info if the largest has 4 times the mean and a quarter of all rows. Warning at 8
times the mean and half of all rows, from a million rows.

A search with the key in its filter reads one partition: the larger it is, the less is saved. Usual reasons are few
distinct values, and one tenant far larger than the others. Not reported: moderate differences between tenants.`,
	Remedy: `Give a very large tenant its own collection, or choose a key with more distinct values. The key and the
number of partitions are fixed when a collection is created. If the data is simply like that, accept the finding in a
baseline.`,
	Run: runPartitionKeySkew,
}

func runPartitionKeySkew(p *check.Pass) {
	for _, x := range p.Collections {
		key := ""
		for _, f := range x.Fields {
			if f.PartitionKey {
				key = f.Name
			}
		}
		partitions := p.PartitionsOf(x.ID)
		if x.Dropped() || key == "" || len(partitions) < 2 {
			continue
		}
		total, empty := int64(0), 0
		largest, most := partitions[0], int64(-1)
		for _, part := range partitions {
			rows := p.PartitionTotals(part.ID).Rows
			total += rows
			if rows == 0 {
				empty++
			}
			if rows > most {
				largest, most = part, rows
			}
		}
		skew := float64(most) * float64(len(partitions)) / float64(max(1, total))
		share := facts.Ratio(most, total)
		if total < skewRows || skew < keySkewInfo || share < keyShareInfo {
			continue
		}
		f := check.Finding{
			Severity: check.Info, Object: facts.RefCollection(p.Cluster, x.ID),
			Objects: []model.Ref{{Resource: "partitions", ID: largest.ID.String(), Name: largest.Name}},
			Message: fmt.Sprintf("the largest of %d partitions of %s has %s of %s rows, %.1f times the mean "+
				"(partition key %s)", len(partitions), facts.CollectionLabel(p.Cluster, x.ID), words.Number(most),
				words.Number(total), skew, key),
			Evidence: []check.Evidence{
				check.Fact("partition key", key, "etcd"),
				check.Count("partitions", len(partitions), "etcd"),
				check.Count("empty partitions", empty, "etcd"),
				check.Fact("largest", largest.Name, "etcd"),
				check.Count("rows in it", most, "etcd"),
				check.Count("rows of the collection", total, "etcd"),
			},
			Impact: fmt.Sprintf("A search for a key in partition %s reads %s of the collection.", largest.Name,
				words.Share(share)),
			Fix: check.Fix(
				check.Shell(check.Kitescope("get partitions --sort -rows").Arg("collection_id="+x.ID.String())).
					Does("shows how the rows are spread"),
				check.Do("move the largest values of %s into collections of their own, "+
					"or recreate the collection with a key that has more values", key).
					Interrupting(0, "nothing"),
			),
		}
		if skew >= keySkewWarning && share >= keyShareWarning && total >= skewLarge {
			f.Severity = check.Warning
		}
		p.Report(f)
	}
}

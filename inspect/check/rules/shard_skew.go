package rules

import (
	"fmt"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
	"kitescope/internal/words"
)

// Thresholds of shard-skew and partition-key-skew.
const (
	// skewRows is the minimum number of rows for a finding.
	skewRows = 100_000
	// skewLarge is the minimum number of rows for a warning.
	skewLarge = 1_000_000
	// shardSkewInfo and shardSkewWarning are ratios of the largest shard to the mean shard. Shards are usually even,
	// because primary keys are hashed.
	shardSkewInfo, shardSkewWarning = 1.5, 2.0
	// keySkewInfo and keySkewWarning are the same ratios for the partitions of a partition key. They are higher,
	// because users choose the key values and one partition is always larger than the others. keyShareInfo and
	// keyShareWarning are the minimum shares of the largest partition in all rows, because with many partitions a
	// multiple of the mean can still be a small part of the whole.
	keySkewInfo, keySkewWarning   = 4.0, 8.0
	keyShareInfo, keyShareWarning = 0.25, 0.5
)

// shardSkew finds collections with uneven shards.
var shardSkew = &check.Check{
	ID:       "shard-skew",
	Title:    "The shards of a collection differ widely in rows",
	Severity: check.Warning,
	Symptoms: []string{check.SearchesSlow},
	Starts:   "collection_created segment_flushed | segment_created",
	Parts:    model.PartObjects | model.PartSegments,
	Doc: `One shard is far larger than the others. The check looks at rows per vchannel of collections with several
shards and at least 100,000 rows. Keys are hashed over shards, which makes them even. Info if the largest has 1.5
times the mean. Warning at twice the mean, from a million rows.

One data node consumes a shard and one query node leads it. Skew comes from keys that hash badly, from imports into
one channel, or from rows that one shard has not received.`,
	Remedy: `First check whether a channel is behind (` + "`checkpoint-lag`" + `, ` + "`channel-unwatched`" + `).
Insert again into a new collection to remove real skew.`,
	Run:         runShardSkew,
	FollowsFrom: check.CausedBy(check.Shares("collections"), "channel-unwatched", "checkpoint-lag"),
}

func runShardSkew(p *check.Pass) {
	for _, x := range p.Existing() {
		if len(x.VChannels) < 2 {
			continue
		}
		total, largest, name := int64(0), int64(0), ""
		for _, v := range x.VChannels {
			rows := p.VChannelTotals(v).Rows
			total += rows
			if rows > largest {
				largest, name = rows, v
			}
		}
		skew := float64(largest) * float64(len(x.VChannels)) / float64(max(1, total))
		if total < skewRows || skew < shardSkewInfo {
			continue
		}
		f := check.Finding{
			Severity: check.Info, Object: facts.RefCollection(p.Cluster, x.ID),
			Objects: []model.Ref{facts.RefVChannel(name)},
			Message: fmt.Sprintf("the largest of %d shards of %s has %s of %s rows, %.1f times the mean",
				len(x.VChannels), facts.CollectionLabel(p.Cluster, x.ID), words.Number(largest), words.Number(total),
				skew),
			Impact: "One data node and one query node carry the load of the largest shard.",
			Fix: check.Fix(
				check.Shell(check.Kitescope("get vchannels").Arg("collection_id="+x.ID.String())).
					Does("shows whether another shard only lags (old checkpoint)"),
				check.Do("if none does, insert the rows into a new collection, with keys that hash evenly").
					Interrupting(0, "nothing"),
			),
		}
		for _, v := range x.VChannels[:min(len(x.VChannels), facts.MaxObjects)] {
			f.Evidence = append(f.Evidence, check.Count("rows of "+v, p.VChannelTotals(v).Rows, "etcd"))
		}
		if skew >= shardSkewWarning && total >= skewLarge {
			f.Severity = check.Warning
		}
		p.Report(f)
	}
}

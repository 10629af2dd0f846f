package view

import (
	"strconv"
	"time"

	"kitescope/inspect/model"
	"kitescope/internal/table"
)

// segmentDetails holds the columns of details that most segments do not have.
var segmentDetails = []column[*model.Segment]{
	col(table.Column{
		Name: "sorted_by", Rare: true, Show: table.Hidden,
		Doc: "Sort key of the rows: primary key; partition key (2.6.23); namespace (3.0). The last two are one field " +
			"of the record: in a cluster of both releases, or without sessions, it may be either.",
	}, func(e *Env, s *model.Segment) table.Cell {
		switch {
		case s.SortedByKey:
			return text(e.Cluster.Version.SortKey())
		case s.Sorted:
			return text("primary key")
		}
		return none()
	}).withNeeds(model.PartSessions),
	col(table.Column{
		Name: "commit_at", Rare: true, Kind: table.Time, Show: table.Hidden,
		Doc: "When an import or a replication committed it (3.0): used instead of the timestamps of its rows for " +
			"visibility and deletes, until a compaction.",
	}, detailColumn(func(d *model.SegmentDetails) table.Cell { return tso(d.CommitAt) })),
	col(table.Column{
		Name: "schema_version", Rare: true, Kind: table.Int, Show: table.Hidden,
		Doc: "Version of the schema that its rows were written by (3.0); none if it is not recorded.",
	},
		detailColumn(func(d *model.SegmentDetails) table.Cell { return countOrNone(d.SchemaVersion) })),
	col(table.Column{
		Name: "data_version", Rare: true, Kind: table.Int, Show: table.Hidden,
		Doc: "Number of times that columns were added to its rows after they were written (3.0); none if never.",
	},
		detailColumn(func(d *model.SegmentDetails) table.Cell { return countOrNone(d.DataVersion) })),
	col(table.Column{
		Name: "partition_stats_version", Rare: true, Kind: table.Int, Show: table.Hidden,
		Doc: "Version of the clustering statistics that it belongs to; none if no clustering compaction wrote it.",
	},
		detailColumn(func(d *model.SegmentDetails) table.Cell { return countOrNone(d.PartitionStatsVersion) })),
	col(table.Column{
		Name: "expires_at", Rare: true, Kind: table.List, Show: table.Hidden,
		Doc: "When 20, 40, 60, 80 and 100% of its rows expire, if a field sets the expiry of each row (3.0).",
	},
		detailColumn(func(d *model.SegmentDetails) table.Cell {
			var at []string
			for _, v := range d.ExpiresAt {
				at = append(at, time.UnixMicro(v).UTC().Format(time.RFC3339))
			}
			return list(at)
		})),
	col(table.Column{
		Name: "manifest", Rare: true, Show: table.Hidden,
		Doc: "Path of the manifest that names its files, under storage version 3.",
	},
		detailColumn(func(d *model.SegmentDetails) table.Cell { return text(d.ManifestPath) })),
	col(table.Column{
		Name: "formats", Rare: true, Kind: table.List, Show: table.Hidden,
		Doc: "Formats of the files that its manifest names: parquet, vortex, ...",
	},
		statsColumn(func(r *model.RecordedStats) table.Cell { return list(r.Formats) })),
	col(table.Column{
		Name: "recorded_files", Rare: true, Kind: table.Pairs, Show: table.Hidden,
		Doc: "Files, deletes and bytes in memory of the files in its manifest, as the writer counted them: insert " +
			"and " +
			"delta logs, statistics.",
	}, statsColumn(func(r *model.RecordedStats) table.Cell {
		number := func(n int64) string { return strconv.FormatInt(n, 10) }
		return pairs([]model.Pair{
			{Key: "insert_files", Value: number(r.InsertFiles)},
			{Key: "insert_bytes", Value: number(r.InsertBytes)},
			{Key: "delta_files", Value: number(r.DeltaFiles)},
			{Key: "delta_bytes", Value: number(r.DeltaBytes)},
			{Key: "deletes", Value: number(r.Deletes)},
			{Key: "stats_bytes", Value: number(r.StatsBytes)},
		})
	})),
	col(table.Column{
		Name: "inserts_from", Rare: true, Kind: table.Time, Show: table.Hidden,
		Doc: "Earliest insert in the files that its manifest names.",
	},
		statsColumn(func(r *model.RecordedStats) table.Cell { return tso(r.InsertsFrom) })),
	col(table.Column{
		Name: "inserts_to", Rare: true, Kind: table.Time, Show: table.Hidden, Doc: "Latest insert in them.",
	},
		statsColumn(func(r *model.RecordedStats) table.Cell { return tso(r.InsertsTo) })),
	col(table.Column{
		Name: "deletes_from", Rare: true, Kind: table.Time, Show: table.Hidden, Doc: "Earliest delete in them.",
	},
		statsColumn(func(r *model.RecordedStats) table.Cell { return tso(r.DeltaFrom) })),
	col(table.Column{
		Name: "deletes_to", Rare: true, Kind: table.Time, Show: table.Hidden, Doc: "Latest delete in them.",
	},
		statsColumn(func(r *model.RecordedStats) table.Cell { return tso(r.DeltaTo) })),
}

// detailColumn returns a column function for the details of a segment. The cell is none without details.
func detailColumn(cell func(*model.SegmentDetails) table.Cell) func(*Env, *model.Segment) table.Cell {
	return func(_ *Env, s *model.Segment) table.Cell {
		if s.Details == nil {
			return none()
		}
		return cell(s.Details)
	}
}

// statsColumn returns a column function for the statistics that the writer of a segment recorded (storage
// version 3).
func statsColumn(cell func(*model.RecordedStats) table.Cell) func(*Env, *model.Segment) table.Cell {
	return detailColumn(func(d *model.SegmentDetails) table.Cell {
		if d.Stats == nil {
			return none()
		}
		return cell(d.Stats)
	})
}

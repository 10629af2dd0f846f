package rules

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/latency"
	"kitescope/inspect/model"
	"kitescope/internal/words"
)

// Thresholds of index-unfit.
const (
	// flatRows is the minimum number of rows at which a FLAT index is reported: scanning every row is then too
	// expensive to be a choice for accuracy.
	flatRows = 1_000_000
	// rowsPerList is the minimum number of rows per list for k-means (faiss, Clustering.h:
	// min_points_per_centroid).
	rowsPerList = 39
	// listsPerRoot is Milvus's advice: nlist = 4 x sqrt(rows of a segment) (docs, "Index" and the FAQ on
	// nlist). An nlist below 1/maxListsDeviation (a sixteenth) of the advice is reported.
	listsPerRoot      = 4.0
	maxListsDeviation = 16.0
	// listRows is the minimum number of rows in a segment for too few lists to matter.
	listRows = 100_000
)

// indexUnfit reports index types and sizes that do not suit the data.
var indexUnfit = &check.Check{
	ID:       "index-unfit",
	Title:    "The type or size of an index does not suit its rows",
	Severity: check.Warning,
	Symptoms: []string{check.SearchesSlow},
	Starts:   "index_created index_altered | segment_flushed collection_loaded",
	Parts:    model.PartObjects | model.PartIndexes | model.PartSegments | model.PartSegmentIndexes | model.PartServing,
	Doc: `Every search scans all rows because the index is FLAT. The check looks at live index definitions on vector
fields and their rows.

- FLAT or BIN_FLAT over at least a million rows: warning if the collection is loaded, else info.
- IVF types with an unsuitable ` + "`nlist`" + `: more lists than a 39th of the rows of the largest segment (faiss needs
  39 rows a list to train, Clustering.h), or fewer than a sixteenth of 4 x sqrt(rows), the advice of Milvus's
  documentation, in segments of 100,000 rows and more. Info only: the best value depends on nprobe and the data.

Not judged: M and ef of graphs, AUTOINDEX, sparse indexes. FLAT on fewer rows is a fair choice: it is exact.`,
	Remedy: `Release the collection, drop the index and create another one, such as HNSW. The collection cannot be
searched until that is built and loaded. Change the search parameters with the type: HNSW takes ` + "`ef`" + `, IVF
` + "`nprobe`" + `. FLAT may be right behind filters that leave few rows: accept the finding in a baseline.`,
	Phases: []latency.Name{latency.KernelSealed},
	Run:    runIndexUnfit,
}

func runIndexUnfit(p *check.Pass) {
	work := p.SearchWork()
	for _, i := range p.Indexes {
		x := p.Collection(i.Collection)
		if x == nil || x.Dropped() || i.Deleted || !facts.OnVector(x, i) {
			continue
		}
		switch {
		case facts.IsFlat(i.Type):
			judgeFlat(p, x, i, work)
		case strings.Contains(i.Type, "IVF") || i.Type == "SCANN":
			judgeLists(p, x, i)
		}
	}
}

func judgeFlat(p *check.Pass, x *model.Collection, i *model.Index, work facts.SearchWork) {
	rows := p.CollectionTotals(x.ID).Rows
	if rows < flatRows {
		return
	}
	f := check.Finding{
		Severity: check.Info, Object: facts.RefIndex(i), Objects: []model.Ref{facts.RefCollection(p.Cluster, x.ID)},
		Cost: work.Share(x, rows),
		Message: fmt.Sprintf("%s.%s: %s index over %s rows", facts.CollectionLabel(p.Cluster, x.ID),
			facts.FieldLabel(x, i.Field), i.Type, words.Number(rows)),
		Evidence: []check.Evidence{
			check.Count("rows", rows, "etcd"),
			check.Fact("index type", i.Type, "etcd"),
			check.Count("dimensions", facts.Dimensions(x), "etcd"),
			check.Factf("limit", "", "%s rows", check.N(flatRows)),
		},
		Impact: "Each search scans every row.",
	}
	params := check.Definition("HNSW", i.Metric, usualGraph())
	if strings.HasPrefix(i.Type, "BIN") {
		params = check.Definition("BIN_IVF_FLAT", i.Metric, usualLists())
	}
	f.Fix = check.Fix(check.Redefine(p.Cluster, x, i, params).
		Does("replaces it with an approximate index; searches then need other parameters"))
	if strings.Contains(strings.ToUpper(i.Metric), "STRUCTURE") {
		f.Fix = check.Fix(check.Do("accept the finding in a baseline: no other index has the metric %s", i.Metric))
	}
	if p.LoadState(x.ID) != nil {
		f.Severity = check.Warning
	}
	p.Report(f)
}

func judgeLists(p *check.Pass, x *model.Collection, i *model.Index) {
	nlist := param(i, "nlist")
	if nlist <= 0 {
		return
	}
	largest := p.DigestOf(x.ID).Largest
	advised := listsPerRoot * math.Sqrt(float64(largest))
	fits := min(math.Round(advised), float64(largest/rowsPerList)) // small segments cannot train that many
	var problem, impact string
	switch {
	case largest < facts.MinIndexRows:
		return
	case nlist*rowsPerList > float64(largest):
		problem = fmt.Sprintf("%s lists for at most %s rows per segment: %.0f rows per list",
			words.Number(int64(nlist)), words.Number(largest), float64(largest)/nlist)
		impact = "Lists this short train badly, and a search has to read many of them."
	case largest >= listRows && nlist < advised/maxListsDeviation:
		problem = fmt.Sprintf("%s lists for %s rows in its largest segment: %s rows per list",
			words.Number(int64(nlist)), words.Number(largest), words.Number(int64(math.Round(float64(largest)/nlist))))
		impact = "Every list that a search probes holds very many rows."
	default:
		return
	}
	p.Report(check.Finding{
		Severity: check.Info, Object: facts.RefIndex(i), Objects: []model.Ref{facts.RefCollection(p.Cluster, x.ID)},
		Message: fmt.Sprintf("%s.%s: %s has %s", facts.CollectionLabel(p.Cluster, x.ID), facts.FieldLabel(x, i.Field),
			i.Type, problem),
		Evidence: []check.Evidence{
			check.Factf("nlist", "etcd", "%s", check.Figure{
				Value: nlist, Unit: "count", Text: strconv.FormatFloat(nlist, 'f', -1, 64),
			}),
			check.Count("rows of the largest segment", largest, "etcd"),
			check.Factf("4 x sqrt(rows)", "", "%s", check.Number(advised, "count", "%.0f")),
		},
		Impact: impact,
		Fix: check.Fix(check.Redefine(p.Cluster, x, i,
			check.Definition(check.UserType(i), i.Metric, replaceParam(i.Params, "nlist", strconv.Itoa(int(fits))))).
			Does("rebuilds it with the advised nlist; nprobe then has to be tuned again")),
	})
}

// param returns the named index parameter as a number, or 0 if it is missing.
func param(i *model.Index, name string) float64 {
	for _, list := range [...][]model.Pair{i.Params, i.UserParams} {
		for _, kv := range list {
			if v, err := strconv.ParseFloat(kv.Value, 64); kv.Key == name && err == nil {
				return v
			}
		}
	}
	return 0
}

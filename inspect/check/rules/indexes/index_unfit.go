package indexes

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/latency"
	"kitescope/inspect/model"
	"kitescope/words"
)

// Thresholds of index-unfit.
const (
	// flatRows is from where on comparing every row is no longer a choice for accuracy but a burden.
	flatRows = 1_000_000
	// rowsPerList is how many rows k-means wants for each list (faiss, Clustering.h: min_points_per_centroid).
	rowsPerList = 39
	// listsPerRoot is Milvus's advice: nlist = 4 x sqrt(rows of a segment) (docs, "Index" and the FAQ on nlist). Findings begin at a sixteenth.
	listsPerRoot = 4.0
	farOff       = 16.0
	// listRows is the size of a segment from which too few lists matter.
	listRows = 100_000
)

// indexUnfit finds index types and sizes that do not suit the data.
var indexUnfit = &check.Check{
	ID:       "index-unfit",
	Title:    "The type or size of an index does not suit its rows",
	Severity: check.Warning,
	Since:    "0.3",
	Parts:    model.PartObjects | model.PartIndexes | model.PartSegments | model.PartSegmentIndexes | model.PartServing,
	Doc: `Looks at live index definitions on vector fields and at the rows they cover.

- FLAT or BIN_FLAT over at least a million rows: every search compares all of them. A warning if the collection is loaded, else information.
- IVF types whose ` + "`nlist`" + ` is far off: more lists than a 39th of the rows of the largest segment, fewer than faiss asks for to train
  (Clustering.h), or fewer than a sixteenth of 4 x sqrt(rows), which is what Milvus's documentation advises, in segments of 100,000 rows
  and more. Information only: what is right depends on nprobe and the data.

Not judged: M and ef of graphs, AUTOINDEX, sparse indexes. FLAT on fewer rows is a fair choice: it is exact.`,
	Remedy: `Release the collection, drop the index and create another one, such as HNSW; the collection cannot be searched until that is built and loaded. Search parameters change with the type: HNSW wants
` + "`ef`" + `, IVF ` + "`nprobe`" + `. FLAT with filters that leave few rows may be right: then accept the finding in a baseline.`,
	Phases: []latency.Name{latency.KernelSealed},
	Run:    runIndexUnfit,
}

func runIndexUnfit(p *check.Pass) error {
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
	return nil
}

func judgeFlat(p *check.Pass, x *model.Collection, i *model.Index, work facts.SearchWork) {
	rows := p.CollectionTotals(x.ID).Rows
	if rows < flatRows {
		return
	}
	f := check.Finding{
		Severity: check.Info, Object: facts.RefIndex(i), Objects: []model.Ref{facts.RefCollection(p.Cluster, x.ID)}, Cost: work.Share(x, rows),
		Message: fmt.Sprintf("%s.%s has %s rows behind a %s index", facts.CollectionLabel(p.Cluster, x.ID), facts.FieldLabel(x, i.Field), words.Number(rows), i.Type),
		Evidence: []check.Evidence{
			check.Count("rows", rows, "etcd"),
			check.Fact("index type", i.Type, "etcd"),
			check.Count("dimensions", facts.Dimensions(x), "etcd"),
			check.Measured("limit", "", "%s rows", check.N(flatRows)),
		},
		Impact: "Each search compares every row.",
	}
	params := check.Python(`{"index_type": "HNSW", "metric_type": %s, "params": {"M": 16, "efConstruction": 200}}`, i.Metric)
	if strings.HasPrefix(i.Type, "BIN") {
		params = check.Python(`{"index_type": "BIN_IVF_FLAT", "metric_type": %s, "params": {"nlist": 1024}}`, i.Metric)
	}
	f.Hint = rebuildHint(p.Cluster, x, i, params)
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
	var problem, impact string
	switch {
	case largest < facts.MinIndexRows:
		return
	case nlist*rowsPerList > float64(largest):
		problem = fmt.Sprintf("%.0f lists for at most %s rows a segment: %.0f rows a list", nlist, words.Number(largest), float64(largest)/nlist)
		impact = "Lists this short are trained badly, and a search reads many of them."
	case largest >= listRows && nlist < advised/farOff:
		problem = fmt.Sprintf("%.0f lists for %s rows in its largest segment: %.0f rows a list", nlist, words.Number(largest), float64(largest)/nlist)
		impact = "Each list that a search probes holds very many rows."
	default:
		return
	}
	p.Report(check.Finding{
		Severity: check.Info, Object: facts.RefIndex(i), Objects: []model.Ref{facts.RefCollection(p.Cluster, x.ID)},
		Message: fmt.Sprintf("%s.%s: %s has %s", facts.CollectionLabel(p.Cluster, x.ID), facts.FieldLabel(x, i.Field), i.Type, problem),
		Evidence: []check.Evidence{
			check.Measured("nlist", "etcd", "%s", check.Figure{Value: nlist, Unit: "count", Text: strconv.FormatFloat(nlist, 'f', -1, 64)}),
			check.Count("rows of the largest segment", largest, "etcd"),
			check.Measured("4 x sqrt(rows)", "", "%s", check.Number(advised, "count", "%.0f")),
		},
		Impact: impact,
		Hint:   check.Advise("%sbuild %s again with nlist near %.0f, and choose nprobe anew", check.InDatabase(p.Cluster, x), i.Name, advised),
	})
}

// param is a number among an index's parameters, 0 if it has none of that name.
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

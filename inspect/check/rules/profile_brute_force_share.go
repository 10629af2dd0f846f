package rules

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
	"kitescope/internal/words"
)

// profileBruteForceShare finds query nodes that spend much of their CPU time on brute-force search.
var profileBruteForceShare = &check.Check{
	ID:       "profile-brute-force-share",
	Title:    "A query node spends its time on brute force",
	Severity: check.Warning,
	Symptoms: []string{check.SearchesSlow},
	Starts:   "index_dropped | segment_created segment_flushed",
	Doc: `A query node spends its CPU time on comparing queries with every row. CPU profiles show it: samples in
knowhere's functions for brute force (faiss::knn_L2sqr, knn_inner_product, knn_cosine, IndexFlat::search,
BruteForce::Search, searchKnnBF and similar). Not counted: samples under an IVF index, which compares with its
centroids in the same functions. Growing rows, sealed segments without an index and FLAT indexes are searched this
way, and graphs fall back to it behind filters that leave few rows.

Warning if a node spends at least twice as much of its time on it as any other of its resource group, by 10 points of
its time and more than the bounds of either explain; or if it spends more than half of its time on it, although every
loaded collection has an index other than FLAT. Info with collections that have none: brute force is by design there.

Milvus releases have no symbols in libknowhere: brute force looks like IVF, its share is unknown, and the check could
not run. Without names, the part of knowhere's work that goes through OpenMP is known, as for brute force and IVF but
not for graphs. Info for a node with far more of that than the others.

brute-force-share estimates the same from the loaded data; this check measures it.`,
	Remedy: `See growing-flushed, growing-too-large, index-not-loaded and index-missing for the rows;
` + "`kitescope get segments`" + ` shows their nodes. A node that leads busy shards searches their growing rows alone:
` + "`kitescope balance`" + ` shows leaders. If filters leave few rows, add a scalar index or a partition key.`,
	Parts: model.PartObjects | model.PartIndexes | model.PartServing,
	Needs: check.NeedProfiles,
	Run:   runProfileBrute,
	FollowsFrom: slices.Concat(
		check.CausedBy(check.Serves, "brute-force-share"),
		check.CausedBy(ofProcess, "growing-flushed", "growing-too-large", "index-not-loaded"),
		check.CausedBy(check.Serves, "index-missing"),
		check.CausedBy(ofProcess, "imbalance-leaders"),
	),
}

const (
	bruteTimes = 2
	bruteGap   = 0.1
	bruteMost  = 0.5
)

func runProfileBrute(p *check.Pass) {
	list := profiled(p, "CPU", hasCPUProfile, "querynode")
	if len(list) == 0 {
		p.Skip("no CPU profile of a query node")
		return
	}
	design := bruteByDesign(p)
	unknown := make(map[string][]string) // processes by reason
	for _, x := range list {
		if x.CPU.Cores < busyProfile {
			continue // nearly idle, so its work costs nothing
		}
		brute := func(x *model.ProfiledProcess) *model.ProfileShare { return x.CPU.BruteForce }
		openMP := func(x *model.ProfiledProcess) *model.ProfileShare { return &x.CPU.OpenMP }
		if share := x.CPU.BruteForce; share != nil {
			rest, far := farAbove(list, x, brute)
			if far || share.Low >= bruteMost {
				reportProfileBrute(p, x, *share, rest, far, design)
			}
			continue
		}
		rest, far := farAbove(list, x, openMP)
		if far {
			reportProfileOpenMP(p, x, rest)
		}
		unknown[x.CPU.BruteReason] = append(unknown[x.CPU.BruteReason], x.Name)
	}
	for _, reason := range slices.Sorted(maps.Keys(unknown)) {
		p.NoteUnseen("brute force on " + words.Summarize(unknown[reason]) + ": " + reason)
	}
}

// farAbove reports whether a process's share is far above the shares of the other processes of its group. rest is the
// greatest share of the others, or NaN if there is none to compare with.
func farAbove(
	list []*model.ProfiledProcess, x *model.ProfiledProcess, of func(*model.ProfiledProcess) *model.ProfileShare,
) (rest float64, far bool) {
	own, rest, bound := of(x), math.NaN(), 0.0
	for _, y := range list {
		if y == x || y.Group != x.Group {
			continue
		}
		share := of(y)
		if share == nil || math.IsNaN(share.High) {
			return math.NaN(), false // the share there may be as large
		}
		if y.CPU.Cores < busyProfile {
			continue // too few samples to compare with
		}
		if math.IsNaN(rest) || share.Part > rest {
			rest = share.Part
		}
		bound = max(bound, share.High)
	}
	return rest, !math.IsNaN(rest) && own.Low > bound && own.Part >= bruteTimes*rest && own.Part-rest >= bruteGap
}

// bruteByDesign returns the label of a loaded collection that is searched by brute force because it has only FLAT
// indexes or no index. It returns "" if there is no such collection.
func bruteByDesign(p *check.Pass) string {
	for _, l := range p.LoadStates {
		x := p.Collection(l.Collection)
		if x == nil || x.Dropped() {
			continue
		}
		indexed := false
		for _, i := range p.IndexesOf(x.ID) {
			if !i.Deleted && facts.OnVector(x, i) && !facts.IsFlat(i.Type) {
				indexed = true
			}
		}
		if !indexed {
			return facts.CollectionLabel(p.Cluster, x.ID)
		}
	}
	return ""
}

func reportProfileBrute(
	p *check.Pass, x *model.ProfiledProcess, share model.ProfileShare, rest float64, far bool, design string,
) {
	f := check.Finding{
		Severity: check.Warning, Object: x.Ref(), Cost: share.Part / 2,
		Message:  fmt.Sprintf("%s spends %s of its time on brute force", x.Name, bounded(share)),
		Evidence: append([]check.Evidence{sampled("brute force", share, x)}, cpuEvidence(x)...),
		Impact:   "Its searches scan every row without an index, and wait for it.",
		Fix: check.Fix(
			check.Shell(check.Kitescope(
				"diagnose --only growing-flushed,growing-too-large,index-not-loaded,index-missing",
			)).Does("names the rows without an index, with a fix for each kind"),
			check.Shell(check.Kitescope("balance")).Does("shows what it serves compared with the others"),
		),
	}
	if !math.IsNaN(rest) {
		f.Message += ", the others at most " + words.Share(rest)
		f.Evidence = append(f.Evidence,
			check.Factf("brute force on the others", "their CPU profiles", "at most %s", check.Percent(rest)))
	}
	if !far && design != "" {
		f.Severity = check.Info
		f.Evidence = append(f.Evidence, check.Fact("collection without an approximate index", design, "etcd"))
		f.Fix = check.Fix(check.Do("create a graph index such as HNSW on %s if its searches are too slow; FLAT on "+
			"few rows is a fair choice", design).
			Interrupting(0, "nothing"))
	}
	reportProfiled(p, f)
}

func reportProfileOpenMP(p *check.Pass, x *model.ProfiledProcess, rest float64) {
	share := x.CPU.OpenMP
	reportProfiled(p, check.Finding{
		Severity: check.Info, Object: x.Ref(), Cost: (share.Part - rest) / 2,
		Message: fmt.Sprintf("%s spends %s of its time on brute force or IVF (search through OpenMP), the others at "+
			"most %s", x.Name, bounded(share), words.Share(rest)),
		Evidence: append([]check.Evidence{
			sampled("search through OpenMP", share, x),
			sampled("search in libknowhere", x.CPU.Knowhere, x),
			check.Fact("brute force", "unknown: "+x.CPU.BruteReason, profileSource(x)),
		}, cpuEvidence(x)...),
		Impact: "It scans rows that the others do not have: growing ones, segments without an index, or lists of an " +
			"IVF index.",
		Fix: check.Fix(
			check.Shell(check.Kitescope("balance")).Does("shows what it serves compared with the others"),
		),
	})
}

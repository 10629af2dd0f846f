package replays

import (
	"cmp"
	"io"
	"slices"
	"strings"

	"kitescope/internal/encode"
	"kitescope/internal/table"
	"kitescope/internal/words"
	"kitescope/render"
	"kitescope/replay/load"
)

// WriteSideBySide writes several results in the form in which comparisons of servers are published: the result
// with the most queries per second at each recall, and a row per result and point, with the cost of a query on
// the server. No result is a baseline.
func WriteSideBySide(w io.Writer, results []Series, format render.Format, o render.ReportOptions) error {
	return newSideBySideSheet(results, &o).Write(w, format)
}

// SideBySideSchema returns the schema of the points that WriteSideBySide writes.
func SideBySideSchema(o render.ReportOptions) *table.Schema {
	return pointTable(nil, true, &o).Schema()
}

// sideBySideName returns the short name of a result for a column. Structured formats have the full name.
func sideBySideName(results []Series, i int, o *render.ReportOptions) string {
	const most = 16
	mark := "…"
	if o.ASCII {
		mark = "..."
	}
	name := results[i].name(i)
	if o.ASCII {
		name = strings.ReplaceAll(name, "…", mark)
	}
	return render.ShortenMiddle(name, most, mark)
}

func newSideBySideSheet(results []Series, o *render.ReportOptions) *render.Sheet {
	var rows []pointRow
	for i := range results {
		for _, r := range pointRows(results[i].Result.Points) {
			r.name, r.short, r.target = results[i].name(i), sideBySideName(results, i, o),
				render.OrUnknown(results[i].Result.Setup.Target)
			rows = append(rows, r)
		}
	}
	// the limit applies to other lists
	asked := render.Select(o, pointTable(rows, true, o), render.Unbounded[pointRow](o))
	s := &render.Sheet{
		Kind: "ReplaySideBySide", Options: o, Items: asked.Items, Parts: []render.Part{asked.List("")},
		About: func(e *encode.Encoder) {
			e.Key("results")
			e.BeginList()
			for i := range results {
				writeSideBySideResult(e, results, i)
			}
			e.EndList()
		},
	}
	s.Head = []render.Line{{Role: render.RoleTitle, Text: sideBySideTitle(results)}}
	s.Head = append(s.Head, sideBySideLines(results, o)...)
	s.Parts[0].Head = append(s.Parts[0].Head, render.Line{Role: render.RoleDim, Text: pointLegend})
	s.Foot = asked.More(o)
	return s
}

// severalTargets reports whether the results have different targets.
func severalTargets(results []Series) bool {
	return len(results) > 1 &&
		slices.ContainsFunc(results, func(s Series) bool {
			return s.Result.Setup.Target != results[0].Result.Setup.Target
		})
}

func sideBySideTitle(results []Series) string {
	return "Side by side: " + words.Plural(len(results), "result")
}

// sideBySideConclusion names the fastest result at a recall of 0.95, which is the most common requirement, or else
// at the highest lower recall that any result reaches.
func sideBySideConclusion(results []Series, o *render.ReportOptions) string {
	text := "No result reaches a recall of 0.9"
	for _, l := range recallLevels(results, o) {
		if l.recall <= 0.95 {
			text = "At a recall of " + words.Setting(l.recall) + " and more: " + l.text()
		}
	}
	return text
}

// sideBySideLines returns the targets of the results, their differences other than the target, and the fastest result
// at each recall.
func sideBySideLines(results []Series, o *render.ReportOptions) []render.Line {
	var lines []render.Line
	asked := *results[0].Result // the setup without the target
	asked.Setup.Target, asked.Setup.Milvus = "", ""
	lines = append(lines, labelled(o, render.RoleDim, "setup", setupText(&asked.Setup, o))...)
	for i := range results {
		r := results[i].Result
		text := sideBySideName(results, i, o) + ": " + render.OrUnknown(r.Setup.Target)
		if taken := render.Stamp(r.Taken); taken != "" {
			text += ", " + taken
		}
		lines = append(lines, labelled(o, render.RoleDim, "", text)...)
	}
	for _, text := range sideBySideDifferences(results, o) {
		lines = append(lines, labelled(o, render.RoleWarn, "differs", text)...)
	}
	for _, l := range recallLevels(results, o) {
		lines = append(lines, labelled(o, render.RolePlain, "at "+words.Setting(l.recall), l.text())...)
	}
	return lines
}

// sideBySideDifferences returns the differences between results other than the target. Each result is compared with
// the first one, which is an arbitrary choice.
func sideBySideDifferences(results []Series, o *render.ReportOptions) []string {
	var list []string
	first := &results[0].Result.Setup
	for i := range results[1:] {
		other := &results[i+1].Result.Setup
		for _, x := range []struct{ name, a, b string }{
			{"metric", first.Metric, other.Metric},
			{"queries", first.LogDigest, other.LogDigest},
			{"client machine", machineText(&first.Machine), machineText(&other.Machine)},
		} {
			if x.a != x.b {
				list = append(list,
					x.name+": "+render.OrUnknown(x.a)+" of "+sideBySideName(results, 0, o)+", "+render.OrUnknown(x.b)+
						" of "+sideBySideName(results, i+1, o))
			}
		}
	}
	return list
}

// recallLevel is a recall with the best point of each result that reaches it, or nil for results that do not.
type recallLevel struct {
	recall    float64
	names     []string
	best      []*load.Point
	maxRecall []float64 // the highest recall of each result, -1 if unknown
}

// recallLevels returns the recalls commonly used in comparisons that at least one result reaches.
func recallLevels(results []Series, o *render.ReportOptions) []recallLevel {
	var levels []recallLevel
	for _, recall := range []float64{0.9, 0.95, 0.99} {
		l := recallLevel{recall: recall}
		for i := range results {
			var best *load.Point
			most := -1.0
			for j := range results[i].Result.Points {
				p := &results[i].Result.Points[j]
				if most = max(most, p.Recall); p.Recall >= recall && p.QPS > 0 && (best == nil || p.QPS > best.QPS) {
					best = p
				}
			}
			l.names, l.best, l.maxRecall = append(l.names, sideBySideName(results, i, o)), append(l.best, best),
				append(l.maxRecall, most)
		}
		if slices.ContainsFunc(l.best, func(p *load.Point) bool { return p != nil }) {
			levels = append(levels, l)
		}
	}
	return levels
}

// text describes the results, fastest first, e.g. "pg 1,210 QPS (ef 100, 4 sessions), os 640 (x0.529; 4
// sessions), milvus does not reach it: at most 0.9312".
func (l *recallLevel) text() string {
	order := make([]int, len(l.best))
	for i := range order {
		order[i] = i
	}
	rate := func(i int) float64 {
		if l.best[i] == nil {
			return -1
		}
		return l.best[i].QPS
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(rate(b), rate(a)) })
	text := ""
	for place, i := range order {
		p := l.best[i]
		switch {
		case p == nil && l.maxRecall[i] < 0:
			text = join(text, l.names[i]+" has no recall")
		case p == nil:
			text = join(text, l.names[i]+" does not reach it: at most "+recallText(l.maxRecall[i]))
		case place == 0:
			text = join(text,
				l.names[i]+" "+words.ThreeDigits(p.QPS)+" QPS ("+join(parametersOf(p).text(false), shortLoad(p))+")")
		default:
			text = join(text,
				l.names[i]+" "+words.ThreeDigits(p.QPS)+" (x"+words.ThreeDigits(p.QPS/l.best[order[0]].QPS)+"; "+
					join(parametersOf(p).text(false), shortLoad(p))+")")
		}
	}
	return text
}

func writeSideBySideResult(e *encode.Encoder, results []Series, i int) {
	r := results[i].Result
	e.BeginObject()
	e.Entry("result", results[i].name(i))
	e.Entry("target", r.Setup.Target)
	e.Entry("collection", r.Setup.Collection)
	e.Entry("log_digest", r.Setup.LogDigest)
	e.Entry("taken", r.Taken)
	e.EndObject()
}

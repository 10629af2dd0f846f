package balance

import (
	"slices"
	"strconv"
	"strings"

	"kitescope/inspect/balance"
	"kitescope/inspect/model"
	"kitescope/internal/words"
	"kitescope/render/clusters"
	"kitescope/tui"
	"kitescope/tui/draw"
)

// layOut makes the lines of the page for a width.
func (p *page) layOut(w int) {
	p.lines, p.At, p.madeFor = p.lines[:0], p.At[:0], w
	r := p.weighed.Report
	p.head(r, w)
	switch {
	case p.of != nil:
		p.oneGroup(w)
	case p.heat:
		p.heatMap(w)
	default:
		p.allGroups(w)
	}
	for i := range p.lines {
		if p.lines[i].ref.Resource != "" {
			p.At = append(p.At, i)
		}
	}
}

func (p *page) add(look draw.Look, text string) {
	p.lines = append(p.lines, line{text: text, look: look})
}

// wrapped adds a text in as many lines as it needs.
func (p *page) wrapped(look draw.Look, text string, w int) {
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && draw.Width(line)+1+draw.Width(word) > w-2 {
			p.add(look, line)
			line = "  "
		}
		if strings.TrimSpace(line) != "" {
			line += " "
		}
		line += word
	}
	p.add(look, line)
}

func (p *page) head(r *balance.Report, w int) {
	look := draw.LookDim
	if a := &r.Survey.Auto; a.Known && !a.On {
		look = draw.LookWarn
	}
	p.wrapped(look, "auto-balance "+clusters.AutoText(&r.Survey.Auto), w)
	for _, text := range clusters.UnreadText(p.weighed.Env.Cluster.Loaded) {
		p.wrapped(draw.LookWarn, text, w)
	}
	if len(r.Survey.Unknown) > 0 {
		names := make([]string, len(r.Survey.Unknown))
		for i, n := range r.Survey.Unknown {
			names[i] = words.Harmless(n.Name()) + " (" + n.Outcome.String() + ")"
		}
		p.wrapped(draw.LookWarn, "not known, and not in the figures: "+strings.Join(names, ", "), w)
	}
	if text := clusters.RepeatedText(r.Survey); text != "" {
		p.wrapped(draw.LookWarn, text, w)
	}
	p.add(draw.LookPlain, "")
}

// shares adds the table of what nodes serve.
func (p *page) shares(list []*balance.Share, g *balance.Group, w int) {
	header, rows := p.weighed.ShareLines(list, g, w-2)
	p.add(draw.LookHead, header)
	for i, text := range rows {
		x := list[i]
		look := draw.LookPlain
		switch {
		case !x.Known || x.State() != "":
			look = draw.LookWarn
		case g == nil && x.Takes() && x.Sealed+x.Growing == 0:
			look = draw.LookWarn
		}
		p.lines = append(p.lines, line{text: text, look: look, ref: model.Ref{Resource: "nodes", ID: x.Name(), Name: x.Name()}})
	}
}

func (p *page) allGroups(w int) {
	r := p.weighed.Report
	p.shares(r.Survey.Nodes, nil, w)
	p.add(draw.LookPlain, "")
	if len(r.Groups) == 0 {
		p.add(draw.LookDim, "no collection is loaded")
		return
	}
	header, rows := p.weighed.GroupLines(w - 2)
	p.add(draw.LookHead, header)
	for i, text := range rows {
		g := r.Groups[i]
		look := draw.LookPlain
		if r.Plans[i].Reached || len(r.Plans[i].Moves) == 0 {
			look = draw.LookDim // nothing to do, or nothing to be done
		}
		if g.Spread.Nodes > 1 && !r.Plans[i].Reached && len(r.Plans[i].Moves) > 0 || len(r.Plans[i].Moves) > 0 {
			look = draw.LookWarn
		}
		p.lines = append(p.lines, line{text: text, look: look, ref: g.Ref(), group: g})
	}
	p.add(draw.LookPlain, "")
	if r.Moves() > 0 {
		by := r.Options.By
		p.wrapped(draw.LookPlain, words.Plural(r.Moves(), "move")+" in all would bring max/mean over all replicas from "+figure(by.Of(&r.Survey.Spread))+" to "+figure(by.Of(&r.After))+
			"; kitescope itself changes nothing", w)
	}
	p.wrapped(draw.LookDim, clusters.ShareLegend(false), w)
	p.wrapped(draw.LookDim, clusters.SpreadLegend, w)
	p.wrapped(draw.LookDim, "weights: "+r.Survey.Weights.String(), w)
}

func (p *page) heatMap(w int) {
	r := p.weighed.Report
	header, rows, more := p.weighed.HeatLines(w - 2)
	p.wrapped(draw.LookDim, clusters.HeatLegend(false), w)
	p.add(draw.LookPlain, "")
	p.add(draw.LookHead, header)
	for i, text := range rows {
		x := r.Survey.Nodes[i]
		p.lines = append(p.lines, line{text: text, ref: model.Ref{Resource: "nodes", ID: x.Name(), Name: x.Name()}})
	}
	if more > 0 {
		p.add(draw.LookPlain, "")
		p.add(draw.LookDim, words.Plural(more, "replica")+" with less work, or without, are left out")
	}
}

// oneGroup is a replica with its plan.
func (p *page) oneGroup(w int) {
	r := p.weighed.Report
	g, plan := r.Groups[0], r.Plans[0]
	p.add(draw.LookTitle, clusters.GroupTitle(g)+"  "+clusters.GroupSpread(g, r.Options.By))
	p.shares(g.Shares, g, w)
	if text := clusters.UnknownText(g); text != "" {
		p.wrapped(draw.LookWarn, text, w)
	}
	p.add(draw.LookPlain, "")
	look := draw.LookPlain
	if !plan.Reached {
		look = draw.LookWarn
	}
	p.wrapped(look, "PLAN  "+clusters.PlanText(plan), w)
	for i := range plan.Moves {
		m := &plan.Moves[i]
		p.lines = append(p.lines, line{text: moveText(i, m), ref: model.Ref{Resource: "segments", ID: m.Segment.String()}})
	}
	for _, m := range plan.Channels {
		p.lines = append(p.lines, line{
			text: "or move the shard " + words.Harmless(m.Channel) + " with its " + words.Number(int(m.Rows)) + " growing rows from node " + m.From.String() + " to " + m.To.String(),
			ref:  model.Ref{Resource: "vchannels", ID: m.Channel, Name: m.Channel},
		})
	}
	if len(plan.Moves) > 0 {
		p.add(draw.LookDim, "save it as a script for pymilvus; kitescope itself changes nothing")
	}
	p.add(draw.LookPlain, "")
	p.milvus(r.Verdicts[0], w)
	p.add(draw.LookPlain, "")
	p.wrapped(draw.LookDim, "weights: "+r.Survey.Weights.String(), w)
}

// moveText is the i-th move of a plan.
func moveText(i int, m *balance.Move) string {
	return draw.FitRight(strconv.Itoa(i+1), 4) + "  segment " + m.Segment.String() + "  " + draw.FitRight(words.Number(int(m.Rows)), 11) + " rows  " +
		draw.FitRight(words.Bytes(m.Size), 9) + "  " + m.From.String() + " → " + m.To.String()
}

// leastOpened is how many free lines it takes to show the plan of the replica under the cursor.
const leastOpened = 4

// opened is the plan of the replica under the cursor, in at most h lines, for the room that a long terminal leaves.
func (p *page) opened(m *tui.Model, w, h int) []line {
	l := p.current()
	if h < leastOpened || l == nil || l.group == nil {
		return nil
	}
	r := p.weighed.Report
	at := slices.Index(r.Groups, l.group)
	if at < 0 {
		return nil
	}
	of := page{weighed: p.weighed}
	of.add(draw.LookDim, strings.Repeat("─", max(0, w-2)))
	of.add(draw.LookTitle, clusters.GroupTitle(l.group)+"  "+clusters.GroupSpread(l.group, r.Options.By))
	of.wrapped(draw.LookPlain, "PLAN  "+clusters.PlanText(r.Plans[at]), w)
	for i := range r.Plans[at].Moves {
		of.add(draw.LookPlain, moveText(i, &r.Plans[at].Moves[i]))
	}
	if more := len(of.lines) - h; more > 0 {
		of.lines = of.lines[:h-1]
		of.add(draw.LookDim, words.Number(more+1)+" more: "+tui.KeyOf(m, tui.ActOpen))
	}
	return of.lines
}

// milvus is what Milvus's own balancer makes of it.
func (p *page) milvus(v *balance.Verdict, w int) {
	r := p.weighed.Report
	p.wrapped(draw.LookPlain, "MILVUS  "+clusters.VerdictText(v, &r.Survey.Auto, r.Options.By), w)
	var scores []string
	for _, s := range v.Scores {
		scores = append(scores, "node "+s.Node.String()+" "+words.Number(int(s.Score)))
	}
	if len(scores) > 0 {
		p.wrapped(draw.LookDim, "its scores now: "+strings.Join(scores, "; "), w)
	}
	for _, f := range v.Factors {
		p.add(draw.LookDim, "  "+words.Harmless(f.Key)+" "+words.Harmless(f.Value)+"  ("+words.Harmless(f.From)+")")
	}
}

func figure(x float64) string { return strconv.FormatFloat(x, 'f', 2, 64) }

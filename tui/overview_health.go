package tui

import (
	"strings"

	"kitescope/inspect/check"
	"kitescope/inspect/view"
	"kitescope/internal/table"
	"kitescope/internal/words"
	"kitescope/render/clusters"
	"kitescope/tui/draw"
)

// health builds the block about health: the verdict of the checks, facts about the metadata store, and the
// parts of the metadata that could not be read.
func (s *overviewSheet) health(w int) overviewBlock {
	b := overviewBlock{w: w}
	b.add(s.st.Dim.On("HEALTH") + "  " + s.verdict(w-8))
	if s.report != nil {
		b.item("health", overviewItem{
			Page: "findings", About: "The result of all checks; healthy only if all of them could run.",
		})
	}
	if s.report != nil {
		for _, l := range clusters.ImpactLines(clusters.ImpactOf(s.report), false) {
			at := len(b.lines)
			b.add(s.st.Roles[l.Role].On(l.Text) + draw.Cut(words.Sanitize(l.After[0].Text), max(8, w-2)))
			b.items = append(b.items, overviewItem{
				Key: "impact " + l.After[0].Text, Line: at, From: 0, To: b.w, Page: "impact", About: l.After[0].Text,
			})
		}
	}
	o := s.o
	b.add(s.statusMark("checkpoint-lag", "checkpoint-missing") + s.st.Dim.On("oldest checkpoint ") +
		s.value(table.Duration, o.OldestCheckpoint) +
		s.st.Dim.On(" "+draw.CutName(words.Sanitize(o.OldestChannel), max(8, w-30))))
	if o.OldestChannel != "" {
		b.item("checkpoint",
			overviewItem{Object: view.Ref{Resource: "vchannels", ID: o.OldestChannel, Name: o.OldestChannel}})
	}
	undecoded := s.value(table.Int, o.Undecoded) + " undecoded"
	if positive(o.Undecoded) {
		undecoded = s.st.Warn.On(undecoded)
	}
	b.add(s.statusMark("undecoded-records") + s.value(table.Int, o.Keys) + s.st.Dim.On(" keys, ") + undecoded)
	if !s.waiting {
		b.item("keys", overviewItem{Page: "undecoded", About: "Keys of the metadata that could not be decoded."})
	}
	if o.Streaming != nil {
		b.add(s.statusMark("wal-not-open", "wal-open-twice", "wal-recovery-stuck", "wal-flush-lag", "wal-throttled",
			"growing-over-watermark") +
			s.st.Dim.On("streaming ") + draw.Cut(clusters.StreamingText(o.Streaming), max(8, w-12)))
		b.item("streaming", overviewItem{
			Page:  "pchannels",
			About: "Streaming nodes, their logs, and how close growing segments are to the high-water mark.",
		})
	}
	if o.Cache != nil {
		b.add(s.statusMark("cache-thrashing", "cache-loads-failing") + s.st.Dim.On("tiered storage ") +
			draw.Cut(clusters.CacheText(o.Cache), max(8, w-17)))
		b.item("cache", overviewItem{
			Page: "nodes", About: "Memory and disk used by data that query nodes have loaded, and the limits.",
		})
	}
	for _, g := range o.Gaps {
		s.warn(&b, "not read: "+words.Sanitize(g.Where)+": "+words.Sanitize(g.Reason))
	}
	for _, note := range o.Version.Notes {
		s.warn(&b, words.Sanitize(note))
	}
	if o.Etcd == nil {
		b.add(s.st.Dim.On("  etcd ") + s.etcdMissing())
		return b
	}
	if o.Etcd.Problem != "" {
		s.warn(&b, "etcd: "+words.Sanitize(o.Etcd.Problem))
	}
	for i := range o.Etcd.Members {
		b.add(s.member(i))
		b.item("etcd "+o.Etcd.Members[i].Endpoint,
			overviewItem{About: "etcd " + words.Sanitize(o.Etcd.Members[i].Endpoint)})
	}
	return b
}

// warn adds a warning as a selectable item.
func (s *overviewSheet) warn(b *overviewBlock, text string) {
	at := len(b.lines)
	b.warn(s.st, text)
	b.items = append(b.items, overviewItem{Key: "warning " + text, Line: at, From: 0, To: b.w, About: text})
}

// verdict formats the overall result of the checks. It is good only if all checks could run.
func (s *overviewSheet) verdict(w int) string {
	r := s.report
	if r == nil {
		return s.st.Dim.On("…")
	}
	role, glyph, text := clusters.HealthText(r)
	return s.st.Roles[role].On(draw.Cut(glyph+" "+text, w))
}

// statusMark returns the status mark of a line that the given checks cover: the glyph of the worst finding, or a
// check mark only if all these checks ran completely.
func (s *overviewSheet) statusMark(ids ...string) string {
	if s.report == nil {
		return "  "
	}
	known, ok, worst := false, true, -1
	for _, x := range s.report.Results {
		for _, id := range ids {
			if x.Check.ID != id {
				continue
			}
			known = true
			ok = ok && x.Status == check.OK
			for _, f := range x.Findings {
				worst = max(worst, int(f.Severity))
			}
		}
	}
	switch {
	case worst >= 0:
		return severityStyle(s.st, check.Severity(worst)).On(clusters.SeverityGlyph(check.Severity(worst), false)) + " "
	case known && ok:
		return s.st.Good.On("✓") + " "
	}
	return s.st.Dim.On("?") + " "
}

// member formats the state of an etcd member. Problems come first.
func (s *overviewSheet) member(i int) string {
	m := &s.o.Etcd.Members[i]
	where := s.st.Dim.On(strings.TrimPrefix(strings.TrimPrefix(words.Sanitize(m.Endpoint), "http://"), "https://"))
	switch {
	case m.Problem != "":
		return s.st.Bad.On("✖") + s.st.Dim.On(" etcd ") + s.st.Bad.On(words.Sanitize(m.Problem)) + " " + where
	case len(m.Errors) > 0:
		return s.st.Bad.On("✖") + s.st.Dim.On(" etcd ") + s.st.Bad.On(words.Sanitize(strings.Join(m.Errors, ", "))) +
			s.memberFacts(i) + " " + where
	}
	return s.st.Good.On("✓") + s.st.Dim.On(" etcd ") + "no alarm" + s.memberFacts(i) + " " + where
}

// memberFacts formats the size, quota and version of an etcd member and whether it is the leader.
func (s *overviewSheet) memberFacts(i int) string {
	m := &s.o.Etcd.Members[i]
	line := " " + s.value(table.Bytes, table.Cell{Int: m.DBSize})
	if m.DBQuota > 0 {
		line += s.st.Dim.On(" of ") + s.value(table.Bytes, table.Cell{Int: m.DBQuota})
	}
	line += " " + words.Sanitize(m.Version)
	if m.Leader {
		line += s.st.Dim.On(" leader")
	}
	return line
}

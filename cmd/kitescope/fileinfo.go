package main

import (
	"fmt"
	"path/filepath"
	"strconv"
	"time"

	"kitescope/inspect/session"
	"kitescope/inspect/source"
	"kitescope/inspect/view"
	"kitescope/internal/table"
)

// addField appends a field to the description of a file.
type addField func(name, title string, kind table.Kind, c table.Cell)

// describeFile returns a description of a file for package render. For a recording, contents holds the node
// responses and profiles. It is nil for other files.
func describeFile(path string, info source.FileInfo, contents *session.RecordingSummary) *view.Description {
	file := &view.Resource{
		Schema: table.Schema{Name: "files", Singular: "file"}, Kind: "File", Doc: "A file that --from reads.",
	}
	d := &view.Description{Ref: view.Ref{Resource: file.Name, ID: path}, Resource: file}
	add := addField(func(name, title string, kind table.Kind, c table.Cell) {
		d.Fields = append(d.Fields, view.Field{Column: &table.Column{Name: name, Title: title, Kind: kind}, Cell: c})
	})
	add("path", "PATH", table.Text, table.Cell{Text: path})
	add("kind", "KIND", table.Text, table.Cell{Text: info.Origin.Kind})
	add("detail", "DETAIL", table.Text, knownCell(info.Origin.Detail != "", table.Cell{Text: info.Origin.Detail}))
	add("size_bytes", "SIZE", table.Bytes, table.Cell{Int: info.Size})
	add("gzip", "GZIP", table.Bool, yesNo(info.Compressed))
	add("roots", "ROOTS", table.List, table.Cell{List: info.Roots})
	add("revision", "REVISION", table.ID, knownCell(info.Revision != 0, table.Cell{Int: info.Revision}))
	add("taken", "TAKEN", table.Time, knownCell(!info.Taken.IsZero(), table.Cell{Int: info.Taken.UnixNano()}))
	add("keys", "KEYS", table.Int, table.Cell{Int: info.Keys})
	add("key_bytes", "KEYS AND VALUES", table.Bytes, table.Cell{Int: info.KeyBytes})
	add("checksum", "CHECKSUM", table.State, table.Cell{Text: string(info.Checksum)})
	if m := info.Manifest; m != nil {
		add("bundle_version", "BUNDLE VERSION", table.Int, table.Cell{Int: int64(m.Version)})
		add("written_by", "WRITTEN BY", table.Text, table.Cell{Text: "kitescope " + m.Kitescope})
		add("redacted", "REDACTED", table.Bool, yesNo(m.Redacted))
	}
	if contents != nil {
		add.recording(info.Recorded, contents, info.Gaps)
		return d
	}
	if info.Manifest != nil {
		var members []string
		for _, member := range info.Members {
			members = append(members, fmt.Sprintf("%s (%d bytes)", member.Name, member.Size))
		}
		add("members", "MEMBERS", table.List, table.Cell{List: members})
	}
	return d
}

// recording adds the fields that only recordings have: time range, rounds, chunks, gaps and profiles.
func (add addField) recording(r *source.RecordedInfo, contents *session.RecordingSummary, gaps []source.Gap) {
	at := func(name, title string, t time.Time) {
		add(name, title, table.Time, knownCell(!t.IsZero(), table.Cell{Int: t.UnixNano()}))
	}
	add("cluster_id", "CLUSTER ID", table.Text,
		knownCell(r.Cluster != 0, table.Cell{Text: strconv.FormatUint(r.Cluster, 16)}))
	add("oldest_revision", "OLDEST REVISION", table.ID, table.Cell{Int: r.Oldest})
	at("from", "FROM", r.From)
	at("until", "UNTIL", r.Until)
	add("rounds", "ROUNDS", table.Int, table.Cell{Int: int64(contents.Rounds)})
	add("every_seconds", "EVERY", table.Duration,
		knownCell(contents.Rounds > 0, table.Cell{Int: int64(contents.Every)}))
	var chunks []string
	for _, c := range r.Chunks {
		chunks = append(chunks,
			fmt.Sprintf("%s (%d bytes, revisions %d to %d, %s to %s)", c.Name, c.Size, c.First, c.Last,
				shortTime(c.From), shortTime(c.Until)))
	}
	add("chunks", "CHUNKS", table.List, table.Cell{List: chunks})
	var lacks []string
	for _, g := range gaps {
		lacks = append(lacks, g.Where+": "+g.Reason)
	}
	for _, p := range contents.Pauses {
		lacks = append(lacks,
			fmt.Sprintf("node answers: not recorded from %s to %s", shortTime(p.From), shortTime(p.Until)))
	}
	add("gaps", "GAPS", table.List, table.Cell{List: lacks})
	add("profiles", "PROFILES", table.Int, table.Cell{Int: int64(len(contents.Pulls))})
	size, pulls := int64(0), []string(nil)
	for _, p := range contents.Pulls {
		size += p.Size
		pulls = append(pulls, fmt.Sprintf("%s (%d bytes, for %s)", filepath.Base(p.Path), p.Size, p.Check))
	}
	add("profile_bytes", "PROFILE SIZE", table.Bytes, table.Cell{Int: size})
	add("profile_folders", "PROFILE FOLDERS", table.List, table.Cell{List: pulls})
}

// shortTime formats a time as RFC 3339 in UTC.
func shortTime(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// knownCell returns c if the value is known, and an absent cell otherwise.
func knownCell(known bool, c table.Cell) table.Cell {
	if !known {
		return table.Cell{Absent: table.None}
	}
	return c
}

func yesNo(b bool) table.Cell {
	if b {
		return table.Cell{Int: 1}
	}
	return table.Cell{}
}

package main

import (
	"fmt"

	"kitescope/inspect/source"
	"kitescope/inspect/view"
	"kitescope/table"
)

// describeFile arranges what is known of a file for render.
func describeFile(path string, info source.FileInfo) *view.Description {
	file := &view.Resource{Schema: table.Schema{Name: "files", Singular: "file"}, Kind: "File", Doc: "A file that --from reads."}
	d := &view.Description{Ref: view.Ref{Resource: file.Name, ID: path}, Resource: file}
	add := func(name, title string, kind table.Kind, c table.Cell) {
		d.Fields = append(d.Fields, view.Field{Column: &table.Column{Name: name, Title: title, Kind: kind}, Cell: c})
	}
	add("path", "PATH", table.Text, table.Cell{Text: path})
	add("kind", "KIND", table.Text, table.Cell{Text: info.Origin.Kind})
	add("detail", "DETAIL", table.Text, present(info.Origin.Detail != "", table.Cell{Text: info.Origin.Detail}))
	add("size_bytes", "SIZE", table.Bytes, table.Cell{Int: info.Size})
	add("gzip", "GZIP", table.Bool, yesNo(info.Compressed))
	add("roots", "ROOTS", table.List, table.Cell{List: info.Roots})
	add("revision", "REVISION", table.ID, present(info.Revision != 0, table.Cell{Int: info.Revision}))
	add("taken", "TAKEN", table.Time, present(!info.Taken.IsZero(), table.Cell{Int: info.Taken.UnixNano()}))
	add("keys", "KEYS", table.Int, table.Cell{Int: info.Keys})
	add("key_bytes", "KEYS AND VALUES", table.Bytes, table.Cell{Int: info.KeyBytes})
	add("checksum", "CHECKSUM", table.State, table.Cell{Text: string(info.Checksum)})
	if m := info.Manifest; m != nil {
		add("bundle_version", "BUNDLE VERSION", table.Int, table.Cell{Int: int64(m.Version)})
		add("written_by", "WRITTEN BY", table.Text, table.Cell{Text: "kitescope " + m.Kitescope})
		add("redacted", "REDACTED", table.Bool, yesNo(m.Redacted))
		var members []string
		for _, member := range info.Members {
			members = append(members, fmt.Sprintf("%s (%d bytes)", member.Name, member.Size))
		}
		add("members", "MEMBERS", table.List, table.Cell{List: members})
	}
	return d
}

// present is c where the fact is known, no value where it is not.
func present(known bool, c table.Cell) table.Cell {
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

package main

import (
	"fmt"

	"kitescope/inspect/source"
	"kitescope/inspect/view"
)

// describeFile arranges what is known of a file for render.
func describeFile(path string, info source.FileInfo) *view.Description {
	file := &view.Resource{Schema: view.Schema{Name: "files", Singular: "file"}, Kind: "File", Doc: "A file that --from reads."}
	d := &view.Description{Ref: view.Ref{Resource: file.Name, ID: path}, Resource: file}
	add := func(name, title string, kind view.Kind, c view.Cell) {
		d.Fields = append(d.Fields, view.Field{Column: &view.Column{Name: name, Title: title, Kind: kind}, Cell: c})
	}
	add("path", "PATH", view.Text, view.Cell{Text: path})
	add("kind", "KIND", view.Text, view.Cell{Text: info.Origin.Kind})
	add("detail", "DETAIL", view.Text, present(info.Origin.Detail != "", view.Cell{Text: info.Origin.Detail}))
	add("size_bytes", "SIZE", view.Bytes, view.Cell{Int: info.Size})
	add("gzip", "GZIP", view.Bool, yesNo(info.Compressed))
	add("roots", "ROOTS", view.List, view.Cell{List: info.Roots})
	add("revision", "REVISION", view.ID, present(info.Revision != 0, view.Cell{Int: info.Revision}))
	add("taken", "TAKEN", view.Time, present(!info.Taken.IsZero(), view.Cell{Int: info.Taken.UnixNano()}))
	add("keys", "KEYS", view.Int, view.Cell{Int: info.Keys})
	add("key_bytes", "KEYS AND VALUES", view.Bytes, view.Cell{Int: info.KeyBytes})
	add("checksum", "CHECKSUM", view.State, view.Cell{Text: string(info.Checksum)})
	if m := info.Manifest; m != nil {
		add("bundle_version", "BUNDLE VERSION", view.Int, view.Cell{Int: int64(m.Version)})
		add("written_by", "WRITTEN BY", view.Text, view.Cell{Text: "kitescope " + m.Kitescope})
		add("redacted", "REDACTED", view.Bool, yesNo(m.Redacted))
		var members []string
		for _, member := range info.Members {
			members = append(members, fmt.Sprintf("%s (%d bytes)", member.Name, member.Size))
		}
		add("members", "MEMBERS", view.List, view.Cell{List: members})
	}
	return d
}

// present is c where the fact is known, no value where it is not.
func present(known bool, c view.Cell) view.Cell {
	if !known {
		return view.Cell{Absent: view.None}
	}
	return c
}

func yesNo(b bool) view.Cell {
	if b {
		return view.Cell{Int: 1}
	}
	return view.Cell{}
}

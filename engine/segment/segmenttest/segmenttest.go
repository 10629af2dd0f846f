// Package segmenttest finds the files of segments in a store, for tests without an etcd that lists them.
package segmenttest

import (
	"context"
	"path"
	"slices"
	"strconv"
	"strings"

	"kitescope/engine/object"
	"kitescope/engine/segment"
)

// Find lists the segments in a store by the paths of their files. These may be more segments than etcd lists. root
// is the part of the paths before insert_log. The index folder with the highest build, then version, is the newest.
func Find(ctx context.Context, store object.Store, root string) ([]*segment.Files, error) {
	list, err := store.List(ctx, root)
	if err != nil {
		return nil, err
	}
	found := map[int64]*segment.Files{}
	var order []*segment.Files
	of := func(collection, partition, id int64) *segment.Files {
		f := found[id]
		if f == nil {
			f = &segment.Files{Segment: id, Insert: map[int64][]string{}}
			found[id] = f
			order = append(order, f)
		}
		if collection != 0 {
			f.Collection = collection
		}
		f.Partition = partition
		return f
	}
	builds := map[string][2]int64{} // build and version of a folder
	for _, file := range list {
		kind, n := place(strings.TrimPrefix(file.Name, root))
		switch {
		case kind == "insert_log" && len(n) == 5:
			f := of(n[0], n[1], n[2])
			f.Insert[n[3]] = append(f.Insert[n[3]], file.Name)
		case kind == "delta_log" && len(n) == 4:
			f := of(n[0], n[1], n[2])
			f.Delta = append(f.Delta, file.Name)
		case kind == "index_v1" && len(n) == 5:
			folder := path.Dir(file.Name)
			if _, known := builds[folder]; !known {
				builds[folder] = [2]int64{n[3], n[4]}
				f := of(n[0], n[1], n[2])
				f.Indexes = append(f.Indexes, folder)
			}
		case kind == "index_files" && len(n) == 4:
			folder := path.Dir(file.Name)
			if _, known := builds[folder]; !known {
				builds[folder] = [2]int64{n[0], n[1]}
				f := of(0, n[2], n[3])
				f.Indexes = append(f.Indexes, folder)
			}
		}
	}
	var whole []*segment.Files
	for _, f := range order {
		if len(f.Insert) > 0 {
			slices.SortFunc(f.Indexes, func(a, b string) int {
				x, y := builds[a], builds[b]
				return slices.Compare(y[:], x[:])
			})
			whole = append(whole, f)
		}
	}
	return whole, nil
}

// place returns the kind of a file and the numbers that follow in its path, up to the first element that is not a
// number, e.g. the name of an index's blob.
func place(name string) (kind string, numbers []int64) {
	steps := strings.Split(strings.TrimPrefix(name, "/"), "/")
	for len(steps) > 0 && steps[0] != "insert_log" && steps[0] != "delta_log" && steps[0] != "index_files" &&
		steps[0] != "index_v1" {
		steps = steps[1:]
	}
	if len(steps) == 0 {
		return "", nil
	}
	for _, s := range steps[1:] {
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil {
			break
		}
		numbers = append(numbers, n)
	}
	return steps[0], numbers
}

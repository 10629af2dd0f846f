package layout_test

import (
	"strings"
	"testing"

	"kitescope/inspect/model"
	"kitescope/replay/layout"
)

// records is a store with a segment's records, which have an arbitrary text.
type records struct{ text string }

const key, logKey = "by-dev/meta/datacoord-meta/s/1/2/11", "by-dev/meta/datacoord-meta/binlog/1/2/11/101"

func (r records) Len() int { return 2 }
func (r records) Info(i int) model.KeyInfo {
	return []model.KeyInfo{{Key: key, Kind: "segment"}, {Key: logKey, Kind: "binlog"}}[i]
}

func (r records) Find(k string) (int, bool) {
	return map[string]int{logKey: 1}[k], k == key || k == logKey
}

func (r records) Record(i int) model.Record { return model.Record{KeyInfo: r.Info(i), Text: r.text} }

func (r records) Collection(int) model.CollectionID { return 1 }

func (r records) ObjectKeys(string, string) []string {
	return []string{key, logKey, "by-dev/meta/gone"}
}

// FuzzRecords checks that any record gives a layout, and that no name in it leaves the root.
func FuzzRecords(f *testing.F) {
	f.Add(`{"fieldID":"101","binlogs":[{"logID":"5"}]}`)
	f.Add(`{"binlogs":[{"fieldID":"101","binlogs":[{"log_path":"files/insert_log/1/2/11/101/5"}]}],"deltalogs":[{"binlogs":[{"logID":"9"}]}]}`)
	f.Add(`{"binlogs":[{"fieldID":"101","binlogs":[{"log_path":"../../insert_log/../etc/5"}]}]}`)
	f.Add(`{"fieldID":"-1","binlogs":[{"logID":"-9223372036854775808"}]}`)
	f.Add(`{"fieldID":101}`)
	f.Add("")
	f.Fuzz(func(t *testing.T, text string) {
		c := *newCluster(nil, []*model.Segment{flushed(11, 10)})
		c.Keyspace = records{text}
		l, err := layout.New(&c, layout.Options{Collection: "c"})
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range append(files(l), l.Root) {
			if strings.HasPrefix(name, "/") || name == ".." || strings.HasPrefix(name, "../") ||
				strings.Contains(name, "/../") {
				t.Errorf("%q leads out of the root", name)
			}
		}
	})
}

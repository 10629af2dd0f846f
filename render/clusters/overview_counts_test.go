package clusters

import (
	"testing"

	"kitescope/inspect/view"
	"kitescope/internal/table"
)

// TestOverviewCountsMatchLists checks that the overview counts as many objects as the list of the same name
// shows.
func TestOverviewCountsMatchLists(t *testing.T) {
	for _, name := range fixtures(t) {
		env := read(t, name)
		o := view.NewOverview(env)
		for resource, counted := range map[string]table.Cell{
			"databases": o.Databases, "collections": o.Collections, "partitions": o.Partitions, "aliases": o.Aliases,
			"indexes":  o.Indexes,
			"segments": o.Segments, "vchannels": o.VChannels, "pchannels": o.PChannels, "keys": o.Keys,
			"undecoded": o.Undecoded,
		} {
			r, err := view.Find(resource)
			if err != nil {
				t.Fatal(err)
			}
			g, err := view.Select(r.Table(env), view.Query{Omit: true})
			if err != nil {
				t.Fatal(err)
			}
			if int64(g.Len()) != counted.Int {
				t.Errorf("%s: the overview counts %d %s, the list has %d", name, counted.Int, resource, g.Len())
			}
		}
	}
}

package meta

import (
	"fmt"
	"testing"

	"kitescope/inspect/model"
)

func TestX(t *testing.T) {
	for _, n := range fixtures() {
		c := loadFixture(t, n, Want{Parts: model.PartAll})
		fmt.Println(n, c.Version.Text, c.Version.From, c.Version.Others, "keys", c.Keys, "tomb", c.Tombstones, "und", len(c.Undecoded), "coll", len(c.Collections), "part", len(c.Partitions), "idx", len(c.Indexes), "seg", len(c.Segments), "orph", len(c.Orphans), "vch", len(c.VChannels), "sess", len(c.Sessions), "grants", len(c.Grants), "load", len(c.LoadStates), "rep", len(c.Replicas))
		for _, x := range c.Version.Notes {
			fmt.Println("   note", x)
		}
		for _, u := range c.Undecoded {
			fmt.Println("   U", *u)
		}
		for _, u := range c.Orphans {
			fmt.Printf("   O %+v\n", *u)
		}
		fmt.Printf("   %+v\n", c.Totals())
	}
}

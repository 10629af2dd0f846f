package meta

import (
	"strconv"
	"strings"
	"testing"
	"unicode"

	"kitescope/inspect/model"
)

// TestCollectionOfKeys checks that the collection of a key is the number in it that is an id of the cluster's
// collections, as a component or in the name of a channel.
func TestCollectionOfKeys(t *testing.T) {
	for _, name := range fixtures() {
		c := loadFixture(t, name, Want{Parts: model.PartAll, Records: true})
		named := 0
		for i := range c.Keyspace.Len() {
			key := c.Keyspace.Info(i).Key
			var want model.CollectionID
			for number := range strings.FieldsFuncSeq(key, func(r rune) bool { return !unicode.IsDigit(r) }) {
				n, err := strconv.ParseInt(number, 10, 64)
				if err == nil && c.Collection(model.CollectionID(n)) != nil {
					want = model.CollectionID(n)
					break
				}
			}
			got := c.Keyspace.Collection(i)
			if c.Collection(got) == nil { // dropped, or none
				got = 0
			}
			if got != want {
				t.Errorf("%s: %s is of collection %d, want %d", name, key, got, want)
			}
			if want != 0 {
				named++
			}
		}
		if named < 20 {
			t.Errorf("%s: %d keys name a collection", name, named)
		}
	}
}

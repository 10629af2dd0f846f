package segment_test

import (
	"encoding/binary"
	"fmt"
	"testing"

	"kitescope/engine"
	"kitescope/engine/segment"
)

func query(values ...float32) []byte {
	b := make([]byte, 0, 4*len(values))
	for _, v := range values {
		b, _ = binary.Append(b, binary.LittleEndian, v)
	}
	return b
}

func keys(hits []segment.Hit) (list []string) {
	for _, h := range hits {
		list = append(list, fmt.Sprintf("%s@%g", h.Key(), h.Distance))
	}
	return list
}

func TestMilvus(t *testing.T) {
	old := segment.Options{Library: engine.Knowhere22}
	later := segment.Options{Library: engine.Knowhere23}
	newer, newest := later, later
	newer.Library, newest.Library = engine.Knowhere25, engine.Knowhere26
	for version, want := range map[[2]int]segment.Options{
		{2, 1}: old, {2, 2}: old, {2, 3}: old, {2, 4}: later, {2, 5}: newer, {2, 6}: newest, {3, 0}: newest,
	} {
		if got := segment.Milvus(version[0], version[1]); got != want {
			t.Errorf("%v: %+v, want %+v", version, got, want)
		}
	}
}

package meta

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"kitescope/inspect/meta/legacypb"
	"kitescope/inspect/meta/metatest"
	"kitescope/inspect/model"
	"kitescope/inspect/source"
)

// TestWoodpeckerHostile checks that records of any number and content are read and show no secret.
func TestWoodpeckerHostile(t *testing.T) {
	kvs := metatest.Cluster("2.6")
	add := func(m proto.Message, format string, values ...any) {
		value, err := proto.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		kvs = append(kvs, source.KV{Key: fmt.Appendf(nil, format, values...), Value: value, ModRevision: 1})
	}
	const many = 5_000
	extremes := []int64{math.MaxInt64, math.MaxInt64 - 1, math.MinInt64, -1}
	add(&legacypb.LogMeta{
		LogId: 7, TruncatedSegmentId: math.MaxInt64, TruncatedEntryId: math.MinInt64, CreationTimestamp: math.MaxUint64,
	}, "woodpecker/logs/a")
	for i := range int64(many) {
		add(&legacypb.SegmentMetadata{LastEntryId: math.MaxInt64, Size: math.MaxInt64, CompletionTime: math.MaxInt64},
			"woodpecker/logs/a/segments/%d", 2*i)
		add(&legacypb.SegmentCleanupStatus{
			State: legacypb.SegmentCleanupState_CLEANUP_FAILED, ErrorMessage: "dial http://u:sesame@h",
		}, "woodpecker/cleaning/7/%d", 2*i)
	}
	for _, n := range extremes {
		add(&legacypb.SegmentMetadata{LastEntryId: n, Size: n}, "woodpecker/logs/a/segments/%d", n)
		add(&legacypb.ReaderTempInfo{RecentReadSegmentId: n, RecentReadEntryId: n, OpenTimestamp: uint64(n)},
			"woodpecker/readers/7/r%d", n)
	}
	slices.SortFunc(kvs, func(a, b source.KV) int { return bytes.Compare(a.Key, b.Key) })
	c := loadMemory(t, newMemory(kvs), Want{Parts: model.PartAll})
	log := c.Woodpecker.Log("a")
	if log == nil || len(log.Segments) < many {
		t.Fatalf("%+v", log)
	}
	for i := range log.Segments {
		if x := &log.Segments[i]; strings.Contains(x.CleaningError, "sesame") ||
			x.CleaningFailed && x.CleaningError != "dial http://<redacted>@h" {
			t.Fatalf("%+v", x)
		}
	}
}

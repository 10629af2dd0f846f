package meta

import (
	"math"
	"time"

	"github.com/milvus-io/milvus-proto/go-api/v3/commonpb"

	"kitescope/inspect/model"
	"kitescope/internal/redact"
)

// unknownState replaces a number that does not fit into a model state. It is displayed as unknown.
const unknownState = math.MaxUint8

func segmentState(v int32) model.SegmentState {
	if v < 0 || v > unknownState {
		return unknownState
	}
	return model.SegmentState(v)
}

func segmentLevel(v int32) model.SegmentLevel {
	if v < 0 || v > unknownState {
		return unknownState
	}
	return model.SegmentLevel(v)
}

// indexState converts Milvus's state. Numbers that collide with the model's summary states become unknownState.
func indexState(v int32) model.IndexState {
	if v < 0 || v >= int32(model.IndexMissing) {
		return unknownState
	}
	return model.IndexState(v)
}

// wallTime decodes a number whose unit depends on the Milvus version: Unix seconds, milliseconds, microseconds or
// nanoseconds, or a TSO. The ranges do not overlap between 2015 and 2100 (TSO 0.37e18 to 1.08e18, nanoseconds from
// 1.42e18).
func wallTime(v uint64) time.Time {
	switch {
	case v == 0 || v == math.MaxUint64:
		return time.Time{}
	case v < 1e11:
		return time.Unix(int64(v), 0).UTC()
	case v < 1e14:
		return time.UnixMilli(int64(v)).UTC()
	case v < 1e17:
		return time.UnixMicro(int64(v)).UTC()
	case v < 1.2e18:
		return model.TSO(v).Time()
	case v > math.MaxInt64:
		return time.Time{}
	}
	return time.Unix(0, int64(v)).UTC()
}

// wallTSO is wallTime for a field that the model stores as a TSO.
func wallTSO(v uint64) model.TSO {
	if v >= 1e17 && v < 1.2e18 || v == math.MaxUint64 {
		return model.TSO(v)
	}
	t := wallTime(v)
	if t.IsZero() {
		return 0
	}
	return model.TSOFromTime(t)
}

// pairs converts key-value pairs and redacts secrets.
func pairs(list []*commonpb.KeyValuePair) []model.Pair {
	if len(list) == 0 {
		return nil
	}
	out := make([]model.Pair, 0, len(list))
	for _, p := range list {
		out = append(out, model.Pair{Key: p.GetKey(), Value: redact.Property(p.GetKey(), p.GetValue())})
	}
	return out
}

func pairValue(list []model.Pair, key string) string {
	for _, p := range list {
		if p.Key == key {
			return p.Value
		}
	}
	return ""
}

// ids converts int64 values to typed ids.
func ids[T ~int64](list []int64) []T {
	if len(list) == 0 {
		return nil
	}
	out := make([]T, len(list))
	for i, id := range list {
		out[i] = T(id)
	}
	return out
}

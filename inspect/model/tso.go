package model

import "time"

// TSO is Milvus's hybrid timestamp: milliseconds since the Unix epoch in the upper 46 bits, a logical counter
// in the lower 18 (pkg/util/tsoutil/tso.go).
type TSO uint64

const tsoLogicalBits = 18

// MaxTSO is the checkpoint that Milvus 2.6 writes for a dropped vchannel.
const MaxTSO = TSO(1<<64 - 1)

// Time returns the physical part, or the zero time for 0 and MaxTSO, which mean "none".
func (t TSO) Time() time.Time {
	if t == 0 || t == MaxTSO {
		return time.Time{}
	}
	return time.UnixMilli(int64(t >> tsoLogicalBits)).UTC()
}

// MillisTime converts milliseconds since 1970 to a time. It returns the zero time for 0 and less, which mean
// "never".
func MillisTime(n int64) time.Time {
	if n <= 0 {
		return time.Time{}
	}
	return time.UnixMilli(n).UTC()
}

// Logical returns the counter.
func (t TSO) Logical() int64 { return int64(t & (1<<tsoLogicalBits - 1)) }

// TSOFromTime returns the first TSO of the millisecond of t.
func TSOFromTime(t time.Time) TSO { return TSO(t.UnixMilli()) << tsoLogicalBits }

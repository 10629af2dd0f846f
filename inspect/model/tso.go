package model

import "time"

// TSO is Milvus's hybrid timestamp: milliseconds since the Unix epoch in the upper
// 46 bits, a logical counter in the lower 18 (pkg/util/tsoutil/tso.go).
type TSO uint64

const tsoLogicalBits = 18

// MaxTSO is what Milvus 2.6 writes as the checkpoint of a dropped vchannel.
const MaxTSO = TSO(1<<64 - 1)

// Time is the physical part; the zero time for 0 and MaxTSO, which mean "none".
func (t TSO) Time() time.Time {
	if t == 0 || t == MaxTSO {
		return time.Time{}
	}
	return time.UnixMilli(int64(t >> tsoLogicalBits)).UTC()
}

// MillisTime is the time of milliseconds since 1970; the zero time for 0 and less, which mean "never".
func MillisTime(n int64) time.Time {
	if n <= 0 {
		return time.Time{}
	}
	return time.UnixMilli(n).UTC()
}

// Logical is the counter part.
func (t TSO) Logical() int64 { return int64(t & (1<<tsoLogicalBits - 1)) }

// TSOFromTime is the first TSO of a millisecond.
func TSOFromTime(t time.Time) TSO { return TSO(t.UnixMilli()) << tsoLogicalBits }

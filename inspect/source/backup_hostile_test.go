// This file has no concurrency. The race detector would find nothing and take up to ten times as long.

//go:build !race

package source_test

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"runtime"
	"strings"
	"testing"

	"kitescope/inspect/source"
)

// TestHostileBackups checks short files that decompress to an unlimited number of records, and records with
// false lengths.
func TestHostileBackups(t *testing.T) {
	keys := []source.KV{
		{Key: []byte("by-dev/meta/session/id"), Value: []byte("1")}, {Key: []byte("by-dev/meta/x"), Value: []byte("2")},
	}
	good := backupV1(keys)
	headV2 := frame(nil, varintField(nil, 1, 2))
	part := func(kind uint64, extra string) []byte { return bytesField(varintField(nil, 1, kind), 3, []byte(extra)) }
	v2 := frame(headV2, part(1, `{"instance":"by-dev","metaPath":"meta","cnt":"1","rev":"9"}`))
	long := bytesField(bytesField(nil, 1, keys[1].Key), 2, make([]byte, 1<<20))
	longs := bytes.Repeat(frame(nil, long), 20)
	claims := func(n uint64) []byte {
		return append(binary.LittleEndian.AppendUint64(bytes.Clone(good), n), "rest"...)
	}
	zip := func(b []byte, times int) []byte {
		for range times {
			var out bytes.Buffer
			z := gzip.NewWriter(&out)
			if _, err := z.Write(b); err != nil || z.Close() != nil {
				t.Fatal(err)
			}
			b = out.Bytes()
		}
		return b
	}
	limits := source.Limits{Keys: 100_000, Bytes: 8 << 20}
	for name, c := range map[string]struct {
		content []byte
		want    string
		salvage bool // whether salvage reads the file
	}{
		"a record of 2^63":   {claims(1 << 63), "record 4 claims to have 9223372036854775808 bytes", true},
		"a record of 1 GB":   {claims(1 << 30), "record 4 claims to have 1073741824 bytes", true},
		"a record of 200 MB": {claims(5 << 20), "cut off after record 3: has 2 of 2 keys", true},
		"empty records": {
			zip(append(bytes.Clone(good), make([]byte, 8*1_000_000)...), 1),
			"more than 100000 keys, the limit of one reading", false,
		},
		"empty records, 3 times": {
			zip(append(bytes.Clone(good), make([]byte, 8*1_000_000)...), 3),
			"more than 100000 keys, the limit of one reading", false,
		},
		"4 times": {zip(good, 4), "packed with gzip more than 3 times", false},
		"long records": {
			zip(append(bytes.Clone(good), longs...), 2), "more than 8192 KiB, the limit of one reading", false,
		},
		"records of another part": {
			zip(append(frame(headV2, part(2, "")), longs...), 2), "more than 8192 KiB, the limit of one reading", false,
		},
		"parts without an end": {
			zip(append(bytes.Clone(headV2), bytes.Repeat(frame(frame(nil, part(2, "")), nil), 200_000)...), 2),
			"more than 100000 keys, the limit", false,
		},
		"fewer keys than in its header": {
			frame(frame(headV2, part(1, `{"instance":"by-dev","metaPath":"meta","cnt":"9223372036854775807"}`)), nil),
			"", true,
		},
		"keys below zero": {
			frame(frame(frame(headV2, part(1, `{"instance":"by-dev","metaPath":"meta","cnt":"-5","rev":"-7"}`)), long),
				nil),
			"", true,
		},
		"no number": {
			frame(frame(frame(headV2, part(1, `{"instance":"by-dev","metaPath":"meta","cnt":"1e400"}`)), long), nil),
			"", true,
		},
		"nested header": {
			append(headV2, frame(nil, part(1, strings.Repeat(`{"a":`, 700)))...), "the backup has no root", false,
		},
		"nested values": {
			append(headV2, frame(nil, part(1, strings.Repeat(`[`, 1<<20)))...), "the backup has no root", false,
		},
		"the same key twice": {
			frame(frame(frame(v2, bytesField(nil, 1, keys[0].Key)), bytesField(nil, 1, keys[0].Key)), nil), "", true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, salvage := range []bool{false, true} {
				path := store(t, "file", c.content)
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				err := scanError(t, path, source.Options{Limits: limits, Salvage: salvage})
				runtime.ReadMemStats(&after)
				wanted := c.want != "" && (!salvage || !c.salvage)
				if wanted != (err != nil) || wanted && !strings.Contains(err.Error(), c.want) {
					t.Errorf("salvage %t: %v, want %q", salvage, err, c.want)
				}
				if used := int64(after.TotalAlloc - before.TotalAlloc); used > 64<<20 {
					t.Errorf("salvage %t: %d MB for a file of %d bytes", salvage, used>>20, len(c.content))
				}
			}
		})
	}
}

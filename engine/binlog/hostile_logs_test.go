package binlog

import (
	"bytes"
	"encoding/binary"
	"math"
	"runtime"
	"strings"
	"testing"
	"time"

	"kitescope/engine/parquet"
)

// TestHostileEvents checks that lengths of events and of their contents are compared with the bytes present.
func TestHostileEvents(t *testing.T) {
	four := append(level(4), 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4, 0, 0, 0)
	good := pageOf(4, 4, len(four), parquet.PlainEncoding, four)
	descriptor := int(binary.LittleEndian.Uint32(good[4+9:]))
	extras := 4 + eventHeaderSize + fixedPartSize + postHeaderSize
	event := 4 + descriptor
	with := func(at int, v int32) []byte {
		b := bytes.Clone(good)
		binary.LittleEndian.PutUint32(b[at:], uint32(v))
		return b
	}
	said := func(extra string) []byte {
		var b bytes.Buffer
		b.Write(good[:extras])
		_ = binary.Write(&b, binary.LittleEndian, int32(len(extra)))
		b.WriteString(extra)
		out := b.Bytes()
		binary.LittleEndian.PutUint32(out[4+9:], uint32(len(out)-4))
		return append(out, good[event:]...)
	}
	empty := make([]byte, eventHeaderSize+dataPartSize)
	empty[8] = insertEvent
	binary.LittleEndian.PutUint32(empty[9:], uint32(len(empty)))
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"descriptor of -1":   {with(4+9, -1), "an event of -1 bytes"},
		"descriptor of 2^31": {with(4+9, math.MaxInt32), "an event of 2147483647 bytes where"},
		"descriptor of 17":   {with(4+9, 17), "expected a descriptor event of 81 bytes"},
		"event of -1":        {with(event+9, -1), "an event of -1 bytes"},
		"event of 0":         {with(event+9, 0), "an event of 0 bytes"},
		"event of 20":        {with(event+9, 20), "an event of 20 bytes is shorter than its fixed part"},
		"event of -2^31":     {with(event+9, math.MinInt32), "an event of -2147483648 bytes"},
		"event of 2^31":      {with(event+9, math.MaxInt32), "an event of 2147483647 bytes where"},
		"extras of -1":       {with(extras, -1), "-1 bytes of extras"},
		"extras of 2^31":     {with(extras, math.MaxInt32), "2147483647 bytes of extras where"},
		"extras nested":      {said(strings.Repeat(`{"a":`, 100_000)), "extras are not a JSON object"},
		"extras of lists":    {said(strings.Repeat(`[`, 500_000)), "extras are not a JSON object"},
		"extras as a list":   {said(`[1]`), "extras are not a JSON object"},
		"descriptor of 2 MB": {
			said(`{"a":"` + strings.Repeat("x", 2<<20) + `"}`), "expected a descriptor event of 81 bytes to 1 MiB",
		},
		"a parquet of 0":      {append(bytes.Clone(good[:event]), empty...), "offset"},
		"a million of events": {append(bytes.Clone(good[:event]), bytes.Repeat(empty, 1_000_000)...), "offset"},
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, column := ReadColumn(t.Context(), fileOf(c.data), "file")
			_, delta := ReadDelta(t.Context(), fileOf(c.data), "file")
			_, index := ReadIndex(t.Context(), files{"file/1/2/3/HNSW": c.data}, "file")
			runtime.ReadMemStats(&after)
			for reader, err := range map[string]error{"column": column, "delta": delta} {
				if err == nil || !strings.Contains(err.Error(), c.want) || len(err.Error()) > 1000 {
					t.Errorf("%s: %.1000v, want %q", reader, err, c.want)
				}
			}
			if index == nil {
				t.Error("it is an index")
			}
			if used := int64(after.TotalAlloc - before.TotalAlloc); used > 32<<20+int64(16*len(c.data)) {
				t.Errorf("%d MB for a file of %d bytes", used>>20, len(c.data))
			}
		})
	}
}

// TestDeltasOfOneText checks that the total text of all rows is bounded by the size of the file. A dictionary
// stores a text once, and a run of its index takes a few bytes.
func TestDeltasOfOneText(t *testing.T) {
	texts := []string{strings.Repeat(" ", 1<<20)}
	texts[0] = `{"pk":1,"ts":2` + texts[0] + "}"
	for len(texts) < 50_000 {
		texts = append(texts, texts[0])
	}
	file := &parquet.File{Size: 1000}
	start := time.Now()
	if err := checkTextSize("file", file, texts); err == nil ||
		!strings.Contains(err.Error(), "row 64 of 50000: more than 68132864 bytes of keys in a file of 1000") {
		t.Error(err)
	}
	if took := time.Since(start); took > 5*time.Second {
		t.Error(took)
	}
}

package log

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"strings"
	"testing"

	"kitescope/internal/hints"
)

// zipped is text that repeats a line, in gzip.
func zipped(t *testing.T, line string, lines int) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	for range lines {
		if _, err := io.WriteString(z, line); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestHeld: text of short lines shrinks to a hundredth and becomes ten times as much in memory; what is held is counted,
// and a log of which a little becomes very much is refused. Plain text of the same lines is not.
func TestHeld(t *testing.T) {
	const lines = 60_000
	for name, line := range map[string]string{
		"short lines": `{"vector":[1]}` + "\n",
		"long lists":  `{"vector":[` + strings.Repeat("1,", 511) + "1]}\n",
		"truth":       `{"vector":[1],"truth":[` + strings.Repeat("1,", 99) + "1]}\n",
		"filters":     `{"vector":[1],"filter":{"in":[` + strings.Repeat("1,", 99) + "1]}}\n",
	} {
		t.Run(name, func(t *testing.T) {
			read := func(text []byte, k kind) error {
				raw := &counted{r: bytes.NewReader(text), ctx: t.Context()}
				in, done, err := decompressed(raw, k)
				if err != nil {
					t.Fatal(err)
				}
				defer done()
				r := lineReader{extra: names{}, raw: raw, held: held{extra: 2 << 20}}
				defer r.vectors.release()
				return r.readLines(t.Context(), in)
			}
			err := read(zipped(t, line, lines), kindGzip)
			var hint *hints.Error
			if !errors.As(err, &hint) || !strings.Contains(err.Error(), "MiB: not a real log") {
				t.Errorf("%v", err)
			}
			if err := read([]byte(strings.Repeat(line, 20_000)), kindJSONL); err != nil {
				t.Errorf("plain: %v", err)
			}
		})
	}
}

// TestHeldByCapture: the same of access logs.
func TestHeldByCapture(t *testing.T) {
	c, err := newCapture(CaptureOptions{})
	if err != nil {
		t.Fatal(err)
	}
	c.held.extra = 1 << 20
	const line = "[2024/05/01 10:00:02.000 +00:00] [ACCESS] <root: tcp-1.2.3.4:5> Search [status: Successful] [code: 0] [sdk: Python-2.3.4] [msg: ] [traceID: 1] [timeCost: 1ms]\n"
	err = c.read(t.Context(), "x.gz", bytes.NewReader(zipped(t, line, 40_000)))
	if err == nil || !strings.Contains(err.Error(), "read x.gz: line ") || !strings.Contains(err.Error(), "not a real log") {
		t.Errorf("%v, %d requests", err, len(c.requests))
	}
}

package parquet

import (
	"strings"
	"testing"
)

// TestEndOfValues checks that padding after the last value is skipped, and that bytes that may be values are
// rejected.
func TestEndOfValues(t *testing.T) {
	const width = 8
	packed := func(groups, bytes int) []byte { return append([]byte{byte(groups<<1 | 1)}, make([]byte, bytes)...) }
	for name, test := range map[string]struct {
		b    []byte
		n    int
		want string
	}{
		"whole":               {packed(1, 8), 8, ""},
		"groups filled up":    {packed(4, 32), 3, ""},
		"a group cut off":     {packed(1, 3), 3, ""},
		"8 zero bytes":        {append(packed(1, 8), make([]byte, 8)...), 8, ""},
		"9 zero bytes":        {append(packed(1, 8), make([]byte, 9)...), 8, "9 bytes follow the last value"},
		"another run":         {append(packed(1, 8), packed(1, 8)...), 8, "9 bytes follow the last value"},
		"a byte":              {append(packed(1, 8), 1), 8, "1 bytes follow the last value"},
		"values missing":      {packed(1, 8), 9, "end with 1 missing"},
		"groups missing":      {packed(4, 8), 3, "4 groups of eight packed values in 8 bytes"},
		"groups of no bytes":  {packed(60, 0), 3, "60 groups of eight packed values in 0 bytes"},
		"a value too often":   {[]byte{9 << 1, 5}, 8, "a run of 9 values where 8 are left"},
		"zeros for one value": {append([]byte{7 << 1, 5}, make([]byte, 8)...), 8, "an empty run with 1 values missing"},
	} {
		err := eachValue(test.b, width, test.n, func(int, uint32) error { return nil })
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}
	for _, test := range []struct {
		b    []byte
		want bool
	}{
		{make([]byte, 16), true},
		{make([]byte, 24), true},
		{make([]byte, 15), false},
		{make([]byte, 32), false},
		{append(make([]byte, 16), 0, 0, 0, 0, 0, 0, 0, 1), false},
	} {
		c := &chunkReader{leaf: Leaf{Physical: Int64}}
		if v, err := c.decodeValues(PlainEncoding, test.b, 2); (err == nil) != test.want || test.want && len(v) != 16 {
			t.Errorf("2 values of 8 bytes in %d: %d bytes, %v", len(test.b), len(v), err)
		}
	}
}

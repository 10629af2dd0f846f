package render

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"kitescope/internal/encode"
	"kitescope/internal/table"
	"kitescope/internal/words"
)

func TestUnits(t *testing.T) {
	day := 24 * time.Hour
	for _, c := range []struct {
		kind table.Kind
		cell table.Cell
		want string
	}{
		{table.Bytes, table.Cell{Int: 0}, "0 B"},
		{table.Bytes, table.Cell{Int: 1023}, "1023 B"},
		{table.Bytes, table.Cell{Int: 1024}, "1.0 KiB"},
		{table.Bytes, table.Cell{Int: 1258291}, "1.2 MiB"},
		{table.Bytes, table.Cell{Int: 102400}, "100 KiB"},
		{table.Bytes, table.Cell{Int: 1023 << 10}, "1.0 MiB"},
		{table.Bytes, table.Cell{Int: math.MaxInt64}, "8.0 EiB"},
		{table.Bytes, table.Cell{Int: -2048}, "-2.0 KiB"},
		{table.Percent, table.Cell{Float: 100}, "100%"},
		{table.Percent, table.Cell{Float: 99.97}, "99.9%"},
		{table.Percent, table.Cell{Float: 0.04}, "<0.1%"},
		{table.Percent, table.Cell{Float: 0}, "0%"},
		{table.Percent, table.Cell{Float: 33.333}, "33.3%"},
		{table.Percent, table.Cell{Float: 6.1864}, "6.2%"},
		{table.Percent, table.Cell{Float: 100 * 0.29}, "29%"},
		{table.Percent, table.Cell{Float: 100 * 0.1 / 0.3 * 3}, "100%"},
		{table.Percent, table.Cell{Float: 214.36}, "214.4%"},
		{table.Duration, table.Cell{Int: 0}, "0s"},
		{table.Duration, table.Cell{Int: int64(450 * time.Millisecond)}, "450ms"},
		{table.Duration, table.Cell{Int: int64(192 * time.Second)}, "3m12s"},
		{table.Duration, table.Cell{Int: int64(2 * time.Hour)}, "2h"},
		{table.Duration, table.Cell{Int: int64(3*day + 4*time.Hour + time.Second)}, "3d4h"},
		{table.Duration, table.Cell{Int: int64(400*day + time.Hour)}, "400d"},
		{
			table.Time,
			table.Cell{Int: time.Date(2026, 11, 20, 9, 32, 5, 999e6, time.UTC).UnixNano()},
			"2026-11-20T09:32:05Z",
		},
		{table.Bool, table.Cell{Int: 1}, "yes"},
		{table.List, table.Cell{}, "-"},
		{table.Pairs, table.Cell{List: []string{"M", "16", "ef", "200"}}, "M=16,ef=200"},
		{table.Int, table.Cell{Absent: table.None}, "-"},
		{table.Int, table.Cell{Absent: table.Unknown}, "?"},
		{table.Int, table.Cell{Int: 127016}, "127016"},
	} {
		if got := Text(c.cell, c.kind); got != c.want {
			t.Errorf("%+v: %q, want %q", c.cell, got, c.want)
		}
	}
}

func TestAppendTime(t *testing.T) {
	for _, start := range []string{
		"1000-01-01", "1969-12-28", "1999-12-28", "2000-02-27", "2100-02-26", "2026-11-20", "2261-12-30",
	} {
		at, err := time.Parse(time.DateOnly, start)
		if err != nil {
			t.Fatal(err)
		}
		for range 6 {
			at = at.Add(23*time.Hour + 59*time.Minute + 7*time.Second + 120*time.Millisecond)
			if at.Year() < 1678 { // out of range of Unix nanoseconds
				continue
			}
			want := at.Format("2006-01-02T15:04:05.000Z07:00")
			if got := string(encode.AppendTime(nil, at.UnixNano())); got != want {
				t.Errorf("%s, want %s", got, want)
			}
		}
	}
}

func TestAppendSeconds(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0", time.Second: "1", 1500 * time.Millisecond: "1.5", 12345 * time.Millisecond: "12.345",
		-20 * time.Millisecond: "-0.02", 400 * time.Microsecond: "0",
	} {
		if got := string(encode.AppendSeconds(nil, int64(d))); got != want {
			t.Errorf("%s: %s, want %s", d, got, want)
		}
	}
}

func TestHarmless(t *testing.T) {
	for in, want := range map[string]string{
		"docs": "docs", "表 ü 🚀": "表 ü 🚀", "a\nb\tc": `a\nb\tc`, "\x1b[31m": `\x1b[31m`, "\x7f\x00": `\x7f\x00`,
		"\u009b1m":   `\u009b1m`,
		"\u202eevil": `\u202eevil`, "a\u200bb": `a\u200bb`, "\xff\xfe": `\xff\xfe`, "\ufeff": `\ufeff`, "�": "�",
		"a\u061cb": `a\u061cb`, "so\u00adft": `so\u00adft`, "❤\ufe0f": `❤\ufe0f`, "\ufff9a\ufffa": `\ufff9a\ufffa`,
		"\u3164": `\u3164`, "\u034f\u180e": `\u034f\u180e`,
		"a\U000e0041\U000e0100": `a\U000e0041\U000e0100`, "\u2028\u2029": `\u2028\u2029`,
		"\ufffe\uffff\ufdd0\U0001ffff": `\ufffe\uffff\ufdd0\U0001ffff`, "é e\u0301 ﬁ \u00a0 한": "é e\u0301 ﬁ \u00a0 한",
	} {
		if got := Harmless(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func FuzzHarmless(f *testing.F) {
	for _, s := range []string{"docs", "\x1b]0;x\x07", "\xff\xfe", "表\u202e", "a\nb"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, r := range Harmless(s) {
			if words.Hidden(r) {
				t.Errorf("%q still has %q", s, r)
			}
		}
		if q := string(words.AppendJSON(nil, s)); strings.ContainsAny(q, "\x1b\x00\n\x7f") {
			t.Errorf("%q is quoted as %q", s, q)
		}
	})
}

func TestThemes(t *testing.T) {
	themes := Themes()
	if len(themes) != 3 {
		t.Fatalf("%d themes", len(themes))
	}
	for i := range themes {
		for _, r := range []Role{RoleGood, RoleProgress, RoleWarn, RoleBad, RoleAdded, RoleRemoved, RoleChanged} {
			if themes[i].Style(r) == (Style{}) {
				t.Errorf("%s: role %d looks like plain text", themes[i].Name, r)
			}
			if Glyph(r, false) == "" || Glyph(r, true) == "" {
				t.Errorf("role %d is carried by colour alone", r)
			}
		}
	}
}

// TestCanHold checks that CanHold accepts the texts of random cells.
func TestCanHold(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	floats := []float64{0, -1, 0.00004, 99.99, 100, 1e21, 1e300, 5e-324, math.NaN(), math.Inf(1), math.Inf(-1)}
	for k := table.Text; k <= table.Bool; k++ {
		for range 2000 {
			c := table.Cell{
				Int: rng.Int64() >> rng.IntN(64), Float: floats[rng.IntN(len(floats))] * rng.Float64(), Text: "Flushed",
				Absent: table.Absence(rng.IntN(20)),
			}
			if rng.IntN(2) == 0 {
				c.Int = -c.Int
			}
			c.Absent = min(c.Absent, table.Unknown) * table.Absence(rng.IntN(2))
			if text := strings.ToLower(Text(c, k)); !CanHold(k, []byte(text)) {
				t.Fatalf("kind %d: %q is not thought possible", k, text)
			}
		}
	}
	if CanHold(table.Int, []byte("docs")) || CanHold(table.Bytes, []byte("growing")) ||
		!CanHold(table.State, []byte("growing")) {
		t.Error("everything is thought possible, or nothing")
	}
}

package enginecmd

import "testing"

func TestAvailableIn(t *testing.T) {
	for text, want := range map[string]int64{
		"MemTotal:       16000000 kB\nMemFree:  5 kB\nMemAvailable:   12000000 kB\n": 12_000_000 << 10,
		"MemTotal:       16000000 kB\n":                                              0, // kernels before 3.14
		"MemAvailable: 9223372036854775807 kB\n":                                     0,
		"MemAvailable: -1 kB":                                                        0,
		"MemAvailable: many kB":                                                      0,
		"":                                                                           0,
	} {
		if got := availableIn(text); got != want {
			t.Errorf("%q: expected %d, %d", text, got, want)
		}
	}
}

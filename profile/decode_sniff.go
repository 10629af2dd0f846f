package profile

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
	"unicode/utf8"

	"kitescope/internal/hints"
)

// recognize returns an error that names the format of a file that is not a pprof file, or nil if it does not
// recognize the format. head is the beginning of the file.
//
// The legacy formats are those in google/pprof profile/legacy_profile.go and legacy_java_profile.go, and those
// that Go's runtime/pprof writes with debug=1 and debug=2.
func recognize(head []byte) error {
	const (
		pull   = "pull it without debug=1 or debug=2 in the address: `kitescope profile pull` does"
		legacy = "write it in the current format: `go tool pprof -proto -symbolize=none FILE` converts it"
		debug  = pull + "; `go tool pprof -proto -symbolize=none FILE` converts the file"
	)
	text := bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf")), " \t\r\n")
	lower := strings.ToLower(string(text))
	first, _, _ := strings.Cut(lower, "\n")
	if strings.HasPrefix(first, "heap profile:") && strings.Contains(first, "] @ heap/") { // C++ has heap_v2 and others
		return hints.Errorf(debug, "this is a heap profile of Go as text (debug=1), the format before pprof")
	}
	for _, f := range []struct{ prefix, what, hint string }{
		{"goroutine profile: total", "the text of goroutines (debug=1), not a profile", debug},
		{"threadcreate profile: total", "the text of a thread profile (debug=1), not a profile", debug},
		{"heap profile:", "a heap profile as text, the format before pprof", legacy},
		{"heap_v2/", "a heap profile as text, the format before pprof", legacy},
		{"growthz profile:", "a heap profile as text, the format before pprof", legacy},
		{"fragmentationz profile:", "a heap profile as text, the format before pprof", legacy},
		{"--- contentionz", "a contention profile as text, the format before pprof", legacy},
		{"--- contention", "a block or mutex profile as text (debug=1), the format before pprof", debug},
		{"--- mutex", "a mutex profile as text (debug=1), the format before pprof", debug},
		{"--- block", "a block profile as text (debug=1), the format before pprof", debug},
		{"--- thread", "a list of threads as text, the format before pprof", legacy},
		{"--- heapz", "a Java heap profile as text, the format before pprof", legacy},
		{"--- cpu", "a CPU profile as text, the format before pprof", legacy},
		{"--- symbol", "a symbolized profile as text, the format before pprof", legacy},
		{"goroutine ", "a dump of goroutines (debug=2), not a profile", pull},
		{
			"go 1.", "an execution trace, not a profile",
			"open it with `go tool trace`; a CPU profile is at /debug/pprof/profile",
		},
		{"<!doctype", "a web page, not a profile", webHint},
		{"<html", "a web page, not a profile", webHint},
		{"<?xml", "XML, not a profile", webHint}, // from a server: files go through profile/read
		{
			"could not enable cpu profiling", "a server's response: another CPU profile was running",
			"pull it again when the other one has ended",
		},
		{
			"cpu profiling already in use", "a server's response: another CPU profile was running",
			"pull it again when the other one has ended",
		},
		{"404 page not found", "a server's response: no profile at that address", webHint},
		{"\x7felf", "a program, not a profile", "give the profile alone; symbols come from a folder of programs"},
		{"{", "JSON, not a pprof file", formatHint},
	} {
		if strings.HasPrefix(lower, f.prefix) {
			return hints.Errorf(f.hint, "this is %s", f.what)
		}
	}
	if isLegacyCPU(head) {
		return hints.Errorf(legacy, "this is a CPU profile in the binary format before pprof")
	}
	if isText(head) {
		return hints.Errorf(formatHint, "this is text that begins with %q, not a pprof file", firstWords(string(text)))
	}
	return nil
}

const webHint = "does the address serve a profile? it usually ends in /debug/pprof/profile or /debug/pprof/heap"

// isLegacyCPU reports whether head is the header of a binary CPU profile: five words of 32 or 64 bits, in
// either byte order. They are 0, 3, 0 (or 1: Java), the period, 0.
func isLegacyCPU(head []byte) bool {
	for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		for _, width := range []int{4, 8} {
			if len(head) < 5*width {
				continue
			}
			word := func(i int) uint64 {
				if width == 4 {
					return uint64(order.Uint32(head[i*4:]))
				}
				return order.Uint64(head[i*8:])
			}
			if word(0) == 0 && word(1) == 3 && word(2) <= 1 && word(3) > 0 && word(4) == 0 {
				return true
			}
		}
	}
	return false
}

// isText reports whether b is text rather than binary data.
func isText(b []byte) bool {
	for cut := 0; cut < utf8.UTFMax && len(b) > 0 && !utf8.Valid(b); cut++ { // a character cut at the end of the head
		b = b[:len(b)-1]
	}
	if len(b) < 4 || !utf8.Valid(b) {
		return false
	}
	return !slices.ContainsFunc(b, func(c byte) bool {
		return c < ' ' && c != '\n' && c != '\r' && c != '\t' || c == 0x7f
	})
}

// firstWords returns the first line of a text, shortened for display to at most 40 characters.
func firstWords(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	const most = 40
	if runes := []rune(s); len(runes) > most {
		return string(runes[:most]) + "..."
	}
	return s
}

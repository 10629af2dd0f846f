package read

import (
	"bytes"
	"errors"
	"regexp"

	"kitescope/internal/hints"
	"kitescope/profile"
)

type format uint8

const (
	formatPprof format = iota
	formatFolded
	formatPMP
	formatPerfScript
	formatPerfReport
	formatSpeedscope
	formatJFR
	formatJFRPrint
)

// foreignMagics lists files that are often mistaken for profiles, by their first bytes.
var foreignMagics = []struct{ magic, what, hint string }{
	{"PERFILE2", "it is perf's binary data", "convert it to text: perf script -i FILE > FILE.txt"},
	{"PERFFILE", "it is perf's binary data", "convert it to text: perf script -i FILE > FILE.txt"},
	{
		"2ELIFREP", "it is perf's binary data, of a machine with the other byte order",
		"convert it to text: perf script -i FILE > FILE.txt",
	},
	{"BZh", "it is compressed with bzip2", "unpack it first: bunzip2 FILE"},
	{magicXz, "it is compressed with xz", "unpack it first: xz -d FILE"},
	{magicGzip, "it is compressed twice", "unpack it first: gunzip FILE"},
	{magicZstd, "it is compressed twice", "unpack it first: zstd -d FILE"},
	{"PK\x03\x04", "it is a zip archive", "unpack it first: unzip FILE"},
	{"\xff\xfe", "it is text in UTF-16", utf16Hint},
	{"\xfe\xff", "it is text in UTF-16", utf16Hint},
}

const utf16Hint = "convert it to UTF-8: iconv -f UTF-16 -t UTF-8 FILE > FILE.txt (the > of PowerShell writes UTF-16)"

// foreignTexts lists texts of other programs, by lines that occur only in them. The collapse scripts are from
// github.com/brendangregg/FlameGraph and github.com/jonhoo/inferno.
var foreignTexts = []struct {
	pattern    func() *regexp.Regexp
	what, hint string
}{
	{
		profile.NewPattern(`^\s*(?:<\?xml[^>]*>\s*)?(?:<!--(?s:.*?)-->\s*)?(?:<!DOCTYPE svg[^>]*>\s*)?<svg`),
		"it is a picture", "give the profile that it was made from",
	},
	{
		profile.NewPattern(`<trace-query-result`),
		"it is the XML output of xctrace", collapse("inferno-collapse-xctrace"),
	},
	{profile.NewPattern(`^\s*<\?xml`), "it is XML, not a profile", readHint},
	{
		profile.NewPattern(`(?m)^\s*CPU\s+ID\s+FUNCTION:NAME|^ +\S+` + "`" + `\S.*$`),
		"it is output of DTrace", collapse("stackcollapse.pl"),
	},
	{profile.NewPattern(`(?m)^@\S*\[$`), "it is output of bpftrace", collapse("stackcollapse-bpftrace.pl")},
	{
		profile.NewPattern(`(?m)^@ \S+ \[\d+ samples\]`),
		"it is a call graph of pmcstat", collapse("stackcollapse-pmc.pl"),
	},
	{
		profile.NewPattern(`^\s*Analysis of sampling `),
		"it is a report of sample(1) of macOS", collapse("stackcollapse-sample.awk"),
	},
	{
		profile.NewPattern(`Time and Allocation Profiling Report`),
		"it is a GHC report", collapse("inferno-collapse-ghcprof"),
	},
	{profile.NewPattern(`(?m)^# callgrind format|^fn=\S`), "it is a callgrind file", scopeHint},
	{
		profile.NewPattern(
			`(?m)^Showing nodes accounting for |^PeriodType: \w+ \w+|^digraph "|\A(?:File|Build ID|Type): .*\n(?:.*\n)?.*Type: `,
		),
		"it is text that pprof printed", "give the profile that it was made from",
	},
}

func collapse(script string) string {
	return "convert it to folded stacks: " + script + " FILE > FILE.folded"
}

const (
	scopeHint = "open it in speedscope (https://www.speedscope.app) and export it from there"
	readHint  = "supported formats: pprof, folded stacks, pt-pmp, perf script, perf report, speedscope and JFR"
)

// pprofPrefixes lists the beginnings of texts that profile.Decode rejects with a more specific error: pprof formats
// that predate protocol buffers, text profiles of Go (runtime/pprof with debug=1 and 2), and responses of web
// servers.
var pprofPrefixes = []string{
	"goroutine profile:", "threadcreate profile:", "heap profile:", "heap_v2/", "growthz profile:",
	"fragmentationz profile:", "goroutine ", "---", "go 1.", "<!doctype", "<html", "could not enable cpu profiling",
	"cpu profiling already in use", "404 page not found",
}

// sniff detects the format from the first uncompressed bytes of a file.
func sniff(head []byte) (format, error) {
	for _, f := range foreignMagics {
		if hasMagic(head, f.magic) {
			return 0, hints.Errorf(f.hint, "%s", f.what)
		}
	}
	if hasMagic(head, "FLR\x00") {
		return formatJFR, nil
	}
	if hasControls(head) {
		return formatPprof, nil
	}
	head = bytes.TrimPrefix(head, []byte("\ufeff"))
	trimmed := bytes.TrimLeft(head, " \t\r\n")
	if len(trimmed) == 0 {
		return 0, errors.New("it has only white space")
	}
	for _, f := range foreignTexts {
		if f.pattern().Match(head) {
			return 0, hints.Errorf(f.hint, "%s", f.what)
		}
	}
	lower := bytes.ToLower(trimmed[:min(len(trimmed), 64)])
	for _, l := range pprofPrefixes {
		if hasMagic(lower, l) && bytes.IndexByte(firstLine(trimmed), ';') < 0 {
			return formatPprof, nil
		}
	}
	if trimmed[0] == '{' ||
		trimmed[0] == '[' && len(trimmed) > 1 && bytes.IndexByte([]byte(" \t\r\n{"), trimmed[1]) >= 0 {
		return sniffJSON(trimmed)
	}
	return sniffText(head)
}

// hasControls reports whether head has too many bytes that do not occur in text: any in the first 64 bytes, or
// more than 1 in 50 overall. A few are allowed because a command or a function in a text may have any name. A
// pprof file has such bytes throughout, because message sizes are among them.
func hasControls(head []byte) bool {
	const first, few = 64, 50
	n := 0
	for i, c := range head {
		if c >= ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\x1b' {
			continue
		}
		if n++; i < first {
			return true
		}
	}
	return n*few > len(head)
}

func firstLine(text []byte) []byte {
	line, _, _ := bytes.Cut(text, []byte("\n"))
	return bytes.TrimRight(line, "\r")
}

var (
	speedscopeKeys = profile.NewPattern(`"(?:https://www\.speedscope\.app/file-format-schema\.json|shared|profiles)"`)
	jfrKeys        = profile.NewPattern(`"recording"\s*:\s*\{\s*"events"`)
)

// scopeKinds lists JSON formats that speedscope can read, by keys that occur only in them.
var scopeKinds = []struct {
	keys func() *regexp.Regexp
	what string
}{
	{profile.NewPattern(`^\s*\{\s*"head"\s*:`), "it is a CPU or heap profile of Chrome or Node.js"},
	{profile.NewPattern(`"(?:traceEvents|cpuProfile|nodes|ph)"\s*:`), "Chrome and Node.js traces are not supported"},
	{profile.NewPattern(`"gc_samples"\s*:`), "it is a stackprof profile"},
	{profile.NewPattern(`"rts_arguments"\s*:`), "it is a GHC profile"},
	{profile.NewPattern(`"recording"\s*:\s*\{\s*"displayName"`), "it is a Safari recording"},
	{
		profile.NewPattern(
			`"(?:preprocessedProfileVersion|processType|GeckoMain|frameTable|isOffMainThread)"|"label"\s*:.*"markers"\s*:`,
		),
		"it is a Firefox profile",
	},
}

func sniffJSON(head []byte) (format, error) {
	switch {
	case jfrKeys().Match(head):
		return formatJFRPrint, nil
	case speedscopeKeys().Match(head):
		return formatSpeedscope, nil
	}
	for _, k := range scopeKinds {
		if k.keys().Match(head) {
			return 0, hints.Errorf(scopeHint, "%s", k.what)
		}
	}
	return 0, hints.Errorf("JSON of speedscope and of jfr print --json is supported", "its JSON format is unknown")
}

var (
	reportHeader = profile.NewPattern(`^# *(?:Overhead|Children)\b`)
	reportRow    = profile.NewPattern(`^ *\d{1,3}(?:[.,]\d+)? ?%`)
	scriptFrame  = profile.NewPattern(`^(?:\t *| {4,})[0-9a-f]+ \S`)
	scriptBare   = profile.NewPattern(`^\t *[0-9a-f]+ *$`)
	scriptHeader = profile.NewPattern(
		`^.*\S\s+-?\d+(?:/-?\d+)?\s+(?:\[\d+\]\s+)?(?:\d+[.,]\d{6,9}:\s.*|\d+\s+\S+:\s*)$`,
	)
)

// sniffText selects the text format that most lines match.
func sniffText(head []byte) (format, error) {
	if at := bytes.LastIndexByte(head, '\n'); at > 0 && len(head) >= sniffLen {
		head = head[:at] // the last line may be cut
	} else if at < 0 && len(head) >= sniffLen && bytes.IndexByte(head, ';') > 0 {
		return formatFolded, nil // a stack longer than head
	}
	var script, report, folded, pmp, bare, rest int // bare: lines of perf script, or of pt-pmp with a single frame
	for line := range bytes.Lines(head) {
		line = bytes.TrimRight(line, "\r\n")
		if len(line) == 0 {
			continue
		}
		counted, maybe := isPMP(line)
		if maybe && !counted {
			bare++
		}
		switch {
		case counted:
			pmp++
		case reportHeader().Match(line):
			return formatPerfReport, nil
		case line[0] == '#':
		case scriptFrame().Match(line), scriptBare().Match(line), scriptHeader().Match(line), pastedFrame().Match(line):
			script++
		case reportRow().Match(line):
			report++
		case isFolded(line):
			folded++
		default:
			rest++
		}
	}
	if pmp > 0 {
		pmp, script = pmp+bare, max(0, script-bare)
	}
	switch best := max(script, report, folded, pmp); {
	case best == 0:
		return 0, hints.Errorf(
			readHint,
			"unknown format (begins with %.60q)", firstLine(head))
	case pmp == best:
		return formatPMP, nil
	case script == best:
		return formatPerfScript, nil
	case report == best:
		return formatPerfReport, nil
	case rest > folded:
		return 0, hints.Errorf(
			"a folded stack is a line of frames between semicolons, a space and a count",
			"most lines are not folded stacks (begins with %.60q)", firstLine(head))
	}
	return formatFolded, nil
}

// isFolded reports whether a line ends with a space and a count.
func isFolded(line []byte) bool {
	_, _, ok := cutCount(line)
	return ok
}

package recorded

import (
	"bytes"
	"math"
	"strconv"
	"strings"
	"time"
)

// counters are the text of a process's /metrics whose counters and histograms run on, as they did on average between the start of the
// process and the recording; gauges, and what has no type, stay. A histogram gets whole observations, and its sum and its buckets
// in proportion to them: what one takes stays what it took.
type counters struct {
	text  []byte
	alive float64 // seconds from the start of the process to the recording
	parts []part
}

// part is a piece of the text, and the number behind it that runs on.
type part struct {
	text  []byte
	value float64
	// of is how many were observed of what the number is a part of; 0: it counts by itself.
	of    float64
	whole bool // it is of whole things
}

const (
	startName = "process_start_time_seconds"
	cpuName   = "process_cpu_seconds_total"
)

// readCounters finds what runs on in a text; nil if that is nothing, or if it is not known since when the process runs.
func readCounters(text []byte, recorded time.Time) *counters {
	c := &counters{text: text}
	kinds := map[string]string{}
	var observed []int // parts of the distribution that is being told: its number is told last
	from, at := 0, 0
	for line := range bytes.Lines(text) {
		begin := at
		at += len(line)
		line = bytes.TrimRight(line, "\r\n")
		if kind, is := bytes.CutPrefix(line, []byte("# TYPE ")); is {
			if name, kind, ok := strings.Cut(string(kind), " "); ok {
				kinds[name] = kind
			}
			continue
		}
		name, number, ok := sampleOf(line)
		value, err := strconv.ParseFloat(string(number), 64)
		if !ok || err != nil || math.IsNaN(value) || math.IsInf(value, 0) {
			continue
		}
		if name == startName {
			c.alive = float64(recorded.UnixMilli())/1000 - value
		}
		what := runs(name, kinds)
		if what == stays {
			continue
		}
		end := begin + len(line)
		c.parts = append(c.parts, part{text: text[from : end-len(number)], value: value, whole: value == math.Trunc(value) && name != cpuName})
		from = end
		switch what {
		case observation:
			observed = append(observed, len(c.parts)-1)
		case observations:
			for _, i := range append(observed, len(c.parts)-1) {
				c.parts[i].of = value
			}
			observed = observed[:0]
		default:
		}
	}
	if c.alive <= 0 || len(c.parts) == 0 {
		return nil
	}
	c.parts = append(c.parts, part{text: text[from:], value: math.NaN()})
	return c
}

// sampleOf cuts NAME{LABELS} VALUE.
func sampleOf(line []byte) (name string, number []byte, ok bool) {
	space := bytes.LastIndexByte(line, ' ')
	if space <= 0 || line[0] == '#' {
		return "", nil, false
	}
	end := bytes.IndexAny(line, "{ ")
	return string(line[:end]), line[space+1:], true
}

// running is how a number runs on.
type running uint8

const (
	stays        running = iota
	counts               // by itself
	observation          // with the observations that it is of: a bucket, a sum
	observations         // the number of these
)

func runs(name string, kinds map[string]string) running {
	if name == cpuName || kinds[name] == "counter" {
		return counts
	}
	for _, suffix := range []string{"_bucket", "_sum", "_count"} {
		of, is := strings.CutSuffix(name, suffix)
		if kind := kinds[of]; !is || kind != "histogram" && kind != "summary" {
			continue
		}
		if suffix == "_count" {
			return observations
		}
		return observation
	}
	return stays
}

// after is the text as it is once the process has run for so much longer.
func (c *counters) after(ran time.Duration) []byte {
	if ran <= 0 {
		return c.text
	}
	more := 1 + ran.Seconds()/c.alive
	var b []byte
	for i := range c.parts {
		p := &c.parts[i]
		if b = append(b, p.text...); math.IsNaN(p.value) {
			break
		}
		value := p.value * more
		if p.of > 0 {
			value = p.value * math.Floor(p.of*more) / p.of
		}
		if p.whole {
			value = math.Floor(value)
		}
		b = strconv.AppendFloat(b, value, 'g', -1, 64)
	}
	return b
}

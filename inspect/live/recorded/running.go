package recorded

import (
	"bytes"
	"math"
	"strconv"
	"strings"
	"time"
)

// counters is the text of a process's /metrics whose counters and histograms increase at their average rate
// between the start of the process and the recording. Gauges and untyped series stay constant. A histogram gets
// whole observations; its sum and its buckets increase in proportion, so that the mean stays the same.
type counters struct {
	text   []byte
	uptime float64 // seconds from the start of the process to the recording
	parts  []part
}

// part is a piece of the text, followed by a number that increases.
type part struct {
	text  []byte
	value float64
	// histogramCount is the count of the histogram that the number belongs to; 0 means that it increases by itself.
	histogramCount float64
	whole          bool // it is a whole number
}

const (
	startName = "process_start_time_seconds"
	cpuName   = "process_cpu_seconds_total"
)

// readCounters finds the increasing numbers in a text. It returns nil if there are none or the start time of
// the process is unknown.
func readCounters(text []byte, recorded time.Time) *counters {
	c := &counters{text: text}
	kinds := map[string]string{}
	var observed []int // parts of the current distribution, whose count comes last
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
			c.uptime = float64(recorded.UnixMilli())/1000 - value
		}
		what := growthOf(name, kinds)
		if what == constant {
			continue
		}
		end := begin + len(line)
		c.parts = append(c.parts, part{
			text: text[from : end-len(number)], value: value, whole: value == math.Trunc(value) && name != cpuName,
		})
		from = end
		switch what {
		case observation:
			observed = append(observed, len(c.parts)-1)
		case observations:
			for _, i := range append(observed, len(c.parts)-1) {
				c.parts[i].histogramCount = value
			}
			observed = observed[:0]
		default:
		}
	}
	if c.uptime <= 0 || len(c.parts) == 0 {
		return nil
	}
	c.parts = append(c.parts, part{text: text[from:], value: math.NaN()})
	return c
}

// sampleOf splits NAME{LABELS} VALUE.
func sampleOf(line []byte) (name string, number []byte, ok bool) {
	space := bytes.LastIndexByte(line, ' ')
	if space <= 0 || line[0] == '#' {
		return "", nil, false
	}
	end := bytes.IndexAny(line, "{ ")
	return string(line[:end]), line[space+1:], true
}

// growth is how a number increases.
type growth uint8

const (
	constant     growth = iota
	counter             // by itself
	observation         // in proportion to the observations: a bucket or a sum
	observations        // the number of observations
)

func growthOf(name string, kinds map[string]string) growth {
	if name == cpuName || kinds[name] == "counter" {
		return counter
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
	return constant
}

// textAfter returns the text after the process has run for another duration of ran.
func (c *counters) textAfter(ran time.Duration) []byte {
	if ran <= 0 {
		return c.text
	}
	more := 1 + ran.Seconds()/c.uptime
	var b []byte
	for i := range c.parts {
		p := &c.parts[i]
		if b = append(b, p.text...); math.IsNaN(p.value) {
			break
		}
		value := p.value * more
		if p.histogramCount > 0 {
			value = p.value * math.Floor(p.histogramCount*more) / p.histogramCount
		}
		if p.whole {
			value = math.Floor(value)
		}
		b = strconv.AppendFloat(b, value, 'g', -1, 64)
	}
	return b
}

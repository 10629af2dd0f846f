package trial

import (
	"os"
	"strconv"
	"strings"
	"time"
)

// peak watches how much memory a program and its children had resident at most, in any one process. The kernel's own
// answer, which comes with the end of a process, is never less than what the process that started it had (man 2
// getrusage; kernel/exit.c: setmax_mm_hiwater_rss), so that of small programs it would tell our size.
//
// What a process gains within the last moments of its life is not seen, and of a short life that may be all.
type peak struct {
	stop, done chan struct{}
	bytes      int64 // once done is closed; -1 if nothing was seen
	looks      int
}

// peakInterval is the time between two looks. One costs some ten microseconds. After fewer than leastLooks nothing is known.
const (
	peakInterval = 50 * time.Millisecond
	leastLooks   = 10
)

func watchPeak(pid int) *peak {
	p := &peak{stop: make(chan struct{}), done: make(chan struct{}), bytes: -1}
	go func() {
		defer close(p.done)
		tick := time.NewTicker(peakInterval)
		defer tick.Stop()
		for {
			p.look(pid, 0)
			p.looks++
			select {
			case <-p.stop:
				return
			case <-tick.C:
			}
		}
	}()
	return p
}

// end is the most that was seen, -1 if that is unknown.
func (p *peak) end() int64 {
	close(p.stop)
	<-p.done
	if p.looks < leastLooks {
		return -1
	}
	return p.bytes
}

// deepest bounds how far children of children are followed.
const deepest = 8

func (p *peak) look(pid, depth int) {
	dir := "/proc/" + strconv.Itoa(pid)
	text, err := os.ReadFile(dir + "/status")
	if err != nil {
		return // it has ended
	}
	p.bytes = max(p.bytes, highWater(string(text)))
	if depth == deepest {
		return
	}
	children, err := os.ReadFile(dir + "/task/" + strconv.Itoa(pid) + "/children") // man 5 proc
	if err != nil {
		return
	}
	for word := range strings.FieldsSeq(string(children)) {
		if child, err := strconv.Atoi(word); err == nil {
			p.look(child, depth+1)
		}
	}
}

// highWater is VmHWM of a status file (man 5 proc), in bytes; -1 if it is not there, as of a process that has ended.
func highWater(status string) int64 {
	_, rest, ok := strings.Cut(status, "\nVmHWM:")
	if !ok {
		return -1
	}
	line, _, _ := strings.Cut(rest, "\n")
	kib, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(line), " kB"), 10, 64)
	if err != nil {
		return -1
	}
	return kib << 10
}

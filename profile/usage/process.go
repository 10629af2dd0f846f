package usage

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Process is a process of this machine, read from Linux's /proc, optionally with all its descendants.
//
// If threads and children end between two readings, their usage since the first reading is lost, except the CPU
// of children that their parent waits for. So values are a little low if many are started and ended. They are
// too high only if a descendant other than a child ends during a reading: its CPU may then count for itself and
// for its parent.
type Process struct {
	PID int
	// Tree includes all descendants, even if they lose their parent during the watch.
	Tree bool

	root    string // "/proc"
	now     func() time.Time
	command string
	members map[int]uint64 // start times of processes by PID
	threads map[threadID]switches
	counted switches // of all threads so far
	ticks   uint64   // the last sum of CPU, and the CPU missing from it
	lost    uint64
}

// clockTicks is the number of ticks in a second of CPU time: Linux's USER_HZ, the same on amd64 and arm64.
const clockTicks = 100

type threadID struct{ pid, tid int }

// switches holds counts of context switches.
type switches struct{ voluntary, involuntary uint64 }

// OpenProcess opens a process by its PID.
func OpenProcess(pid int, tree bool, now func() time.Time) (*Process, error) {
	if runtime.GOOS != "linux" {
		return nil, fmt.Errorf("read process %d: needs Linux (/proc), this is %s", pid, runtime.GOOS)
	}
	return openProcess("/proc", pid, tree, now)
}

func openProcess(root string, pid int, tree bool, now func() time.Time) (*Process, error) {
	p := &Process{
		PID: pid, Tree: tree, root: root, now: now, members: map[int]uint64{}, threads: map[threadID]switches{},
	}
	if p.now == nil {
		p.now = time.Now
	}
	s, err := p.stat(pid)
	if isGone(err) {
		return nil, fmt.Errorf("no process %d", pid)
	}
	if err != nil {
		return nil, fmt.Errorf("read process %d: %w", pid, err)
	}
	p.members[pid], p.command = s.began, s.command
	return p, nil
}

// Name implements Target.
func (p *Process) Name() string { return "pid " + strconv.Itoa(p.PID) + " (" + p.command + ")" }

// Read implements Target.
func (p *Process) Read(ctx context.Context) (Reading, error) {
	stats, err := p.readStats()
	if err != nil {
		return Reading{}, err
	}
	if p.Tree && p.sum(stats) < p.ticks { // a child ended meanwhile, and its CPU has moved to its parent
		if stats, err = p.readStats(); err != nil {
			return Reading{}, err
		}
	}
	r := Reading{At: p.now(), Values: Unknown()}
	ticks := p.sum(stats)
	if ticks < p.ticks {
		p.lost += p.ticks - ticks
	}
	p.ticks = ticks
	r.Values[CPU] = float64(ticks+p.lost) / clockTicks
	var resident uint64
	seen := make(map[threadID]switches, len(p.threads))
	complete := true
	for _, s := range stats {
		if err := ctx.Err(); err != nil {
			return Reading{}, fmt.Errorf("read process %d: %w", p.PID, err)
		}
		resident += p.resident(s.pid)
		complete = p.countSwitches(s.pid, seen) && complete
	}
	p.threads = seen
	r.Values[RSS] = float64(resident)
	if complete {
		r.Values[Voluntary], r.Values[Involuntary] = float64(p.counted.voluntary), float64(p.counted.involuntary)
	}
	return r, nil
}

// sum returns the CPU of processes in ticks. In a tree it includes children that their parents have waited for.
func (p *Process) sum(stats []stat) uint64 {
	var ticks uint64
	for _, s := range stats {
		ticks += s.ticks
		if p.Tree {
			ticks += s.reapedTicks
		}
	}
	return ticks
}

// readStats reads the processes to count. It reads the root before its children, so that the CPU of a child that
// ends meanwhile is not counted for both.
func (p *Process) readStats() ([]stat, error) {
	self, err := p.stat(p.PID)
	switch {
	case isGone(err):
		return nil, &EndedError{"ended"}
	case err != nil:
		return nil, fmt.Errorf("read process %d: %w", p.PID, err)
	case self.began != p.members[p.PID]:
		return nil, &EndedError{"ended; another process has its PID now"}
	case self.state == 'Z' || self.state == 'X':
		return nil, &EndedError{"ended"}
	}
	p.command = self.command
	if !p.Tree {
		return []stat{self}, nil
	}
	return p.descendants(self)
}

func (p *Process) descendants(self stat) ([]stat, error) {
	entries, err := os.ReadDir(p.root)
	if err != nil {
		return nil, fmt.Errorf("read the list of processes: %w", err)
	}
	children := map[int][]stat{}
	var known []stat
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == p.PID {
			continue
		}
		s, err := p.stat(pid)
		if err != nil {
			continue
		}
		children[s.parent] = append(children[s.parent], s)
		if p.members[pid] == s.began {
			known = append(known, s)
		}
	}
	list, members := []stat{self}, map[int]uint64{p.PID: self.began}
	add := func(s stat) {
		if _, has := members[s.pid]; !has {
			list, members[s.pid] = append(list, s), s.began
		}
	}
	for i := 0; i < len(list); i++ { //nolint:intrange // the list grows
		for _, s := range children[list[i].pid] {
			add(s)
		}
		if i == len(list)-1 { // processes adopted by init, and their children
			for _, s := range known {
				add(s)
			}
		}
	}
	p.members = members
	return list, nil
}

// stat holds fields of /proc/PID/stat (man 5 proc_pid_stat).
type stat struct {
	pid, parent        int
	command            string
	state              byte
	ticks, reapedTicks uint64 // ticks of CPU
	began              uint64 // ticks since boot
}

func (p *Process) path(parts ...string) string {
	return filepath.Join(append([]string{p.root}, parts...)...)
}

func (p *Process) stat(pid int) (stat, error) {
	text, err := os.ReadFile(p.path(strconv.Itoa(pid), "stat"))
	if err != nil {
		return stat{}, err
	}
	return parseStat(pid, string(text))
}

var errStat = errors.New("its /proc stat is malformed")

// parseStat parses a line whose second field, in parentheses, may contain any characters.
func parseStat(pid int, text string) (stat, error) {
	open, shut := strings.IndexByte(text, '('), strings.LastIndexByte(text, ')')
	if open < 0 || shut < open {
		return stat{}, errStat
	}
	s := stat{pid: pid, command: text[open+1 : shut]}
	fields := strings.Fields(text[shut+1:]) // from the third on
	const first = 3
	if len(fields) <= 22-first {
		return stat{}, errStat
	}
	s.state = fields[0][0]
	numbers := map[int]uint64{}
	for _, at := range []int{4, 14, 15, 16, 17, 22} {
		n, err := strconv.ParseInt(fields[at-first], 10, 64)
		if err != nil || n < 0 {
			return stat{}, errStat
		}
		numbers[at] = uint64(n)
	}
	s.parent = int(numbers[4])
	s.ticks, s.reapedTicks = numbers[14]+numbers[15], numbers[16]+numbers[17]
	s.began = numbers[22]
	return s, nil
}

// resident returns VmRSS in bytes (man 5 proc_pid_status). In a tree, shared memory counts for each process.
func (p *Process) resident(pid int) uint64 {
	text, err := os.ReadFile(p.path(strconv.Itoa(pid), "status"))
	if err != nil {
		return 0 // it has ended
	}
	kib, _ := statusNumber(string(text), "VmRSS:")
	return kib << 10
}

// countSwitches adds the context switches of all threads of a process since the last reading to p.counted. It
// reports whether they could be read.
func (p *Process) countSwitches(pid int, seen map[threadID]switches) bool {
	dir := p.path(strconv.Itoa(pid), "task")
	entries, err := os.ReadDir(dir)
	if err != nil {
		return isGone(err)
	}
	for _, e := range entries {
		tid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name(), "status"))
		if err != nil {
			if isGone(err) {
				continue
			}
			return false
		}
		voluntary, has := statusNumber(string(text), "voluntary_ctxt_switches:")
		involuntary, both := statusNumber(string(text), "nonvoluntary_ctxt_switches:")
		if !has || !both {
			return false
		}
		id, now := threadID{pid, tid}, switches{voluntary, involuntary}
		before := p.threads[id]
		if now.voluntary < before.voluntary || now.involuntary < before.involuntary {
			before = switches{} // another thread with the same number
		}
		p.counted.voluntary += now.voluntary - before.voluntary
		p.counted.involuntary += now.involuntary - before.involuntary
		seen[id] = now
	}
	return true
}

// statusNumber returns the number in the line of a status file that starts with key.
func statusNumber(text, key string) (n uint64, ok bool) {
	for line := range strings.Lines(text) {
		if rest, has := strings.CutPrefix(line, key); has {
			fields := strings.Fields(rest)
			if len(fields) == 0 {
				return 0, false
			}
			n, err := strconv.ParseUint(fields[0], 10, 54)
			return n, err == nil
		}
	}
	return 0, false
}

// isGone reports whether err means that a process or a thread has ended.
func isGone(err error) bool {
	return errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ESRCH)
}

package usage

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// machine is a /proc folder written by a test.
type machine struct {
	*testing.T
	root string
}

func newMachine(t *testing.T) *machine {
	t.Helper()
	return &machine{t, t.TempDir()}
}

func (m *machine) write(text string, path ...string) {
	m.Helper()
	name := filepath.Join(append([]string{m.root}, path...)...)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		m.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		m.Fatal(err)
	}
}

// fakeProcess is the /proc content of a process, with a thread for each pair of counts.
type fakeProcess struct {
	pid, parent int
	name        string
	state       string
	ticks       [4]int // utime, stime, cutime, cstime
	began       int
	kib         int
	threads     [][2]int
}

func (m *machine) run(p fakeProcess) {
	m.Helper()
	if p.state == "" {
		p.state = "S"
	}
	dir := strconv.Itoa(p.pid)
	m.write(fmt.Sprintf("%d (%s) %s %d 1 1 0 -1 4194560 1 2 3 4 %d %d %d %d 20 0 %d 0 %d 1000 250 "+
		"18446744073709551615 0\n",
		p.pid, p.name, p.state, p.parent, p.ticks[0], p.ticks[1], p.ticks[2], p.ticks[3], max(1, len(p.threads)),
		p.began), dir, "stat")
	m.write(fmt.Sprintf("Name:\t%s\nVmRSS:\t    %d kB\nThreads:\t%d\n", p.name, p.kib, len(p.threads)), dir, "status")
	if err := os.RemoveAll(filepath.Join(m.root, dir, "task")); err != nil {
		m.Fatal(err)
	}
	m.write("", dir, "task", "x") // a name that is not a thread
	for i, x := range p.threads {
		m.write(fmt.Sprintf("Name:\tx\nvoluntary_ctxt_switches:\t%d\nnonvoluntary_ctxt_switches:\t%d\n", x[0], x[1]),
			dir, "task", strconv.Itoa(p.pid+i), "status")
	}
}

func (m *machine) end(pid int) {
	m.Helper()
	if err := os.RemoveAll(filepath.Join(m.root, strconv.Itoa(pid))); err != nil {
		m.Fatal(err)
	}
}

func (m *machine) open(pid int, tree bool) *Process {
	m.Helper()
	p, err := openProcess(m.root, pid, tree, nil)
	if err != nil {
		m.Fatal(err)
	}
	return p
}

func (m *machine) read(p *Process) Values {
	m.Helper()
	r, err := p.Read(m.Context())
	if err != nil {
		m.Fatal(err)
	}
	return r.Values
}

func TestProcess(t *testing.T) {
	m := newMachine(t)
	odd := fakeProcess{
		pid: 7, name: "a) R 1 (b c", ticks: [4]int{150, 50, 900, 900}, began: 5, kib: 2048,
		threads: [][2]int{{10, 1}, {20, 2}},
	}
	m.run(odd)
	p := m.open(7, false)
	if p.Name() != "pid 7 (a) R 1 (b c)" {
		t.Errorf("its name: %s", p.Name())
	}
	v := m.read(p)
	almostEqual(t, "CPU without that of children", v[CPU], 2)
	almostEqual(t, "memory", v[RSS], 2<<20)
	almostEqual(t, "switches", v[Voluntary], 30)
	almostEqual(t, "involuntary ones", v[Involuntary], 3)

	odd.threads = [][2]int{{15, 1}} // a thread ended, and its switches still count
	m.run(odd)
	almostEqual(t, "switches after a thread's end", m.read(p)[Voluntary], 35)
	odd.threads = [][2]int{{15, 1}, {4, 0}} // a new thread with the number of the first
	m.run(odd)
	almostEqual(t, "switches of a new thread", m.read(p)[Voluntary], 39)
}

func TestProcessEnds(t *testing.T) {
	for name, end := range map[string]func(*machine){
		"gone":    func(m *machine) { m.end(7) },
		"zombie":  func(m *machine) { m.run(fakeProcess{pid: 7, name: "x", began: 5, state: "Z"}) },
		"another": func(m *machine) { m.run(fakeProcess{pid: 7, name: "y", began: 6}) },
	} {
		m := newMachine(t)
		m.run(fakeProcess{pid: 7, name: "x", began: 5})
		p := m.open(7, false)
		end(m)
		_, err := p.Read(t.Context())
		if ended := (*EndedError)(nil); !errors.As(err, &ended) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := openProcess(newMachine(t).root, 7, false, nil); err == nil || err.Error() != "no process 7" {
		t.Errorf("a process that never was: %v", err)
	}
}

// TestTree follows children, grandchildren, processes adopted by init, and CPU that moves from children to parents.
func TestTree(t *testing.T) {
	m := newMachine(t)
	m.run(fakeProcess{pid: 7, name: "sh", ticks: [4]int{100, 0, 0, 0}, began: 5, kib: 1, threads: [][2]int{{1, 0}}})
	m.run(fakeProcess{
		pid: 8, parent: 7, name: "make", ticks: [4]int{200, 0, 0, 0}, began: 6, kib: 2, threads: [][2]int{{10, 0}},
	})
	m.run(fakeProcess{
		pid: 9, parent: 8, name: "cc", ticks: [4]int{300, 0, 0, 0}, began: 7, kib: 4, threads: [][2]int{{100, 0}},
	})
	m.run(fakeProcess{pid: 3, parent: 1, name: "other", ticks: [4]int{5000, 0, 0, 0}, began: 1, kib: 99})
	p := m.open(7, true)
	v := m.read(p)
	almostEqual(t, "CPU", v[CPU], 6)
	almostEqual(t, "memory", v[RSS], 7<<10)
	almostEqual(t, "switches", v[Voluntary], 111)

	m.end(9) // its parent waited for it
	m.run(fakeProcess{
		pid: 8, parent: 7, name: "make", ticks: [4]int{200, 0, 310, 0}, began: 6, kib: 2, threads: [][2]int{{12, 0}},
	})
	v = m.read(p)
	almostEqual(t, "CPU of one that was waited for", v[CPU], 6.1)
	almostEqual(t, "switches of it", v[Voluntary], 113)

	m.run(fakeProcess{
		pid: 8, parent: 1, name: "make", ticks: [4]int{250, 0, 310, 0}, began: 6, kib: 2, threads: [][2]int{{12, 0}},
	})
	m.run(fakeProcess{pid: 11, parent: 8, name: "ld", ticks: [4]int{40, 0, 0, 0}, began: 9, kib: 8})
	v = m.read(p)
	almostEqual(t, "CPU of one that init adopted", v[CPU], 7)
	almostEqual(t, "memory of them", v[RSS], 11<<10)

	m.end(8) // the shell has not waited for it
	m.end(11)
	v = m.read(p)
	almostEqual(t, "CPU that is lost to the kernel", v[CPU], 7)
	m.run(fakeProcess{pid: 7, name: "sh", ticks: [4]int{150, 0, 0, 0}, began: 5, kib: 1, threads: [][2]int{{1, 0}}})
	almostEqual(t, "CPU after that", m.read(p)[CPU], 7.5)
}

func TestBrokenStat(t *testing.T) {
	for _, text := range []string{
		"", "7", "7 (x", "7 (x)", "7 (x) S 1 1", "7 )x( S", "7 (x) S a 1 1 0 -1 4194560 1 2 3 4 1 1 1 1 20 0 1 0 5 1",
		"7 (x) S 1 1 1 0 -1 4194560 1 2 3 4 -1 1 1 1 20 0 1 0 5 1",
	} {
		if s, err := parseStat(7, text); err == nil {
			t.Errorf("%q is taken for %+v", text, s)
		}
	}
}

func FuzzParseStat(f *testing.F) {
	f.Add("7 (a) R 1 (b c) S 1 1 1 0 -1 4194560 1 2 3 4 1 1 1 1 20 0 1 0 5 1")
	f.Add("7 () S" + strings.Repeat(" 18446744073709551615", 30))
	f.Fuzz(func(t *testing.T, text string) {
		if s, err := parseStat(7, text); err == nil && !strings.Contains(text, s.command) {
			t.Errorf("%+v", s)
		}
		if _, ok := statusNumber(text, "VmRSS:"); ok && !strings.Contains(text, "VmRSS:") {
			t.Error("a number from nowhere")
		}
	})
}

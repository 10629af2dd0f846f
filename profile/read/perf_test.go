package read

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kitescope/profile"
)

func TestPerfHeader(t *testing.T) {
	type header struct {
		comm, thread string
		time         int64
		period       int64
		event, rest  string
	}
	for line, want := range map[string]header{
		"sh 23825 23380.041165:     250000 cpu-clock: ": {
			"sh", "23825", 23380041165000, 250000, "cpu-clock", "",
		},
		"sh 23825/23826 [001] 23380.041165:     250000 cycles:u: ": {
			"sh", "23825/23826", 23380041165000, 250000, "cycles:u", "",
		},
		"V8 WorkerThread 24636/25607 [000] 94564.109216: 100 cycles:": {
			"V8 WorkerThread", "24636/25607", 94564109216000, 100, "cycles", "",
		},
		"java 25607 4794564.109216123: 1 cycles:": {
			"java", "25607", 4794564109216123, 1, "cycles", "",
		},
		"java 25607 4794564.109216: cycles:": {
			"java", "25607", 4794564109216000, 0, "cycles", "",
		},
		"a 1 b 12 3.000000: 4 cycles:": {
			"a 1 b", "12", 3000000000, 4, "cycles", "",
		},
		"odd 1.000000: name 12 3.000000: 4 cycles:": {
			"odd 1.000000: name", "12", 3000000000, 4, "cycles", "",
		},
		":-1    -1 23380.041165: 1 cycles:": {
			":-1", "-1", 23380041165000, 1, "cycles", "",
		},
		"swapper     0 [003] U 23380.041165: 1 cycles:": {
			"swapper", "0", 23380041165000, 1, "cycles", "",
		},
		"sh 12 23380,041165: 250.000 cycles:": {
			"sh", "12", 23380041165000, 250000, "cycles", "",
		},
		"sh 12 23380.041165: 1\u202f250\u202f000 cycles:": {
			"sh", "12", 23380041165000, 1250000, "cycles", "",
		},
		"sh 12 23380.041165: 1'250'000 cycles:": {
			"sh", "12", 23380041165000, 1250000, "cycles", "",
		},
		"sh 12 23380.041165: 7 raw 0x1a8: ": {
			"sh", "12", 23380041165000, 7, "raw 0x1a8", "",
		},
		"sh 12 23380.041165: 7 cpu_core/cycles/P: ": {
			"sh", "12", 23380041165000, 7, "cpu_core/cycles/P", "",
		},
		"sh 12 [000] 23380.041165: sched:sched_switch: prev_comm=sh ==> next_comm=x": {
			"sh", "12", 23380041165000, 0, "sched:sched_switch", "prev_comm=sh ==> next_comm=x",
		},
		"      sh 23825 23380.041165:     250000 cpu-clock:      7f6a f+0xa (/lib/c.so)": {
			"sh", "23825", 23380041165000, 250000, "cpu-clock", "7f6a f+0xa (/lib/c.so)",
		},
		"      sh 23825     250000 cpu-clock: ":  {"sh", "23825", -1, 250000, "cpu-clock", ""},
		"      sh 23825/23826 [001] cpu-clock: ": {"sh", "23825/23826", -1, 0, "cpu-clock", ""},
		"sh 23825 23380.041165:     250000 \t7f6a f+0xa (/lib/c.so)": {
			"sh", "23825", 23380041165000, 250000, "", "7f6a f+0xa (/lib/c.so)",
		},
		"sh 23825 23380.041165:     ":       {"sh", "23825", 23380041165000, 0, "", ""},
		"         1      page-faults: ":     {"", "", -1, 1, "page-faults", ""},
		"23825      page-faults: ":          {"", "23825", -1, 0, "page-faults", ""},
		"index          1 ":                 {"index", "", -1, 1, "", ""},
		"index 19034      page-faults: ":    {"index", "19034", -1, 0, "page-faults", ""},
		"index 19034/19034 ":                {"index", "19034/19034", -1, 0, "", ""},
		"sh 23825":                          {"sh", "23825", -1, 0, "", ""},
		"sh ":                               {"sh", "", -1, 0, "", ""},
		"Web Content ":                      {"Web Content", "", -1, 0, "", ""},
		"23380.041165:     250000 cycles: ": {"", "", 23380041165000, 250000, "cycles", ""},
	} {
		h := parsePerfHeader([]byte(line), nil)
		got := header{string(h.comm), string(h.thread), h.time, h.period, string(h.event), string(h.rest)}
		if got != want {
			t.Errorf("%q\n got %+v\nwant %+v", line, got, want)
		}
	}
}

func TestPerfFrame(t *testing.T) {
	type frame struct {
		ip          uint64
		symbol, dso string
		inlined     bool
	}
	for line, want := range map[string]frame{
		"\t           1462a handle_amd+0xa (/usr/lib/ld.so.2)": {
			0x1462a, "handle_amd", "/usr/lib/ld.so.2", false,
		},
		"\t           1462a handle_amd (/usr/lib/ld.so.2)": {
			0x1462a, "handle_amd", "/usr/lib/ld.so.2", false,
		},
		"\t           1462a handle_amd": {0x1462a, "handle_amd", "", false},
		"\t           1462a (/usr/lib/ld.so.2)": {
			0x1462a, "", "/usr/lib/ld.so.2", false,
		},
		"\t               0 [unknown] ([unknown])": {0, "", "", false},
		"\t            1178 [unknown] (/opt/my app (x86)/libdistance.so)": {
			0x1178, "", "/opt/my app (x86)/libdistance.so", false,
		},
		"\t            1178 [unknown] (/opt/odd (name/lib.so)": {
			0x1178, "", "/opt/odd (name/lib.so", false,
		},
		"\t            1178 f+0x1 (/opt/odd (name/lib.so)": {
			0x1178, "f", "/opt/odd (name/lib.so", false,
		},
		"\t            1178 f+0x1 (/usr/bin/x (deleted))": {0x1178, "f", "/usr/bin/x", false},
		"\t            1178 f(int (*)(void))+0x1f (/a b/lib.so)": {
			0x1178, "f(int (*)(void))", "/a b/lib.so", false,
		},
		"\t            1178 f(int (*)(void)) (/a b/lib.so)": {
			0x1178, "f(int (*)(void))", "/a b/lib.so", false,
		},
		"\t            1178 f(int)": {0x1178, "f(int)", "", false},
		"\t            1178 operator()(int) const+0x3 (/lib.so)": {
			0x1178, "operator()(int) const", "/lib.so", false,
		},
		"\t            1178 std::swap (inlined)": {0x1178, "std::swap", "", true},
		"\tffffffff8160cb26 init_multi_vma_prep+0x16 ([kernel.kallsyms])": {
			0xffffffff8160cb26, "init_multi_vma_prep", "[kernel.kallsyms]", false,
		},
		"\tffffffff8160cb26 start_kernel ([kernel.kallsyms].init.text)": {
			0xffffffff8160cb26, "start_kernel", "[kernel.kallsyms].init.text", false,
		},
		"\t    7f722d142778 Ljava/io/PrintStream;::print (/tmp/perf-19982.map)": {
			0x7f722d142778, "Ljava/io/PrintStream;::print", "/tmp/perf-19982.map", false,
		},
		"\t           4017a main.(*T[...]).f+0x5 (/bin/x)": {0x4017a, "main.(*T[...]).f", "/bin/x", false},
		"\t    7f722d142778 f+0x5 (/lib/x.so+0x1234)":      {0x1234, "f", "/lib/x.so", false},
		"\t    7f7b cfree@GLIBC_2.2.5+0x13 (/usr/lib/libc.so.6)": {
			0x7f7b, "cfree@GLIBC_2.2.5", "/usr/lib/libc.so.6", false,
		},
		"7f6a f+0xa (/lib/c.so)\r": {0x7f6a, "f", "/lib/c.so", false},
		"\t 0x7f6a f":              {0x7f6a, "f", "", false},
	} {
		f, ok := parsePerfFrame([]byte(line))
		if got := (frame{f.ip, string(f.symbol), string(f.dso), f.inlined}); !ok || got != want {
			t.Errorf("%q\n got %+v %v\nwant %+v", line, got, ok, want)
		}
	}
	for _, line := range []string{"\tmain", "\t  file.c:12", "", "\t", "\t12345678901234567 f"} {
		if f, ok := parsePerfFrame([]byte(line)); ok {
			t.Errorf("%q: %+v", line, f)
		}
	}
}

func notesOf(p *profile.Profile) string { return fmt.Sprint(p.Notes) }

func TestPerfScript(t *testing.T) {
	for name, c := range map[string]struct {
		text  string
		o     Options
		types string
		want  []map[string]int64 // by type
		note  string
	}{
		"one event": {
			"sh 1 1.000000: 10 cycles: \n\t1 f+0x1 (/b)\n\t2 main+0x1 (/b)\n\nsh 1 2.000000: 5 cycles: \n\t1 f+0x2 " +
				"(/b)\n\t2 main+0x1 (/b)\n\n",
			Options{},
			"[samples/count cycles/count]",
			[]map[string]int64{{"f;main": 2}, {"f;main": 15}},
			"sums of periods: cycles/count",
		},
		"several events": {
			"sh 1 1.000000: 10 cycles: \n\t1 f (/b)\n\nsh 1 2.000000: 5 task-clock:u: \n\t1 f (/b)\n\nsh 1 3.000000: " +
				"7 cycles: \n\t1 g (/b)\n\n",
			Options{},
			"[cycles samples/count cycles/count task-clock:u samples/count task-clock:u/nanoseconds]",
			[]map[string]int64{{"f": 1, "g": 1}, {"f": 10, "g": 7}, {"f": 1, "g": 0}, {"f": 5, "g": 0}},
			"cycles/count, task-clock:u/nanoseconds",
		},
		"no periods": {
			"sh 1 1.000000: cycles: \n\t1 f (/b)\n\nsh 1 2.000000: cycles: \n\t1 f (/b)\n",
			Options{},
			"[samples/count]",
			[]map[string]int64{{"f": 2}},
			"samples of cycles have no period",
		},
		"some without a period": {
			"sh 1 1.000000: cycles: \n\t1 f (/b)\n\nsh 1 2.000000: 10 cycles: \n\t1 f (/b)\n\nsh 1 2.000000: cycles: " +
				"\n\t1 f (/b)\n",
			Options{},
			"[samples/count cycles/count]",
			[]map[string]int64{{"f": 3}, {"f": 12}},
			"without a period, weighed as 1 each 2",
		},
		"no first line": {
			"\t1 f (/b)\n\t2 main (/b)\n\n\t1 f (/b)\n\t2 main (/b)\n",
			Options{},
			"[samples/count]",
			[]map[string]int64{{"f;main": 2}},
			"",
		},
		"only a command": {
			"sh \n\t1 f (/b)\n\nsh \n\t1 f (/b)\n\n", Options{}, "[samples/count]", []map[string]int64{{"f": 2}}, "",
		},
		"no call chains": {
			"      sh 1 1.000000: 10 cycles:  1 f+0x1 (/b)\n      cafe 1 1.000000: 10 cycles:  1 f+0x1 (/b)\n",
			Options{},
			"[samples/count cycles/count]",
			[]map[string]int64{{"f": 2}, {"f": 20}},
			"",
		},
		"no blank lines": {
			"sh 1 1.000000: 10 cycles: \n\t1 f (/b)\nsh 1 2.000000: 5 cycles: \n\t1 g (/b)\n",
			Options{},
			"[samples/count cycles/count]",
			[]map[string]int64{{"f": 1, "g": 1}, {"f": 10, "g": 5}},
			"",
		},
		"spaces for tabs": {
			"sh 1 1.000000: 10 cycles: \n        1 f (/b)\n        2 main (/b)\n\n",
			Options{},
			"[samples/count cycles/count]",
			[]map[string]int64{{"f;main": 1}, {"f;main": 10}},
			"",
		},
		"Windows": {
			"sh 1 1.000000: 10 cycles: \r\n\t1 f (/b)\r\n\t2 main (/b)\r\n\r\n",
			Options{},
			"[samples/count cycles/count]",
			[]map[string]int64{{"f;main": 1}, {"f;main": 10}},
			"",
		},
		"inlined": {
			"sh 1 1.000000: 10 cycles: \n\t1 swap (inlined)\n\t1 sort (inlined)\n\t1 f+0x1 (/b)\n\t2 g (inlined)\n" +
				"\t2 main (/b)\n\n",
			Options{},
			"[samples/count cycles/count]",
			[]map[string]int64{{"swap<sort<f;g<main": 1}, {"swap<sort<f;g<main": 10}},
			"",
		},
		"inlined, with lines": {
			"sh 1 1.000000: 10 cycles: \n\t1 swap\n  move.h:3 (inlined)\n\t1 f (/b)\n  a.c:7\n\t2 [unknown] (/b)\n  " +
				"b[2]\n\n",
			Options{},
			"[samples/count cycles/count]",
			[]map[string]int64{{"swap<f;[b]": 1}, {"swap<f;[b]": 10}},
			"",
		},
		"source": {
			"sh 1 1.000000: 10 cycles: \n\t1 f (/b)\n  a.c:7\n|7      x = y;\n\n",
			Options{},
			"[samples/count cycles/count]",
			[]map[string]int64{{"f": 1}, {"f": 10}},
			"",
		},
		"commands that are called as a number": {
			"            java  1234 [000]  5.000001: block:block_rq_issue: 8,0 W 4096 () 1 + 8 [java]\n" +
				"              dd  1235 [000]  5.000002: block:block_rq_issue: 8,0 W 4096 () 1 + 8 [dd]\n" +
				"              dd  1235 [000]  5.000003: block:block_rq_issue:  12 f+0x1 (/b)\n" +
				"             bc  1236/1236 block:block_rq_issue:  12 f+0x1 (/b)\n",
			Options{},
			"[samples/count]",
			[]map[string]int64{{"[unknown]": 2, "f": 2}},
			"no period",
		},
		"a command of 14 letters and a symbol with its line": {
			"          python 1 [001] 1.000001: 7 cycles:P:  4f1 f+0x1 (/b)\n  abcdefghijklmn 2 [001] 1.000006: 7 " +
				"cycles:P:  4f2 g:12 (/b)\n",
			Options{},
			"[samples/count cycles/count]",
			[]map[string]int64{{"f": 1, "g:12": 1}, {"f": 7, "g:12": 7}},
			"",
		},
		"a kernel worker": {
			"kworker/u16:3-events_unbound   123/123   [000] \n\t1 f+0x1 (/b)\n\n",
			Options{},
			"[samples/count]",
			[]map[string]int64{{"f": 1}},
			"",
		},
		"namespaces": {
			"perf  100     0.000000: PERF_RECORD_NAMESPACES 100/100 - nr_namespaces: 7\n" +
				"\t\t[0/net: 3/0xf0000081, 1/uts: 3/0xeffffffe, 2/ipc: 3/0xefffffff, 3/pid: 3/0xeffffffc, \n" +
				"\t\t 4/user: 3/0xeffffffd, 5/mnt: 3/0xf0000000, 6/cgroup: 3/0xeffffffb]\n" +
				"sh 1 1.000000: 10 cycles: \n\t1 f (/b)\n",
			Options{},
			"[samples/count cycles/count]",
			[]map[string]int64{{"f": 1}, {"f": 10}},
			"",
		},
		"output of BPF": {
			"sh 1 1.000000: bpf-output: \n\t1 f (/b)\n      BPF output: 0000: 48 65 6c 6c 6f 00 00 00  Hello...\n" +
				"                  0008: 00 00 00 00              ....\n      BPF string: \"Hello\"\n\n",
			Options{},
			"[samples/count]",
			[]map[string]int64{{"f": 1}},
			"",
		},
		"messages of perf": {
			"Failed to open /tmp/perf-1234.map, continuing without symbols\n[ perf record: Woken up 1 times to write " +
				"data ]\n" +
				"sh 1 1.000000: 10 cycles: \n\t1 f (/b)\n\nWarning:\nProcessed 100 events and lost 3 chunks!\n\n" +
				"Check IO/CPU overload!\n\n" +
				"sh 1 1.000000: 10 cycles: \n\t1 f (/b)\n\n",
			Options{},
			"[samples/count cycles/count]",
			[]map[string]int64{{"f": 2}, {"f": 20}},
			"perf warned: Processed 100 events and lost 3 chunks!",
		},
		"no stack": {
			"sh 1 1.000000: 10 cycles: \n\nsh 1 2.000000: 5 cycles: \n\t1 f (/b)\n\n",
			Options{},
			"[samples/count cycles/count]",
			[]map[string]int64{{"f": 1, "[unknown]": 1}, {"f": 5, "[unknown]": 10}},
			"without a stack, shown as [unknown] 1",
		},
		"lost": {
			"sh 1 0.500000: PERF_RECORD_LOST lost 123\nsh 1 1.000000: 10 cycles: \n\t1 f (/b)\n\nsh 1 2.000000: " +
				"PERF_RECORD_LOST_SAMPLES: lost 2\n",
			Options{},
			"[samples/count cycles/count]",
			[]map[string]int64{{"f": 1}, {"f": 10}},
			"lost while recording 125",
		},
		"addresses in the first column": {
			"java 19983 cycles:\nffffffff8103d0ca native_write ([kernel.kallsyms])\n    7f0000000010 main " +
				"(/usr/bin/app)\n\njava 19983 cycles:\n7f0000000020 work(int, long) const (/usr/bin/app)\n" +
				"7f0000000010 main (/usr/bin/app)\n\n",
			Options{Mangled: true},
			"[samples/count]",
			[]map[string]int64{{"native_write;main": 1, "work(int, long) const;main": 1}},
			"no period",
		},
		"traces": {
			"sh 1 [000] 1.000000: sched:sched_switch: prev_comm=sh prev_pid=1\n\tffffffff8160cb26 schedule " +
				"([kernel.kallsyms])\n\n",
			Options{},
			"[samples/count]",
			[]map[string]int64{{"schedule": 1}},
			"no period",
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := mustRead(t, c.text, c.o)
			if p.Origin.Format != "perf script" {
				t.Errorf("format %s", p.Origin.Format)
			}
			if got := fmt.Sprint(p.Types); got != c.types {
				t.Errorf("types %s, want %s", got, c.types)
			}
			for kind, want := range c.want {
				if diff := cmp.Diff(want, stacks(p, kind)); diff != "" {
					t.Errorf("type %d (-want +got):\n%s", kind, diff)
				}
			}
			if !strings.Contains(notesOf(p), c.note) {
				t.Errorf("notes %s, want %q", notesOf(p), c.note)
			}
		})
	}
}

// TestPerfScriptEvents checks that the event of time is the default, and that samples of each event are
// counted.
func TestPerfScriptEvents(t *testing.T) {
	sample := func(event string, period int) string {
		return fmt.Sprintf("sh 1 1.000000: %d %s: \n\t1 f (/b)\n\n", period, event)
	}
	p := mustRead(t,
		sample("page-faults", 9)+sample("page-faults", 4)+sample("cpu-clock:u", 250)+sample("context-switches", 1),
		Options{})
	if p.DefaultType != "cpu-clock:u" {
		t.Errorf("%s is shown", p.DefaultType)
	}
	for name, want := range map[string]int64{
		"page-faults": 2, "page-faults samples": 2, "cpu-clock:u": 1, "cpu-clock:u samples": 1, "context-switches": 1,
		"context-switches samples": 1,
	} {
		if _, events := p.Events(kindOf(t, p, name)); events != want {
			t.Errorf("%s: %d events, want %d", name, events, want)
		}
	}
	for name, want := range map[string]string{
		"cpu-clock:ppp": "cpu-clock", "cycles:uppp": "cycles:u", "cycles:P": "cycles",
		"sched:sched_switch": "sched:sched_switch", "cycles": "cycles",
	} {
		if got := string(trimModifiers([]byte(name))); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
	p = mustRead(t, sample("page-faults", 9)+sample("context-switches", 1)+sample("context-switches", 1), Options{})
	if p.DefaultType != "context-switches" {
		t.Errorf("%s is shown", p.DefaultType)
	}
}

// TestPerfScriptUnnamed checks that a frame without a name keeps its file and address, and that lines about
// mappings and build ids are skipped.
func TestPerfScriptUnnamed(t *testing.T) {
	text := "48dc540c8b76393804ca8088dbfa7d42911a9444 /lib/a.so\n" +
		"sh 7 1.000000: PERF_RECORD_MMAP2 7/7: [0x7f0000001000(0x2000) @ 0x1000 fe:00 12 0]: r-xp /lib/a.so\n" +
		"sh 7 1.000000: 10 cycles: \n\t1234 [unknown] (/lib/a.so)\n\t1 main (/bin/sh)\n\n"
	p := mustRead(t, text, Options{})
	if p.Len() != 1 || len(p.Notes) != 1 {
		t.Fatalf("%d samples, notes %v", p.Len(), p.Notes)
	}
	leaf, root := p.Stack(0)[0], p.Stack(0)[1]
	if m := p.MappingOf(leaf); *m != (profile.Mapping{File: "/lib/a.so"}) || p.Locations[leaf].Address != 0x1234 {
		t.Errorf("%+v at %x", m, p.Locations[leaf].Address)
	}
	if m := p.MappingOf(root); *m != (profile.Mapping{File: "/bin/sh", HasFunctions: true}) {
		t.Errorf("%+v", m)
	}
}

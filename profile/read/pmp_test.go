package read

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// published holds lines from bug reports about MariaDB and MySQL servers, printed by pt-pmp and by its
// predecessor, which prints no places.
const published = `Thu Feb 10 18:07:01 UTC 2022
     24 futex_wait,__futex_abstimed_wait_common,pthread_cond_wait,srv_thread_pool::wait(srv0srv.cc:1404),start_thread(libpthread.so.0),clone(libc.so.6)
     10 poll(libc.so.6),vio_io_wait(viosocket.c:945),start_thread(libpthread.so.0),clone(libc.so.6)
      3 __invoke_impl<void,(thread.h:60),std::map<int,long>::find(stl_map.h:12),libstdc++::??(libstdc++.so.6),??
      1 main
      1
`

func TestPMP(t *testing.T) {
	p := mustRead(t, published, Options{Mangled: true})
	if p.Origin.Format != "pt-pmp" || fmt.Sprint(p.Types) != "[samples/count]" ||
		!p.Time.Equal(time.Date(2022, 2, 10, 18, 7, 1, 0, time.UTC)) {
		t.Errorf("%+v, %v, %v", p.Origin, p.Types, p.Time)
	}
	want := map[string]int64{
		"futex_wait;__futex_abstimed_wait_common;pthread_cond_wait;srv_thread_pool::wait;start_thread;clone": 24,
		"poll;vio_io_wait;start_thread;clone":                                    10,
		"__invoke_impl<void;std::map<int,long>::find;[libstdc++.so.6];[unknown]": 3,
		"main": 1,
	}
	if diff := cmp.Diff(want, stacks(p, 0)); diff != "" {
		t.Errorf("stacks (-want +got):\n%s", diff)
	}
	places := map[string]string{}
	for i := range p.Locations {
		m := p.MappingOf(uint32(i))
		for _, l := range p.LinesOf(uint32(i)) {
			f := &p.Functions[l.Function]
			places[f.Name] = fmt.Sprintf("%s:%d", f.File, l.Line)
			if m != nil {
				places[f.Name] = m.File
			}
		}
	}
	for name, place := range map[string]string{
		"srv_thread_pool::wait": "srv0srv.cc:1404", "poll": "libc.so.6", "futex_wait": ":0",
	} {
		if places[name] != place {
			t.Errorf("%s is at %s, want %s", name, places[name], place)
		}
	}
	if notes := notesOf(p); !strings.Contains(notes, "not CPU time") || strings.Contains(notes, "passed over") {
		t.Errorf("notes %s", notes)
	}
}

// TestPMPOfRealServers checks that output of pt-pmp is read completely: all threads, each with all frames of
// its line.
func TestPMPOfRealServers(t *testing.T) {
	for name, c := range map[string]struct {
		total  int64
		stacks int
		frame  string
	}{
		"java.txt":  {66, 21, "PosixSemaphore::wait"},
		"index.txt": {12, 9, "bench::index::Flat::search"},
	} {
		data, err := os.ReadFile(fixture("pmp/" + name))
		if err != nil {
			t.Fatal(err)
		}
		p := mustRead(t, string(data), Options{Mangled: true})
		if p.Origin.Format != "pt-pmp" || p.Total(0) != c.total || p.Len() != c.stacks {
			t.Errorf("%s: %s, %d threads in %d stacks, want %d in %d", name, p.Origin.Format, p.Total(0), p.Len(),
				c.total, c.stacks)
		}
		found := false
		for i := range p.Functions {
			found = found || p.Functions[i].Name == c.frame
			if strings.ContainsAny(p.Functions[i].Name, ",") && !strings.ContainsAny(p.Functions[i].Name, "<(") {
				t.Errorf("%s: a frame %q", name, p.Functions[i].Name)
			}
		}
		if !found {
			t.Errorf("%s: no frame %s", name, c.frame)
		}
	}
}

func TestPMPFrames(t *testing.T) {
	for line, want := range map[string]string{
		"a,b,c":                               "a|b|c",
		"a(x.c:1), b(libc.so.6) , c":          "a(x.c:1)|b(libc.so.6)|c",
		"std::map<int,long>::find(m.h:1),a":   "std::map<int,long>::find(m.h:1)|a",
		"invoke<main(int,(index.cpp:75),next": "invoke<main(int,(index.cpp:75)|next",
		"pair<float,,std::heap<iter<pair*,vector<pair,alloc<pair>>>,ops<l>>(i.h:1),a": "pair<float|std::heap<iter<pair*,vector<pair,alloc<pair>>>,ops<l>>(i.h:1)|a",
		"operator<(s.h:3),operator->,a":                                               "operator<(s.h:3)|operator->|a",
	} {
		if got := strings.Join(pmpFrames([]byte(line), nil), "|"); got != want {
			t.Errorf("%s: %s, want %s", line, got, want)
		}
	}
}

// TestPMPOfWholeNames checks output of other scripts, with whole C++ names. Blanks within brackets must not
// make it look like perf script, where all lines would become one sample.
func TestPMPOfWholeNames(t *testing.T) {
	p := mustRead(t,
		"     12 std::map<int, std::pair<int const, Foo> >::find,DB::Get(Options const&, Slice const&) const,main\n  "+
			"    4 operator(),foo<a, b>,main\n", Options{Mangled: true})
	want := map[string]int64{
		"std::map<int, std::pair<int const, Foo> >::find;DB::Get(Options const&, Slice const&) const;main": 12,
		"operator();foo<a, b>;main": 4,
	}
	if diff := cmp.Diff(want, stacks(p, 0)); diff != "" || p.Origin.Format != "pt-pmp" {
		t.Errorf("%s (-want +got):\n%s", p.Origin.Format, diff)
	}
}

// TestPMPDates checks that the date above each run may be in any language.
func TestPMPDates(t *testing.T) {
	const stack = "     12 poll,main\n"
	for _, date := range []string{
		"Fri Nov 20 16:01:18 UTC 2026\n", "Mo 20. Nov 12:00:00 UTC 2026\n", "Mon 20 Nov 2026 12:00:00 PM UTC\n",
		"lundi 1 janvier 2024, 12:00:01 (UTC+0100)\n", "2024年 01月 01日 星期一 12:00:01 CST\n",
		"seg 01 jan 2024 12:00:01 -03\n", "Пн 01 янв 2024 12:00:01 MSK\n", "ma 1.1.2024 12.00.01 +0200\n",
		"2024. 01. 01. (월) 12:00:01 KST\n",
	} {
		p := mustRead(t, date+stack+date+stack, Options{})
		if diff := cmp.Diff(map[string]int64{"poll;main": 24}, stacks(p, 0)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", date, diff)
		}
	}
	for _, other := range []string{
		"2024-01-01 12:00:01 INFO started, all is well\n", "[12:00:01] 2024 rows read\n", "it took 12:00:01\n",
		"2024-01-01 12:00:01 ERROR: no gdb\n",
	} {
		if _, err := From(t.Context(), "it", strings.NewReader(other+stack+stack), Options{}); err == nil ||
			!strings.Contains(err.Error(), "line 1: unexpected line in pt-pmp") {
			t.Errorf("%q: %v", other, err)
		}
	}
}

// TestPMPIsNotTakenForOthers checks that other formats are not detected as pt-pmp.
func TestPMPIsNotTakenForOthers(t *testing.T) {
	for name, text := range map[string]string{
		"perf script": "sh  1 2.000000:  3 cycles: \n\t              24 futex_wait (/lib/libc.so)\n\t 7f32 f(int, " +
			"long) (/lib/a.so)\n\n",
		"folded":      "24 a,b;c 5\nmain;f(int,int) 7\n",
		"perf report": reportHead + "    24.00%  sh  libc.so.6  [.] f\n    12.00%  sh  libc.so.6  [.] g\n",
	} {
		if p := mustRead(t, text, Options{}); p.Origin.Format != name {
			t.Errorf("%s is taken for %s", name, p.Origin.Format)
		}
	}
}

// TestLinesThatDoNotFit checks that a file is rejected if a line has another format.
func TestLinesThatDoNotFit(t *testing.T) {
	for name, text := range map[string]string{
		"pt-pmp":        strings.Repeat("     24 futex_wait,pthread_cond_wait,start_thread,clone\n", 200),
		"folded stacks": strings.Repeat("main;work;leaf 24\n", 200),
		"perf script":   strings.Repeat("sh  1 2.000000:  3 cycles: \n\t 7f32 f (/lib/a.so)\n\n", 200),
		"perf report":   reportHead + strings.Repeat("     0.40%  sh  libc.so.6  [.] f\n", 200),
	} {
		mustRead(t, text, Options{})
		line := fmt.Sprintf("line %d: ", strings.Count(text, "\n")+1)
		for _, other := range []string{"2026-11-23T03:25:23Z INFO started, all is well\n", "a line of text\n"} {
			_, err := From(t.Context(), "it", strings.NewReader(text+other+text), Options{})
			if err == nil || !strings.Contains(err.Error(), line+"unexpected line in "+name) {
				t.Errorf("%s with the line %q: %v", name, other, err)
			}
		}
	}
}

// TestPMPFramesOfAnEndlessLine checks that pmpFrames is not quadratic in the number of unbalanced brackets.
func TestPMPFramesOfAnEndlessLine(t *testing.T) {
	for _, piece := range []string{"(", "()", "(a.c:1)", "f(", "<,", "a<b,(x.c:1),"} {
		began := time.Now()
		pmpFrames([]byte(strings.Repeat(piece, 1<<19/len(piece))+strings.Repeat(")", 1<<19)), nil)
		if took := time.Since(began); took > 20*time.Second {
			t.Errorf("%q: %v", piece, took)
		}
	}
}

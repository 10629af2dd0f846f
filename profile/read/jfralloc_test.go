package read

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kitescope/profile"
)

// allocation is an event as a plain reading of what jfr prints has it.
type allocation struct {
	Type   string `json:"type"`
	Values struct {
		Size   int64 `json:"allocationSize"`
		Buffer int64 `json:"tlabSize"`
		Weight int64 `json:"weight"`
		Stack  struct {
			Frames []struct {
				Method struct {
					Type struct{ Name string }
					Name string
				}
			}
		} `json:"stackTrace"`
	} `json:"values"`
}

func (a *allocation) stack() string {
	var names []string
	for _, f := range a.Values.Stack.Frames {
		names = append(names, strings.ReplaceAll(f.Method.Type.Name, "/", ".")+"."+f.Method.Name)
	}
	return strings.Join(names, ";")
}

// some is what jfr printed of events, of those types that are wanted.
func some(t *testing.T, types ...string) (text string, events []allocation) {
	t.Helper()
	data, err := os.ReadFile(fixture("jfr/words-alloc.json"))
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Recording struct {
			Events []json.RawMessage `json:"events"`
		} `json:"recording"`
	}
	if err := json.Unmarshal(data, &doc); err != nil {
		t.Fatal(err)
	}
	doc.Recording.Events = slices.DeleteFunc(doc.Recording.Events, func(raw json.RawMessage) bool {
		var e allocation
		if err := json.Unmarshal(raw, &e); err != nil {
			t.Fatal(err)
		}
		keep := slices.Contains(types, e.Type)
		if keep {
			events = append(events, e)
		}
		return !keep
	})
	out, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	return string(out), events
}

func sumsOf(t *testing.T, p *profile.Profile, kind string) map[string]int64 {
	t.Helper()
	k, err := p.KindOf(kind)
	if err != nil {
		t.Fatal(err)
	}
	sums := stacks(p, k)
	for stack, n := range sums {
		if n == 0 {
			delete(sums, stack)
		}
	}
	return sums
}

// Each event stands for the bytes that it says, by stack, as a plain reading adds them up.
func TestJFRAllocations(t *testing.T) {
	for name, c := range map[string]struct {
		types          []string
		want, standard string
	}{
		"buffers":         {[]string{allocInBuffer, allocOutside}, "[alloc_objects/count alloc_space/bytes alloc_space samples/count]", "alloc_space"},
		"chosen":          {[]string{allocSample}, "[alloc_space/bytes alloc_space samples/count]", "alloc_space"},
		"threads as well": {[]string{executionSample, allocInBuffer, allocOutside}, "[samples/count alloc_objects/count alloc_space/bytes alloc_space samples/count]", "samples"},
		"all":             {[]string{executionSample, allocInBuffer, allocOutside, allocSample}, "[samples/count alloc_objects/count alloc_space/bytes alloc_space samples/count]", "samples"},
	} {
		text, events := some(t, c.types...)
		p := mustRead(t, text, Options{})
		if got := fmt.Sprint(p.Types); got != c.want || p.DefaultType != c.standard || p.Origin.Format != "JFR" {
			t.Errorf("%s: %s, %s; want %s, %s", name, got, p.DefaultType, c.want, c.standard)
		}
		space, objects, n := map[string]int64{}, map[string]int64{}, int64(0)
		for i := range events {
			e := &events[i]
			switch {
			case e.Type == allocInBuffer:
				space[e.stack()] += e.Values.Buffer
				objects[e.stack()] += int64(math.Round(float64(e.Values.Buffer) / float64(e.Values.Size)))
			case e.Type == allocOutside:
				space[e.stack()] += e.Values.Size
				objects[e.stack()]++
			case e.Type == allocSample && name == "chosen":
				space[e.stack()] += e.Values.Weight
			default:
				continue
			}
			n++
		}
		if diff := cmp.Diff(space, sumsOf(t, p, "alloc_space")); diff != "" || len(space) < 5 {
			t.Errorf("%s: bytes (-plain +ours):\n%s", name, diff)
		}
		if name != "chosen" {
			if diff := cmp.Diff(objects, sumsOf(t, p, "alloc_objects")); diff != "" {
				t.Errorf("%s: objects (-plain +ours):\n%s", name, diff)
			}
		}
		kind, _ := p.KindOf("alloc_space")
		if _, sampled := p.Events(kind); sampled != n {
			t.Errorf("%s: %d events of allocations, want %d", name, sampled, n)
		}
		if left := strings.Contains(notesOf(p), "jdk.ObjectAllocationSample skipped"); left != (name == "all") {
			t.Errorf("%s: notes %s", name, notesOf(p))
		}
	}
}

// Beside allocations the samples of threads are what they were.
func TestJFRThreadsBesideAllocations(t *testing.T) {
	text, events := some(t, executionSample, allocInBuffer, allocSample)
	want := map[string]int64{}
	for i := range events {
		if events[i].Type == executionSample {
			want[events[i].stack()]++
		}
	}
	p := mustRead(t, text, Options{Threads: true})
	if diff := cmp.Diff(want, sumsOf(t, p, "samples")); diff != "" || len(want) < 3 {
		t.Errorf("stacks (-plain +ours):\n%s", diff)
	}
	if _, sampled := p.Events(0); sampled != 12 {
		t.Errorf("%d samples of threads, want 12", sampled)
	}
	named := map[string]bool{}
	for _, set := range p.LabelSets {
		for _, l := range set {
			named[l.Key+" "+l.Str] = true
		}
	}
	for _, label := range []string{"class java.util.HashMap$Node", "class byte[]", "thread counter-0"} {
		if !named[label] {
			t.Errorf("no label %s in %v", label, named)
		}
	}
}

func TestJFRAllocationsThatSayNothing(t *testing.T) {
	for text, want := range map[string]string{
		`{"recording": {"events": [{"type": "jdk.ObjectAllocationSample", "values": {"weight": 0}}]}}`: "and no allocation",
		`{"recording": {"events": [{"type": "jdk.ObjectAllocationSample", "values": {"weight": 9223372036854775807}},
			{"type": "jdk.ObjectAllocationSample", "values": {"weight": 1}}]}}`: "add up to more than 64 bits",
	} {
		if _, err := From(context.Background(), "it", strings.NewReader(text), Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
	p := mustRead(t, `{"recording": {"events": [{"type": "jdk.ObjectAllocationSample", "values": {"weight": -5}},
		{"type": "jdk.ObjectAllocationSample", "values": {"weight": 5, "objectClass": {"name": "[[Ljava/lang/Object;"}}}]}}`, Options{})
	if p.Total(0) != 5 || !strings.Contains(notesOf(p), "without a size were left out 1") || !strings.Contains(notesOf(p), "without a stack") || p.LabelSets[1][0].Str != "java.lang.Object[][]" {
		t.Errorf("%d, %s, %v", p.Total(0), notesOf(p), p.LabelSets)
	}
}

package schedule

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// drain takes all groups that may run now, as the numbers of their tasks.
func drain(q *Queue) (groups [][]int, running []*Group) {
	for g, ok := q.Next(); ok; g, ok = q.Next() {
		var numbers []int
		for _, t := range g.Tasks {
			numbers = append(numbers, t.Number)
		}
		groups = append(groups, numbers)
		running = append(running, g)
	}
	return groups, running
}

func TestDefaults(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		version     string
		concurrency int
		cpu, topK   float64
		same        bool
		staged      int
	}{
		{"2.1.4", 16, 20, 10, true, 0},
		{"v2.2.16", 16, 10, 10, true, 0},
		{"2.2", 16, 10, 10, true, 0},
		{"2.3.5-hotfix", 8, 0, 20, false, 2},
		{"v2.6.4", 8, 0, 20, false, 2},
		{"3.0", 8, 0, 20, false, 2},
		{"", 8, 0, 20, false, 2},
		{"master-1a2b", 8, 0, 20, false, 2},
	} {
		k := Defaults(c.version, 8)
		if k.Concurrency() != c.concurrency || k.CPURatio != c.cpu || k.TopKRatio != c.topK || k.SameKRatio != c.same || k.Staged != c.staged {
			t.Errorf("%q: %+v, %d at once", c.version, k, k.Concurrency())
		}
		if !k.Grouping || k.MaxNQ != 1000 || k.Waiting != 0 || k.Policy != FIFO || k.Rules == "" {
			t.Errorf("%q: %+v", c.version, k)
		}
	}
}

func TestConcurrencyIsAtLeastOneAndAtMostAHundredPerCore(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		cores, ratio float64
		want         int
	}{{8, 1, 8}, {8, 0.2, 1}, {8, 0.01, 1}, {2.5, 1, 2}, {4, 1000, 400}, {0, 1, 1}, {0, 0, 1}, {-3, 2, 1}} {
		if got := (&Knobs{Cores: c.cores, ConcurrencyRatio: c.ratio}).Concurrency(); got != c.want {
			t.Errorf("%v cores, ratio %v: %d at once, want %d", c.cores, c.ratio, got, c.want)
		}
	}
}

// The figures are those of searchTask.estimateCPUUsage, in percent there.
func TestEstimate(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		nq, segments int
		ratio, want  float64
	}{{1, 3, 10, 0.3}, {10, 50, 10, 8}, {1, 0, 10, 0.05}, {1, 1, 0.4, 0.05}, {3, 1, 0.5, 0.01}, {1, 1, 0, 0}, {16384, 1 << 40, 100, 8}} {
		k := Knobs{Cores: 8, CPURatio: c.ratio}
		if got := k.Estimate(c.nq, c.segments); got != c.want {
			t.Errorf("%d vectors, %d segments at %v%%: %v cores, want %v", c.nq, c.segments, c.ratio, got, c.want)
		}
	}
}

func TestWhatRuns(t *testing.T) {
	t.Parallel()
	one := func(n, nq, k int, group, user string) Task {
		return Task{Number: n, NQ: nq, K: k, Group: group, User: user, Segments: 1}
	}
	same := func(n, from int) (tasks []Task) {
		for i := range n {
			tasks = append(tasks, one(from+i, 1, 10, "a", ""))
		}
		return tasks
	}
	old := Knobs{Cores: 8, ConcurrencyRatio: 1, CPURatio: 100, Grouping: true, MaxNQ: 1000, TopKRatio: 10, SameKRatio: true}
	recent := Knobs{Cores: 1, ConcurrencyRatio: 1, Grouping: true, MaxNQ: 6, TopKRatio: 20}
	staged := recent
	staged.Staged = 2
	polling := recent
	polling.Policy = UserTaskPolling
	cross := polling
	cross.CrossUser = true
	alone := Knobs{Cores: 2, ConcurrencyRatio: 1}
	for _, c := range []struct {
		name  string
		knobs Knobs
		tasks []Task
		first [][]int // what runs at once
		then  [][]int // what runs after it, group after group
	}{
		{"first in, first out", alone, same(4, 0), [][]int{{0}, {1}}, [][]int{{2}, {3}}},
		{"waiting requests are merged up to MaxNQ", recent, same(9, 0), [][]int{{0}}, [][]int{{1, 2, 3, 4, 5, 6}, {7, 8}}},
		{"what was handed on is not merged any more", staged, same(9, 0), [][]int{{0}}, [][]int{{1}, {2}, {3, 4, 5, 6, 7, 8}}},
		{
			"other parameters are not merged, and keep their place", recent,
			[]Task{one(0, 1, 10, "a", ""), one(1, 1, 10, "b", ""), one(2, 1, 10, "a", ""), one(3, 1, 10, "b", "")},
			[][]int{{0}},
			[][]int{{1, 3}, {2}},
		},
		{
			"what does not fit the last may fit one before", recent,
			[]Task{one(0, 1, 10, "a", ""), one(1, 3, 10, "a", ""), one(2, 5, 10, "a", ""), one(3, 2, 10, "a", "")},
			[][]int{{0}},
			[][]int{{1, 3}, {2}},
		},
		{
			// (1 + 1) vectors times 100 are 20 times 1 times 10; (2 + 1) times 201 are 3 times 2 times 100.
			"k may differ as far as the ratio goes", recent,
			[]Task{one(0, 1, 10, "a", ""), one(1, 1, 10, "a", ""), one(2, 1, 100, "a", ""), one(3, 1, 201, "a", "")},
			[][]int{{0}},
			[][]int{{1, 2, 3}},
		},
		{
			"a greater ratio of k is not merged", recent,
			[]Task{one(0, 1, 10, "a", ""), one(1, 1, 10, "a", ""), one(2, 1, 101, "a", "")},
			[][]int{{0}},
			[][]int{{1}, {2}},
		},
		{
			// Each is estimated to need a core, so eight run; (9 + 1) vectors are 10 times the one that comes, 11 are more.
			"in 2.1 and 2.2 equal k are merged up to the ratio", old, same(20, 0),
			[][]int{{0}, {1}, {2}, {3}, {4}, {5}, {6}, {7}},
			[][]int{{8, 9, 10, 11, 12, 13, 14, 15, 16, 17}, {18, 19}},
		},
		{
			"users take turns", polling,
			[]Task{one(0, 1, 1, "a", "x"), one(1, 6, 1, "a", "x"), one(2, 6, 1, "a", "x"), one(3, 1, 1, "a", "y"), one(4, 6, 1, "b", "z")},
			[][]int{{0}},
			[][]int{{1}, {3}, {4}, {2}},
		},
		{
			"users are not merged", polling,
			[]Task{one(0, 1, 1, "a", "x"), one(1, 1, 1, "a", "x"), one(2, 1, 1, "a", "y"), one(3, 1, 1, "a", "x")},
			[][]int{{0}},
			[][]int{{1, 3}, {2}},
		},
		{
			"unless that is allowed", cross,
			[]Task{one(0, 1, 1, "a", "x"), one(1, 1, 1, "a", "x"), one(2, 1, 1, "a", "y"), one(3, 1, 1, "a", "x")},
			[][]int{{0}},
			[][]int{{1, 2, 3}},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			q := NewQueue(c.knobs)
			var first [][]int
			var running []*Group
			for _, task := range c.tasks {
				if err := q.Push(task); err != nil {
					t.Fatal(err)
				}
				now, groups := drain(q)
				first, running = append(first, now...), append(running, groups...)
			}
			if diff := cmp.Diff(c.first, first); diff != "" {
				t.Errorf("what runs first differs:\n%s", diff)
			}
			var then [][]int
			for len(running) > 0 {
				q.Done(running[0])
				now, groups := drain(q)
				running = append(running[1:], groups...)
				then = append(then, now...)
			}
			if diff := cmp.Diff(c.then, then); diff != "" {
				t.Errorf("what runs then differs:\n%s", diff)
			}
			if q.Waiting() != 0 || q.Running() != 0 {
				t.Errorf("%d wait and %d run at the end", q.Waiting(), q.Running())
			}
		})
	}
}

// What is merged into the head after its CPU was estimated is free: searchTask.CPUUsage works it out once.
func TestTheEstimateOfTheHeadStays(t *testing.T) {
	t.Parallel()
	k := Defaults("2.2", 2)
	k.CPURatio = 100
	q := NewQueue(k)
	push := func(n, segments int) {
		if err := q.Push(Task{Number: n, NQ: 1, K: 1, Group: strconv.Itoa(segments), Segments: segments}); err != nil {
			t.Fatal(err)
		}
	}
	push(0, 2) // needs both cores
	_, running := drain(q)
	push(1, 1)
	if g, ok := q.Next(); ok {
		t.Fatalf("%+v runs beside a task that needs all cores", g)
	}
	push(2, 1)
	push(3, 1)
	q.Done(running[0])
	g, ok := q.Next()
	if !ok || len(g.Tasks) != 3 || g.NQ != 3 || g.CPU != 1 {
		t.Fatalf("the head is %+v, want three tasks at the estimate of one", g)
	}
	push(4, 1)
	if _, ok := q.Next(); !ok {
		t.Error("the other core stays idle")
	}
}

func TestAFullQueueRefuses(t *testing.T) {
	t.Parallel()
	k := Knobs{Cores: 1, ConcurrencyRatio: 1, Waiting: 2}
	q := NewQueue(k)
	for i := range 3 {
		if err := q.Push(Task{Number: i, NQ: 1}); err != nil {
			t.Fatal(err)
		}
		drain(q)
	}
	if err := q.Push(Task{Number: 3, NQ: 1}); !errors.Is(err, ErrFull) || q.Waiting() != 2 {
		t.Errorf("error %v, %d wait", err, q.Waiting())
	}
	k = Knobs{Cores: 1, ConcurrencyRatio: 1, WaitingPerUser: 1, Policy: UserTaskPolling}
	q = NewQueue(k)
	for i, user := range []string{"x", "x", "y"} {
		if err := q.Push(Task{Number: i, NQ: 1, User: user}); err != nil {
			t.Fatal(err)
		}
		drain(q)
	}
	if err := q.Push(Task{Number: 3, NQ: 1, User: "x"}); !errors.Is(err, ErrFull) {
		t.Errorf("error %v", err)
	}
}

// Whatever comes and goes: nothing is lost or run twice, and no bound is passed.
func TestNothingIsLost(t *testing.T) {
	t.Parallel()
	for seed := range uint64(40) {
		random := rand.New(rand.NewPCG(seed, 1))
		k := Defaults([]string{"2.1", "2.2", "2.4"}[seed%3], float64(1+random.IntN(8)))
		k.Policy, k.CrossUser, k.MaxNQ = Policy(seed/3%2), seed%5 == 0, 1+random.IntN(30)
		q := NewQueue(k)
		seen := map[int]bool{}
		var running []*Group
		pushed := 0
		for step := 0; step < 4000 || q.Running() > 0; step++ {
			if step < 4000 && random.IntN(2) == 0 {
				task := Task{
					Number: pushed, NQ: 1 + random.IntN(3), K: 1 + random.IntN(100), Segments: random.IntN(4),
					Group: strconv.Itoa(random.IntN(500)), User: strconv.Itoa(random.IntN(5)),
				}
				if err := q.Push(task); err != nil {
					t.Fatal(err)
				}
				pushed++
			} else if len(running) > 0 {
				i := random.IntN(len(running))
				q.Done(running[i])
				running = append(running[:i], running[i+1:]...)
			}
			numbers, groups := drain(q)
			running = append(running, groups...)
			for _, group := range numbers {
				for _, n := range group {
					if seen[n] {
						t.Fatalf("seed %d: task %d runs twice", seed, n)
					}
					seen[n] = true
				}
			}
			var cpu float64
			for _, g := range running {
				cpu += g.CPU
				if g.NQ > max(k.MaxNQ, g.Tasks[0].NQ) {
					t.Fatalf("seed %d: a group of %d vectors", seed, g.NQ)
				}
			}
			if len(running) > k.Concurrency() || cpu > k.Cores+0.01 || q.Waiting() != pushed-len(seen) {
				t.Fatalf("seed %d: %d run with %v of %v cores, %d wait of %d", seed, len(running), cpu, k.Cores, q.Waiting(), pushed-len(seen))
			}
		}
		if len(seen) != pushed || q.Waiting() != 0 {
			t.Errorf("seed %d: %d of %d ran, %d wait", seed, len(seen), pushed, q.Waiting())
		}
	}
}

func TestTheSteadyStateAllocatesNothing(t *testing.T) {
	for _, version := range []string{"2.2", "2.4"} {
		q := NewQueue(Defaults(version, 4))
		names := []string{"a", "b", "c", "d", "e", "f"}
		var running []*Group
		n := 0
		round := func() {
			for range 20 {
				n++
				if err := q.Push(Task{Number: n, NQ: 1, K: 10, Group: names[n%len(names)], Segments: 30}); err != nil {
					t.Fatal(err)
				}
				for g, ok := q.Next(); ok; g, ok = q.Next() {
					running = append(running, g)
				}
			}
			for len(running) > 0 {
				q.Done(running[0])
				running = append(running[:0], running[1:]...)
				for g, ok := q.Next(); ok; g, ok = q.Next() {
					running = append(running, g)
				}
			}
		}
		for range 50 {
			round()
		}
		if got := testing.AllocsPerRun(100, round); got > 0 {
			t.Errorf("%s: %v allocations in a round of 20", version, got)
		}
	}
}

// BenchmarkQueue is a task's way through the queue.
func BenchmarkQueue(b *testing.B) {
	for _, waiting := range []int{0, 100, 10_000} {
		b.Run(fmt.Sprint(waiting, "_waiting"), func(b *testing.B) {
			k := Defaults("2.4", 8)
			k.Grouping = waiting == 100
			q := NewQueue(k)
			var running []*Group
			for i := range waiting + 8 {
				if err := q.Push(Task{Number: i, NQ: 1, K: 10, Group: "a"}); err != nil {
					b.Fatal(err)
				}
				if g, ok := q.Next(); ok {
					running = append(running, g)
				}
			}
			b.ReportAllocs()
			for i := range b.N {
				q.Done(running[i%len(running)])
				if err := q.Push(Task{Number: i, NQ: 1, K: 10, Group: "a"}); err != nil {
					b.Fatal(err)
				}
				g, ok := q.Next()
				if !ok {
					b.Fatal("nothing runs")
				}
				running[i%len(running)] = g
			}
		})
	}
}

package load_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"kitescope/replay/load"
)

func TestFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := run(t, &workload{serve: func(n int64, _ *load.Request) (time.Duration, *load.Answer, error) {
			if n%20 == 7 {
				return time.Millisecond, nil, fmt.Errorf("node %d: too many requests", n)
			}
			return 10 * time.Millisecond, &load.Answer{}, nil
		}}, requests(50, 0), load.Plan{Sessions: 1, Requests: 2000, Rounds: 2})
		if p.Asked != 4000 || p.Failed != 200 || p.Queries != 3800 {
			t.Errorf("asked %d, failed %d, answered %d", p.Asked, p.Failed, p.Queries)
		}
		if p.Latency.Count != 3800 || p.Latency.Min != 10*time.Millisecond || p.FailedLatency.Count != 200 ||
			p.FailedLatency.Max != time.Millisecond {
			t.Errorf("latency %+v, of fails %+v", p.Latency, p.FailedLatency)
		}
		if want := 1900 / 19.1; p.QPS != want {
			t.Errorf("%v QPS, not %v", p.QPS, want)
		}
		if diff := cmp.Diff(map[string]int64{"node #: too many requests": 200}, p.Errors); diff != "" {
			t.Error(diff)
		}
	})
}

func TestErrorTexts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := run(t, &workload{serve: func(n int64, _ *load.Request) (time.Duration, *load.Answer, error) {
			switch {
			case n < 60:
				return time.Millisecond, nil,
					fmt.Errorf("kind %s:\x1b[31m\n  trace 4bf92f3577b34da6a3ce929d0e0e%04x",
						strings.Repeat("x", int(n/5)+1), n)
			case n < 70:
				return time.Millisecond, nil, errors.New("dial 127.0.0.1:19530: refused")
			}
			return time.Millisecond, nil, nil
		}}, requests(1, 0), load.Plan{Sessions: 1, Requests: 80})
		var sum int64
		for _, n := range p.Errors {
			sum += n
		}
		if sum != 80 || len(p.Errors) != 11 || p.Errors[load.OtherErrors] != 20 ||
			p.Errors["dial 127.0.0.1:19530: refused"] != 10 ||
			p.Errors["the session returned neither a response nor an error"] != 10 ||
			p.Errors["kind x:\ufffd[#m trace #"] != 5 {
			t.Errorf("%d errors: %v", sum, p.Errors)
		}
	})
}

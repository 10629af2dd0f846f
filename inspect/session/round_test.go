package session

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kitescope/inspect/live"
	"kitescope/inspect/model"
)

// roundAt returns a round of a proxy and a node. Some responses equal those of earlier rounds.
func roundAt(n int) *Round {
	at := nine.Add(time.Duration(n) * time.Minute)
	record := func(method, request, response string) live.Record {
		r := live.Record{
			Role: "proxy", Node: 1, Address: "127.0.0.1:1", Method: method, At: at, Took: time.Duration(n),
			Outcome: "answered",
		}
		if request != "" {
			r.Request = []byte(request)
		}
		if response != "" {
			r.Response = []byte(response)
		}
		return r
	}
	r := &Round{At: at, Revision: int64(100 + n), Every: time.Minute, Etcd: &model.Etcd{At: at}, Records: []live.Record{
		record(methodMetrics, "", fmt.Sprintf("a %d\n", n)), record(methodMetrics, "", fmt.Sprintf("a %d\n", n+1)),
		record("/GetDataDistribution", "", "the same\n\x00"), record("/Configurations", "{}", ""),
	}}
	r.Records[3].Error, r.Records[3].Outcome = "UNAVAILABLE: gone", "refused"
	if n == 0 {
		r.Records = append(r.Records, record("/GetMetrics", `{"metric_type":"sync_tasks"}`, "[]"))
	}
	return r
}

// TestRoundsAreReadAsTheyWereWritten checks that each record is decoded, including those with an omitted response,
// the scrapes of the previous round for rates, and answers that are valid for more than one round.
func TestRoundsAreReadAsTheyWereWritten(t *testing.T) {
	var e RoundEncoder
	var d roundDecoder
	for n := range maxAnswerAge + 2 {
		r := roundAt(n)
		content, err := e.Append(nil, r)
		if err != nil {
			t.Fatal(err)
		}
		if err := d.add(r.At, content); err != nil {
			t.Fatal(err)
		}
		if d.head.Revision != r.Revision || d.head.Every != r.Every || d.head.Etcd == nil {
			t.Errorf("round %d: head %+v", n, d.head)
		}
		got := d.last()
		if diff := cmp.Diff(r.Records, got[:len(r.Records)]); diff != "" {
			t.Errorf("round %d (-written +read):\n%s", n, diff)
		}
		if held := len(got) > len(r.Records); held != (n > 0 && n <= maxAnswerAge) {
			t.Errorf("round %d: what was asked in the first is held: %v", n, held)
		}
		if n > 0 && (len(d.before) != 2 || string(d.before[1].Response) != fmt.Sprintf("a %d\n", n)) {
			t.Errorf("round %d: the scrapes before are %+v", n, d.before)
		}
	}
}

func FuzzRounds(f *testing.F) {
	var e RoundEncoder
	first, err := e.Append(nil, roundAt(0))
	if err != nil {
		f.Fatal(err)
	}
	second, err := e.Append(nil, roundAt(1))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(first, second)
	f.Add([]byte("{}\n"), []byte(`{}`+"\n"+`{"size":9}`+"\n"))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		var d roundDecoder
		for _, content := range [][]byte{a, b} {
			if d.add(nine, content) != nil {
				return
			}
		}
		size := 0
		for _, r := range d.last() {
			size += len(r.Response)
		}
		if size > len(a)+len(a)*len(b)+len(b) {
			t.Errorf("%d bytes of %d and %d", size, len(a), len(b))
		}
	})
}

// TestTooManyRequests checks that a round with more than maxRequests questions is refused.
func TestTooManyRequests(t *testing.T) {
	head, err := new(RoundEncoder).Append(nil, &Round{})
	if err != nil {
		t.Fatal(err)
	}
	err = new(roundDecoder).add(time.Time{}, append(head, bytes.Repeat([]byte("{}\n"), maxRequests+1)...))
	if err == nil || !strings.Contains(err.Error(), "more than 65536 requests") {
		t.Error(err)
	}
}

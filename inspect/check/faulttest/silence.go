package faulttest

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"google.golang.org/protobuf/proto"

	"kitescope/inspect/live"
)

// down is "down NODE OUTCOME": none of its calls is answered any more.
func (w *World) down(args []word) error {
	list, err := w.of(args[0].text)
	if err != nil {
		return err
	}
	return fail(list, args[1].text)
}

// failCall is "fail NODE METHOD[@ABOUT] OUTCOME": one call is not answered.
func (w *World) failCall(args []word) error {
	list, err := w.calls(args[0].text, args[1].text)
	if err != nil {
		return err
	}
	return fail(list, args[2].text)
}

// fail makes records what record-runtime.py and kitescope write down of such an end. The
// outcome itself is left open: the decoder has to find it.
func fail(list []*live.Record, outcome string) error {
	for _, r := range list {
		r.Outcome = ""
		r.Error = map[string]string{
			"refused":       `UNAVAILABLE: failed to connect to all addresses; last error: connect: connection refused`,
			"unreachable":   `UNAVAILABLE: failed to connect to all addresses; last error: connect: no route to host`,
			"timed-out":     `DEADLINE_EXCEEDED: Deadline Exceeded`,
			"unimplemented": `UNIMPLEMENTED: unknown method ` + methodOf(r),
			"denied":        `UNAUTHENTICATED: auth check failure, please check username and password`,
			"cut-off":       `UNAVAILABLE: Socket closed`,
			"other-cluster": `UNKNOWN: cross cluster routing[expectedCluster=by-dev][actualCluster=other]`,
		}[outcome]
		if r.Error != "" {
			r.Response = nil
			continue
		}
		switch outcome {
		case "stale":
			if err := refuse(r, 904, "NodeIDNotMatch", fmt.Sprintf("node not match[expectedNodeID=%d][actualNodeID=%d]", r.Node+100, r.Node)); err != nil {
				return err
			}
		case "not-ready":
			if err := refuse(r, 1, "NotReadyServe", fmt.Sprintf("service not ready[%s=%d]: Stopping", r.Role, r.Node)); err != nil {
				return err
			}
		case "garbled":
			r.Response = []byte("HTTP/1.1 400 Bad Request\r\n\r\n")
		default:
			return fmt.Errorf("unknown outcome %s", outcome)
		}
	}
	return nil
}

// refuse makes an answer one of a status and nothing else. 2.3 fills the older enum, too, whose names
// package commonpb marks as deprecated.
func refuse(r *live.Record, code int32, old, reason string) error {
	r.Response = nil
	if methods()[methodOf(r)].response == "" {
		r.Error = "UNAVAILABLE: Socket closed" // HTTP: nothing of this process is there
		return nil
	}
	m, err := response(r)
	if err != nil {
		return err
	}
	for _, text := range []string{"status.code=" + strconv.Itoa(int(code)), "status.error_code=" + old, "status.reason=" + reason} {
		c, err := parseChange(text)
		if err != nil {
			return err
		}
		if err := c.apply(m.ProtoReflect(), time.Time{}); err != nil {
			return err
		}
	}
	r.Response, err = proto.Marshal(m)
	return err
}

// dropCall is "drop NODE METHOD[@ABOUT]": the question was not put.
func (w *World) dropCall(args []word) error {
	list, err := w.calls(args[0].text, args[1].text)
	if err != nil {
		return err
	}
	w.without(list)
	return nil
}

// forget is "forget NODE": it was not asked at all, as its session is gone.
func (w *World) forget(args []word) error {
	list, err := w.of(args[0].text)
	if err != nil {
		return err
	}
	w.without(list)
	return nil
}

func (w *World) without(list []*live.Record) {
	var kept []live.Record
	for i := range w.records {
		if !slices.Contains(list, &w.records[i]) {
			kept = append(kept, w.records[i])
		}
	}
	w.records = kept
}

// offline is "offline": no process was asked; only the metadata is there.
func (w *World) offline([]word) error {
	if w.noRuntime {
		return errNoChange
	}
	w.noRuntime = true
	return nil
}

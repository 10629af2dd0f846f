package faulttest

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"google.golang.org/protobuf/proto"

	"kitescope/inspect/live"
)

// down implements "down NODE OUTCOME": all calls to the node fail.
func (w *World) down(args []word) error {
	list, err := w.recordsOf(args[0].text)
	if err != nil {
		return err
	}
	return fail(list, args[1].text)
}

// failCall implements "fail NODE METHOD[@ABOUT] OUTCOME": one call fails.
func (w *World) failCall(args []word) error {
	list, err := w.calls(args[0].text, args[1].text)
	if err != nil {
		return err
	}
	return fail(list, args[2].text)
}

// fail changes records to those that record-runtime.py and kitescope write for such an outcome. It clears the
// outcome itself because the decoder must derive it.
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
			if err := refuse(r, 904, "NodeIDNotMatch",
				fmt.Sprintf("node not match[expectedNodeID=%d][actualNodeID=%d]", r.Node+100, r.Node)); err != nil {
				return err
			}
		case "not-ready":
			if err := refuse(r, 1, "NotReadyServe",
				fmt.Sprintf("service not ready[%s=%d]: Stopping", r.Role, r.Node)); err != nil {
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

// refuse replaces a response with one that has only a status. 2.3 also fills the older enum, whose names
// package commonpb marks as deprecated.
func refuse(r *live.Record, code int32, old, reason string) error {
	r.Response = nil
	if methods()[methodOf(r)].response == "" {
		r.Error = "UNAVAILABLE: Socket closed" // HTTP: the process has no endpoint
		return nil
	}
	m, err := response(r)
	if err != nil {
		return err
	}
	for _, text := range []string{
		"status.code=" + strconv.Itoa(int(code)), "status.error_code=" + old, "status.reason=" + reason,
	} {
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

// dropCall implements "drop NODE METHOD[@ABOUT]": the call was not made.
func (w *World) dropCall(args []word) error {
	list, err := w.calls(args[0].text, args[1].text)
	if err != nil {
		return err
	}
	w.without(list)
	return nil
}

// forget implements "forget NODE": the node was not queried because its session is gone.
func (w *World) forget(args []word) error {
	list, err := w.recordsOf(args[0].text)
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

// offline implements "offline": no process was queried, so there is only metadata.
func (w *World) offline([]word) error {
	if w.noRuntime {
		return errNoChange
	}
	w.noRuntime = true
	return nil
}

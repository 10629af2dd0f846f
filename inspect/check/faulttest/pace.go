package faulttest

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"kitescope/inspect/live"
)

// paced implements "pace NODE [connect=DURATION] [dial=DURATION] TOOK...": the times of a process to connect
// and to report its state, one for each probe.
func (w *World) paced(args []word) error {
	p := &live.Pace{Connect: 2 * time.Millisecond, Dial: time.Millisecond}
	for _, a := range args[1:] {
		name, value, named := strings.Cut(a.text, "=")
		if !named {
			value = a.text
		}
		d, err := time.ParseDuration(value)
		switch {
		case err != nil:
			return err
		case !named:
			after := p.Connect
			if n := len(p.Probes); n > 0 {
				after = p.Probes[n-1].After + p.Probes[n-1].Took + probeGap
			}
			p.Probes = append(p.Probes, live.Probe{After: after, Took: d})
		case name == "connect":
			p.Connect = d
		case name == "dial":
			p.Dial = d
		default:
			return fmt.Errorf("%q is neither connect= nor dial=", a.text)
		}
	}
	if len(p.Probes) == 0 {
		return errors.New("pace wants to know how long answers took")
	}
	list, err := w.calls(args[0].text, "GetComponentStates")
	if err != nil {
		return err
	}
	at := make(map[string]bool)
	for _, r := range list {
		if r.Error == "" && !at[r.Address] { // sessions at one address share a connection
			at[r.Address], r.Pace = true, p
		}
	}
	return nil
}

// probeGap is the time between a response and the next probe.
const probeGap = 100 * time.Millisecond

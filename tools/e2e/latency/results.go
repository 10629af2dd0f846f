package main

import (
	"fmt"
	"time"
)

// Result is the result of one situation, a line of the record.
type Result struct {
	At     time.Time `json:"at"`
	Name   string    `json:"name"`
	Load1  string    `json:"load_average,omitempty"` // of the machine, before the situation
	Window string    `json:"window,omitempty"`       // between kitescope's two scrapes
	Nice   int       `json:"nice,omitempty"`         // see -nice
	Before Measured  `json:"before"`
	Sum    *Sum      `json:"sum,omitempty"`
	// FirstVerdict is the first verdict of "why" for the collection. Missed is the reason if it is not the expected
	// one, and WhyError the reason if there is none.
	FirstVerdict *Verdict  `json:"said,omitempty"`
	Missed       string    `json:"missed,omitempty"`
	WhyError     string    `json:"unasked,omitempty"`
	After        *Measured `json:"after,omitempty"`
	SumAfter     *Sum      `json:"sum_after,omitempty"`
	Broken       string    `json:"broken,omitempty"` // the run itself failed and is no evidence about kitescope
}

func (r *Result) judge(s *Situation, look *measurement, names map[string][]string) {
	if look.errs != nil {
		r.WhyError = look.errs.Error()
		return
	}
	r.FirstVerdict = verdictOn(look.verdicts, r.Before.Collection, r.Before.Request)
	r.Missed = s.Want.missed(r.FirstVerdict, names)
}

// gain returns the reduction of the client's mean by the cure, in ms.
func (r *Result) gain() float64 {
	if r.After == nil {
		return 0
	}
	return r.Before.MeanMS - r.After.MeanMS
}

func (r *Result) gainText() string {
	if r.FirstVerdict == nil || r.FirstVerdict.GainLow == nil || r.FirstVerdict.GainHigh == nil {
		return "nothing"
	}
	return fmt.Sprintf("%.1f to %.1f ms", *r.FirstVerdict.GainLow, *r.FirstVerdict.GainHigh)
}

func (r *Result) sumText() string {
	if r.Sum == nil {
		return "no phases"
	}
	return fmt.Sprintf("phases %.1f ms (%.0f%% off), unexplained %.0f%%, most %s", r.Sum.SumMS,
		100*r.Sum.RelativeError(), 100*r.Sum.Share(), r.Sum.Largest)
}

func (r *Result) whyText() string {
	switch {
	case r.WhyError != "":
		return r.WhyError
	case r.FirstVerdict == nil:
		return "nothing"
	case r.Missed != "":
		return r.FirstVerdict.Verdict + " (MISSED: " + r.Missed + ")"
	}
	return r.FirstVerdict.Verdict
}

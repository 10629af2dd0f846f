package live

import (
	"encoding/json"
	"errors"
	"strconv"

	"kitescope/inspect/model"
	"kitescope/internal/redact"
)

// redactSlow keeps of a list what is shown of it: no value of an expression, and not who asked. A list that is broken is whole
// then, and the record says what was wrong.
func redactSlow(r *Record) {
	r.Request = nil
	if len(r.Response) == 0 {
		return
	}
	if o := recordOutcome(r); o != model.Answered && o != model.Garbled {
		r.Response = []byte(redact.Prose(string(r.Response)))
		return
	}
	list := []*slowQuery{}
	err := readSlow(r.Response, func(x *slowQuery) {
		if len(list) == maxSlow {
			x = &slowQuery{} // says that there were more
		}
		list = append(list, x.clean())
	})
	if err != nil && r.Error == "" {
		r.Error, r.Outcome = err.Error(), model.Garbled.String()
		if f, ok := errors.AsType[*failure](err); ok {
			r.Outcome = f.outcome.String()
		}
	}
	if r.Response = nil; err == nil || len(list) > 0 {
		r.Response, _ = json.Marshal(list) // it is made of text and numbers
	}
}

// clean is an entry as it may be kept.
func (x *slowQuery) clean() *slowQuery {
	d := NewDecoder()
	c := *x
	for _, text := range []*string{&c.Time, &c.Database, &c.Collection, &c.Partitions, &c.Consistency, &c.Duration, &c.Type, &c.Trace} {
		*text = d.slowName(*text)
	}
	if x.Params == nil {
		return &c
	}
	c.Params = &slowParams{Expr: shortExpr(x.Params.Expr), Output: d.slowName(x.Params.Output)}
	const most = 32 // parts of a hybrid search, which Milvus bounds too
	for _, part := range x.Params.Searches[:min(len(x.Params.Searches), most)] {
		if part == nil {
			continue
		}
		kept := &slowSearch{NQ: part.NQ[:min(len(part.NQ), most)]}
		for _, text := range part.DSL[:min(len(part.DSL), most)] {
			kept.DSL = append(kept.DSL, shortExpr(text))
		}
		for _, text := range part.Params[:min(len(part.Params), most)] {
			if k := topK(text); k > 0 {
				kept.Params = append(kept.Params, "topk="+strconv.FormatInt(k, 10))
			}
		}
		c.Params.Searches = append(c.Params.Searches, kept)
	}
	return &c
}

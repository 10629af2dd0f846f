package live

import (
	"strconv"
	"strings"
)

// clean returns the entry for storage.
func (x *slowQuery) clean(d *Decoder) *slowQuery {
	c := *x
	for _, text := range []*string{
		&c.Time, &c.Database, &c.Collection, &c.Consistency, &c.Duration, &c.Type, &c.Trace,
	} {
		*text = d.slowName(*text)
	}
	c.Partitions = strings.Join(d.slowNames(c.Partitions), ",")
	if x.Params == nil {
		return &c
	}
	c.Params = &slowParams{Expr: shortExpr(x.Params.Expr), Output: strings.Join(d.slowNames(x.Params.Output), ",")}
	const most = 32 // parts of a hybrid search, which Milvus also bounds
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

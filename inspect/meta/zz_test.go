package meta
import ("testing";"context";"kitescope/inspect/model";"fmt";"time")
func TestZZ(t *testing.T){
 m:=manySegments(t,200000)
 run:=func(w Want){
  for range 3 {
  t0:=time.Now()
  var c *model.Cluster
  mb:=heapOf(func()any{ c,_=Load(context.Background(),m,w); return c})
  fmt.Println(w.Records,time.Since(t0),mb,"MB",len(c.Segments))
  }
 }
 run(Want{Parts:model.PartAll})
 run(Want{Parts:model.PartAll,Records:true})
}

package simulate

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"
)

// MostTasks are under way at once at most: an open load that has more is saturated and is not simulated on, as it would use up memory. Sessions
// that would make more are refused: they can ask all at once.
const MostTasks = 1_000_000

// maxVectors bounds NQ, as Milvus does (proxy.maxNQ is 16384).
const maxVectors = 16384

func check(c *Cluster, l Load) error {
	if err := checkLoad(l); err != nil {
		return err
	}
	if len(c.Nodes) == 0 || len(c.Collections) == 0 {
		return errors.New("simulate a cluster: it has no nodes or no collections")
	}
	if c.Wire < 0 || c.Delay < 0 || c.Proxy < 0 || !(c.Proxies >= 0) || !(c.Warm >= 0 && c.Warm <= 1) || c.Proxies > 1<<20 {
		return errors.New("simulate a cluster: a time of its network or proxies, or their number, is negative")
	}
	for i := range c.Nodes {
		n := &c.Nodes[i]
		if !(n.Read.Cores > 0) || math.IsInf(n.Read.Cores, 0) {
			return fmt.Errorf("simulate a cluster: node %s has %v cores: the number must be known", n.name(), n.Read.Cores)
		}
		if !(n.Limit >= 0) || math.IsInf(n.Limit, 0) || n.Overhead < 0 || n.Outside < 0 || n.Lead < 0 || !(n.Warm >= 0 && n.Warm <= 1) || n.SegmentOverhead < 0 || n.Parallel < 0 || n.Period < 0 {
			return fmt.Errorf("simulate a cluster: node %s has a negative overhead, parallelism, limit of cores or period", n.name())
		}
	}
	var weight float64
	for i := range c.Collections {
		if err := checkCollection(&c.Collections[i], len(c.Nodes)); err != nil {
			return err
		}
		weight += c.Collections[i].Weight
	}
	if !(weight > 0) || math.IsInf(weight, 0) {
		return errors.New("simulate a cluster: no collection has a share of the load")
	}
	return nil
}

func checkLoad(l Load) error {
	switch {
	case (l.Rate > 0) == (l.Sessions > 0):
		return errors.New("simulate a load: it needs either a rate or sessions")
	case l.Rate < 0 || l.Rate > 1e9 || l.Sessions < 0 || l.Sessions > 1<<24:
		return fmt.Errorf("simulate a load: %v requests per second, %d sessions: the limits are a billion and 16 million", l.Rate, l.Sessions)
	case l.Duration <= 0 || l.Warmup < 0 || l.Think < 0 || l.Requests < 0:
		return fmt.Errorf("simulate a load: duration %v, warm-up %v, think time %v: duration must be positive, the others not negative", l.Duration, l.Warmup, l.Think)
	case l.Duration > 1000*time.Hour || l.Warmup > 1000*time.Hour:
		return fmt.Errorf("simulate a load: duration %v, warm-up %v: at most 1000 hours", l.Duration, l.Warmup)
	case l.NQ < 0 || l.NQ > maxVectors || l.K < 0:
		return fmt.Errorf("simulate a load: %d vectors a request, k %d: at most %d vectors", l.NQ, l.K, maxVectors)
	}
	return nil
}

func checkCollection(c *Collection, nodes int) error {
	if c.Weight < 0 || math.IsNaN(c.Weight) || !(c.Correlation >= 0 && c.Correlation <= 1) || len(c.Replicas) == 0 {
		return fmt.Errorf("simulate a cluster: collection %s: weight %v, correlation %v, %d replicas", c.Name, c.Weight, c.Correlation, len(c.Replicas))
	}
	for _, replica := range c.Replicas {
		if len(replica) == 0 {
			return fmt.Errorf("simulate a cluster: collection %s has a replica without shards", c.Name)
		}
		for i := range replica {
			s := &replica[i]
			if s.Leader < 0 || s.Leader >= nodes {
				return fmt.Errorf("simulate a cluster: collection %s: leader %d of %d nodes", c.Name, s.Leader, nodes)
			}
			for _, seg := range s.Segments {
				if seg.Node < 0 || seg.Node >= nodes || seg.Mean < 0 || seg.SD < 0 || !(seg.Batch >= 0) || math.IsInf(seg.Batch, 0) {
					return fmt.Errorf("simulate a cluster: collection %s: a segment on node %d of %d costs %v, spread %v, batch %v",
						c.Name, seg.Node, nodes, seg.Mean, seg.SD, seg.Batch)
				}
			}
		}
	}
	return nil
}

// name is what a message calls a node.
func (n *Node) name() string {
	if n.Name != "" {
		return n.Name
	}
	return strconv.FormatInt(n.ID, 10)
}

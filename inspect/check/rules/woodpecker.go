package rules

import (
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/model"
)

// eachLog calls f for the log of each pchannel. Logs of another Milvus in the same etcd are passed over, and a log that is not there is
// not seen. It skips the check as withoutWoodpecker says.
func eachLog(p *check.Pass, f func(*model.PChannel, *model.Log)) error {
	if skip, err := withoutWoodpecker(p); skip {
		return err
	}
	for _, x := range p.PChannels {
		switch l := p.Woodpecker.Log(x.Name); {
		case l != nil:
			f(x, l)
		case x.Checkpoint.Queue == woodpecker:
			p.Unseen("the log of " + x.Name + ": it has no record")
		}
	}
	return nil
}

// woodpecker is what mq.type calls it.
const woodpecker = "woodpecker"

// withoutWoodpecker ends a check of its logs where its metadata were not read: as skipped where the cluster may have some.
func withoutWoodpecker(p *check.Pass) (skip bool, err error) {
	switch {
	case p.Woodpecker != nil:
		return false, nil
	case p.Streaming == nil || usesAnother(p):
		return true, nil // before 2.6, or with another queue
	}
	return true, p.Skip("no metadata of Woodpecker were read: another queue is used, or the source does not have them")
}

// usesAnother reports whether checkpoints name a queue that is not Woodpecker.
func usesAnother(p *check.Pass) bool {
	for _, x := range p.PChannels {
		if q := x.Checkpoint.Queue; q != "" && q != woodpecker {
			return true
		}
	}
	return false
}

func refPChannel(name string) model.Ref {
	return model.Ref{Resource: "pchannels", ID: name, Name: name}
}

// logRetention is how long truncated messages are kept (woodpecker.logstore.retentionPolicy.ttl, or streaming.walTruncate.retentionInterval;
// Milvus pkg/util/paramtable/service_param.go).
func logRetention(p *check.Pass) time.Duration {
	const usual = 72 * time.Hour
	for _, key := range []string{"woodpecker.logstore.retentionPolicy.ttl", "streaming.walTruncate.retentionInterval"} {
		if s, ok := p.Setting(key, "streamingnode"); ok {
			if d, err := time.ParseDuration(s.Value); err == nil && d >= 0 {
				return d
			}
		}
	}
	return usual
}

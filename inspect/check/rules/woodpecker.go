package rules

import (
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/model"
)

// eachLog calls f for the log of each pchannel. It ignores logs of another Milvus in the same etcd, and notes a missing
// log as unseen if the pchannel's checkpoint is in Woodpecker. It skips the check as knowsWoodpecker does.
func eachLog(p *check.Pass, f func(*model.PChannel, *model.Log)) {
	if !knowsWoodpecker(p) {
		return
	}
	for _, x := range p.PChannels {
		switch l := p.Woodpecker.Log(x.Name); {
		case l != nil:
			f(x, l)
		case x.Checkpoint.Queue == woodpecker:
			p.NoteUnseen("the log of " + x.Name + ": it has no record")
		}
	}
}

// woodpecker is the value of mq.type for Woodpecker.
const woodpecker = "woodpecker"

// knowsWoodpecker reports whether Woodpecker's metadata was read. It skips the check if it was not read although the
// cluster may have some, i.e. since 2.6 and unless another queue is used.
func knowsWoodpecker(p *check.Pass) bool {
	if p.Woodpecker == nil && p.Streaming != nil && !usesAnother(p) {
		p.Skip("no Woodpecker metadata: another queue is used, or the source does not include it")
	}
	return p.Woodpecker != nil
}

// usesAnother reports whether a checkpoint names a queue other than Woodpecker.
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

// logRetention returns the retention of messages in the log (woodpecker.logstore.retentionPolicy.ttl, or
// streaming.walTruncate.retentionInterval; Milvus pkg/util/paramtable/service_param.go). The default is 72 hours.
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

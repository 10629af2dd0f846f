package channels

import (
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/model"
)

// eachLog calls f for the log of each pchannel. Logs of another Milvus in the same etcd are passed over. It skips the check where the
// cluster may have Woodpecker, and its metadata were not read.
func eachLog(p *check.Pass, f func(*model.PChannel, *model.Log)) error {
	if p.Woodpecker == nil {
		if p.Streaming == nil || usesAnother(p) {
			return nil // before 2.6, or with another queue
		}
		return p.Skip("no metadata of Woodpecker were read: another queue is used, or the source does not have them")
	}
	for _, x := range p.PChannels {
		if l := p.Woodpecker.Log(x.Name); l != nil {
			f(x, l)
		}
	}
	return nil
}

// usesAnother reports whether checkpoints name a queue that is not Woodpecker.
func usesAnother(p *check.Pass) bool {
	for _, x := range p.PChannels {
		if q := x.Checkpoint.Queue; q != "" && q != "woodpecker" {
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

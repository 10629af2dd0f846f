package session

import (
	"slices"
	"strings"
	"time"

	"kitescope/inspect/model"
)

// sameHealth ignores when etcd was asked and changes of size under a tenth, so that
// an idle cluster stays a still picture.
func sameHealth(a, b *model.Etcd) bool {
	if a == nil || b == nil {
		return a == b
	}
	if stalls(a) || stalls(b) {
		return false
	}
	if busy(a.Activity) || busy(b.Activity) || (a.Activity == nil) != (b.Activity == nil) {
		return false
	}
	return a.Problem == b.Problem && slices.Equal(a.Elsewhere, b.Elsewhere) && slices.EqualFunc(a.Members, b.Members, func(x, y model.EtcdMember) bool {
		return x.Name == y.Name && x.Endpoint == y.Endpoint && x.Version == y.Version && x.Leader == y.Leader && x.Learner == y.Learner &&
			x.Problem == y.Problem && slices.Equal(x.Errors, y.Errors) && near(x.DBSize, y.DBSize) && near(x.DBInUse, y.DBInUse)
	})
}

// stalls reports whether reads stalled: how long they took is news.
func stalls(e *model.Etcd) bool {
	n, _, _ := e.Stalls()
	return n > 0
}

// busy reports whether etcd is written to more often than an idle or normally working cluster
// does: what is written is worth a look then.
func busy(a *model.EtcdActivity) bool {
	const perSecond = 20
	return a != nil && a.Over > 0 && float64(a.Revisions)/a.Over.Seconds() > perSecond
}

// loops reports whether something was written of which each window counts: a loop may be a slow one. On a healthy cluster
// no key is written more often than once in 3 seconds, and watch records hardly ever.
func loops(a *model.EtcdActivity) bool {
	return busy(a) || a != nil && slices.ContainsFunc(a.Hot, func(k model.KeyWrites) bool { return k.Writes > 3 || strings.Contains(k.Key, "/channelwatch/") })
}

// loopPatience is for how long after that quiet windows count, too: they are its end.
const loopPatience = 2 * time.Minute

func near(a, b int64) bool { return max(a, b)-min(a, b) <= max(a, b)/10 }

package session

import (
	"slices"
	"strings"
	"time"

	"kitescope/inspect/model"
)

// sameHealth reports whether a and b show the same health. It ignores the query time and size changes of at most
// 10%, so that an idle cluster causes no updates.
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
	return a.Problem == b.Problem && slices.Equal(a.Elsewhere, b.Elsewhere) &&
		slices.EqualFunc(a.Members, b.Members, func(x, y model.EtcdMember) bool {
			return x.Name == y.Name && x.Endpoint == y.Endpoint && x.Version == y.Version && x.Leader == y.Leader &&
				x.Learner == y.Learner &&
				x.Problem == y.Problem && slices.Equal(x.Errors, y.Errors) && within10Percent(x.DBSize, y.DBSize) &&
				within10Percent(x.DBInUse, y.DBInUse)
		})
}

// stalls reports whether reads stalled. Their duration is worth an update.
func stalls(e *model.Etcd) bool {
	n, _, _ := e.Stalls()
	return n > 0
}

// busy reports whether etcd gets more than 20 revisions per second, more than from an idle or normally working
// cluster. The written keys are then worth an update.
func busy(a *model.EtcdActivity) bool {
	const perSecond = 20
	return a != nil && a.Over > 0 && float64(a.Revisions)/a.Over.Seconds() > perSecond
}

// loops reports whether keys were written that may belong to a loop, even a slow one, so that each window matters.
// On a healthy cluster no key is written more often than once in 3 seconds, and watch records are rarely written.
func loops(a *model.EtcdActivity) bool {
	return busy(a) ||
		a != nil &&
			slices.ContainsFunc(a.Hot, func(k model.KeyWrites) bool {
				return k.Writes > 3 || strings.Contains(k.Key, "/channelwatch/")
			})
}

// loopWindow is the time after a possible loop in which quiet windows matter too, because they show its end.
const loopWindow = 2 * time.Minute

func within10Percent(a, b int64) bool { return max(a, b)-min(a, b) <= max(a, b)/10 }

package session_test

import (
	"strings"
	"testing"
	"time"

	"kitescope/inspect/model"
)

// TestSlowLoopIsFollowed checks that a slow loop is shown when it begins and when it ends. A watch record written
// twice a second does not make etcd busy.
func TestSlowLoopIsFollowed(t *testing.T) {
	c, answers := loadCapture(t, "healthy-idle")
	f := follow()
	f.FeedDriver.OnCluster(c)
	f.OnAnswers(answers, c)
	key := "by-dev/meta/channelwatch/5/" + c.VChannels[0].Name
	look := func(writes int64) bool {
		a := &model.EtcdActivity{
			Over: 1500 * time.Millisecond, Revisions: 1 + writes, Writes: 1 + writes,
			Hot: []model.KeyWrites{{Key: "by-dev/kv/gid/timestamp", Writes: 1}},
		}
		if writes > 0 {
			a.Hot = append([]model.KeyWrites{{Key: key, Writes: writes}}, a.Hot...)
		}
		f.OnHealth(&model.Etcd{
			At:      time.Now(),
			Members: []model.EtcdMember{{Name: "a", Endpoint: "a:2379", Leader: true, DBSize: 30 << 20}}, Activity: a,
		})
		for _, x := range f.alarms() {
			if strings.HasPrefix(x, "watch-livelock ") {
				return true
			}
		}
		return false
	}
	for range 5 {
		if look(0) {
			t.Fatal("found before anything was written")
		}
	}
	for i := 0; !look(3); i++ {
		if i > 3 {
			t.Fatal("not found")
		}
	}
	for range 20 {
		if !look(3) {
			t.Fatal("it goes on, and is found no more")
		}
	}
	for i := 0; look(0); i++ {
		if i > 12 {
			t.Fatal("it has ended, and is still found")
		}
	}
}

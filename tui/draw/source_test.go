package draw

import (
	"testing"
)

func TestSource(t *testing.T) {
	for _, test := range []struct{ location, root, want string }{
		{"etcd://10.0.0.5:2379/by-dev", "by-dev", "by-dev @ 10.0.0.5:2379"},
		{"etcds://etcd.prod:2379", "by-dev", "by-dev @ etcd.prod:2379"},
		{"demo://by-dev", "by-dev", "by-dev @ demo"},
		{"/tmp/etcd_snapshot.db", "by-dev", "by-dev @ /tmp/etcd_snapshot.db"},
		{"profiles/before", "", "profiles/before"},
	} {
		if got := Source(test.location, test.root); got != test.want {
			t.Errorf("%s, %s: %q, want %q", test.location, test.root, got, test.want)
		}
	}
}

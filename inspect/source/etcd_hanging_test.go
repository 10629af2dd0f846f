package source_test

import (
	"errors"
	"testing"
	"time"

	"kitescope/inspect/live/livetest"
	"kitescope/inspect/source"
	"kitescope/inspect/source/sourcetest"
)

// TestHanging checks that an etcd that accepts a connection without responding is hanging. An unreachable
// address is not, because it may be wrong.
func TestHanging(t *testing.T) {
	t.Parallel()
	server := sourcetest.StartEtcd(t, nil)
	proxy := sourcetest.StartProxy(t, server.Address)
	proxy.Freeze()
	for address, hangs := range map[string]bool{
		proxy.Address: true, livetest.Refused(t): false, livetest.Blackhole(t): false,
		"no.such.host.invalid:2379": false,
	} {
		src := open(t, "etcd://"+address, source.Options{DialTimeout: 500 * time.Millisecond})
		t.Cleanup(func() { _ = src.Close() })
		_, err := src.Pin(t.Context())
		if _, is := errors.AsType[*source.HangingError](err); err == nil || is != hangs {
			t.Errorf("%s: %v", address, err)
		}
	}
}

// TestStalledReads checks that Health includes stalled reads, and that an etcd that stops responding within a window
// is hanging.
func TestStalledReads(t *testing.T) {
	t.Parallel()
	server := sourcetest.StartEtcd(t, nil)
	server.Load(t, []source.KV{{Key: []byte("by-dev/meta/session/id"), Value: []byte("7")}})
	slow := open(t, "etcd://"+livetest.Gate(t, server.Address, func() { time.Sleep(350 * time.Millisecond) }),
		source.Options{}).(source.Live)
	t.Cleanup(func() { _ = slow.Close() })
	health, err := slow.Health(t.Context())
	if n, _, longest := health.Stalls(); err != nil || health.Unresponsive() || n < 2 ||
		longest < 350*time.Millisecond {
		t.Fatalf("%+v, %v", health, err)
	}
	proxy := sourcetest.StartProxy(t, server.Address)
	src := open(t, "etcd://"+proxy.Address, source.Options{RequestTimeout: 2500 * time.Millisecond}).(source.Live)
	t.Cleanup(func() { _ = src.Close() })
	if err := src.Alive(t.Context()); err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(300*time.Millisecond, proxy.Freeze)
	if _, err := src.Activity(t.Context(), time.Second); err == nil {
		t.Error("there is an activity")
	} else if _, is := errors.AsType[*source.HangingError](err); !is {
		t.Error(err)
	}
}

package source_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"kitescope/inspect/source"
	"kitescope/inspect/source/sourcetest"
)

// openEtcd opens a live etcd until the test ends.
func openEtcd(t *testing.T, from string, opts source.Options) *source.Etcd {
	t.Helper()
	src := open(t, from, opts).(*source.Etcd)
	t.Cleanup(func() { _ = src.Close() })
	return src
}

// writer calls each repeatedly until stop is called. stop returns the number of calls.
func writer(t *testing.T, client *clientv3.Client, each func(ctx context.Context, i int) error) (stop func() int) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan int)
	go func() {
		i := 0
		for ; ctx.Err() == nil; i++ {
			if err := each(ctx, i); err != nil {
				break
			}
		}
		done <- i
	}()
	return func() int {
		cancel()
		return <-done
	}
}

func TestActivityCountsWhatIsWritten(t *testing.T) {
	server := sourcetest.StartEtcd(t, nil)
	put := func(ctx context.Context, key string) error {
		_, err := server.Client.Put(ctx, key, "x")
		return err
	}
	if err := put(t.Context(), "by-dev/meta/session/id"); err != nil {
		t.Fatal(err)
	}
	src := openEtcd(t, "etcd://"+server.Address, source.Options{})

	quiet, err := src.Activity(t.Context(), 50*time.Millisecond)
	if err != nil || quiet.Revisions != 0 || quiet.Writes != 0 || quiet.Hot != nil {
		t.Errorf("nothing written: %+v, %v", quiet, err)
	}

	// Write one key repeatedly, others once each, a deletion, and keys outside the root.
	stop := writer(t, server.Client, func(ctx context.Context, i int) error {
		keys := []string{
			"by-dev/meta/channelwatch/1/hot", "by-dev/meta/channelwatch/1/hot", fmt.Sprintf("by-dev/meta/s/%d", i),
			"other/root",
		}
		for _, key := range keys {
			if err := put(ctx, key); err != nil {
				return err
			}
		}
		_, err := server.Client.Delete(ctx, fmt.Sprintf("by-dev/meta/s/%d", i))
		return err
	})
	a, err := src.Activity(t.Context(), 500*time.Millisecond)
	rounds := stop()
	if err != nil {
		t.Fatal(err)
	}
	if a.Over < 500*time.Millisecond || a.Over > 5*time.Second {
		t.Errorf("watched for %s", a.Over)
	}
	// Four of five revisions in a round are under the root. The ends of the window split rounds.
	if a.Revisions < 10 || a.Revisions > int64(5*rounds+5) {
		t.Errorf("%d revisions in at most %d rounds", a.Revisions, rounds)
	}
	if low, high := a.Revisions*4/5-4, a.Revisions*4/5+4; a.Writes < low || a.Writes > high {
		t.Errorf("%d writes of %d revisions, want %d to %d", a.Writes, a.Revisions, low, high)
	}
	if len(a.Hot) != 10 || !a.More || a.Hot[0].Key != "by-dev/meta/channelwatch/1/hot" ||
		a.Hot[0].Writes < a.Writes/2-2 || a.Hot[0].Writes > a.Writes/2+2 {
		t.Errorf("hot keys of %d writes: %v", a.Writes, a.Hot)
	}
	for _, k := range a.Hot {
		if !strings.HasPrefix(k.Key, "by-dev/") {
			t.Errorf("a key of another root: %v", k)
		}
	}
}

func TestActivityOfAnAccountThatMayNotWatch(t *testing.T) {
	server, _ := authServer(t, map[string][]grant{
		"part": {prefix("by-dev/meta/root-coord/"), {"by-dev/meta/session/id", ""}},
		"key":  {{"by-dev/meta/session/id", ""}, {"by-dev/meta/session/rootcoord", ""}},
		"none": nil,
	})
	as := func(user string) *source.Etcd {
		return openEtcd(t, "etcd://"+server.Address+"/by-dev", source.Options{Username: user, Password: "secret"})
	}
	root, err := clientv3.New(clientv3.Config{
		Endpoints: []string{"http://" + server.Address}, Username: "root", Password: "rootpw", Logger: zap.NewNop(),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for _, test := range []struct {
		user string
		want []string
	}{
		{"part", []string{"by-dev/meta/root-coord/x", "by-dev/meta/session/id"}}, // only permitted keys are counted
		{"key", []string{"by-dev/meta/session/id"}},
	} {
		stop := writer(t, root, func(ctx context.Context, _ int) error {
			for _, key := range []string{
				"by-dev/meta/root-coord/x", "by-dev/meta/datacoord-meta/y", "by-dev/meta/session/id",
			} {
				if _, err := root.Put(ctx, key, "1"); err != nil {
					return err
				}
			}
			return nil
		})
		var got []string
		// On a busy machine a short window may contain only one key.
		for window := 300 * time.Millisecond; len(got) < len(test.want) && window < 5*time.Second; window *= 2 {
			a, err := as(test.user).Activity(t.Context(), window)
			if err != nil || a.Revisions == 0 || a.More {
				t.Errorf("%s: %+v, %v", test.user, a, err)
			}
			got = nil
			for _, k := range a.Hot {
				got = append(got, k.Key)
			}
		}
		stop()
		slices.Sort(got) // both are written about equally often
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s: keys (-want +got):\n%s", test.user, diff)
		}
	}
	if _, err := as("none").Activity(t.Context(), 50*time.Millisecond); err == nil {
		t.Error("an account without any right learned something")
	}
}

func TestActivityEndsWithItsContext(t *testing.T) {
	server := sourcetest.StartEtcd(t, nil)
	if _, err := server.Client.Put(t.Context(), "by-dev/meta/session/id", "1"); err != nil {
		t.Fatal(err)
	}
	src := openEtcd(t, "etcd://"+server.Address, source.Options{})
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	start := time.Now()
	_, err := src.Activity(ctx, time.Minute)
	if !errors.Is(err, context.DeadlineExceeded) || time.Since(start) > 5*time.Second {
		t.Errorf("after %s: %v", time.Since(start), err)
	}
}

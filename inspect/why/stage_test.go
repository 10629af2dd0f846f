package why_test

import (
	"encoding/binary"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/milvus-io/milvus-proto/go-api/v3/msgpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/protobuf/proto"

	"kitescope/inspect/check/faulttest"
	"kitescope/inspect/model"
	"kitescope/inspect/source"
	"kitescope/inspect/source/sourcetest"
)

// etcdCluster holds the keys of a cluster in a real etcd, below its own root, with a clock that the test advances.
// About every three seconds Milvus reserves timestamps and a random unrelated change may happen. Checkpoints
// move every tenth time.
type etcdCluster struct {
	t         *testing.T
	server    *sourcetest.Server
	root      string
	now       time.Time
	random    *rand.Rand
	keys      map[string][]byte // by the key relative to root
	faultKeys map[string]bool   // keys that a fault changed; advance does not write them
	last      int64
	ticks     int
}

func newEtcdCluster(
	t *testing.T, server *sourcetest.Server, root string, b *faulttest.Base, start time.Time, seed uint64,
) *etcdCluster {
	t.Helper()
	s := &etcdCluster{
		t: t, server: server, root: root, now: start, random: rand.New(rand.NewPCG(seed, 7)), keys: map[string][]byte{},
		faultKeys: map[string]bool{},
	}
	var kvs []source.KV
	for _, kv := range b.Keys() {
		s.keys[string(kv.Key)] = kv.Value
		if string(kv.Key) == allocator {
			kv.Value = s.reservedTimestamp()
		}
		kv.Key = []byte(root + "/" + string(kv.Key))
		kvs = append(kvs, kv)
	}
	server.Load(t, kvs)
	return s
}

const allocator = "kv/gid/timestamp"

func (s *etcdCluster) reservedTimestamp() []byte {
	return binary.BigEndian.AppendUint64(nil, uint64(s.now.Add(3*time.Second).UnixNano()))
}

// write writes keys in transactions of at most 120 operations. Each transaction is one revision. A nil value
// deletes the key.
func (s *etcdCluster) write(changes map[string][]byte) {
	s.t.Helper()
	var ops []clientv3.Op
	for _, key := range slices.Sorted(maps.Keys(changes)) {
		value := changes[key]
		if s.keys[key] = value; value == nil {
			delete(s.keys, key)
			ops = append(ops, clientv3.OpDelete(s.root+"/"+key))
			continue
		}
		ops = append(ops, clientv3.OpPut(s.root+"/"+key, string(value)))
	}
	for part := range slices.Chunk(ops, 120) { // etcd allows 128
		answer, err := s.server.Client.Txn(s.t.Context()).Then(part...).Commit()
		if err != nil {
			s.t.Fatal(err)
		}
		s.last = answer.Header.Revision
	}
}

// advance advances the clock by at least d, in ticks of about 3 s.
func (s *etcdCluster) advance(d time.Duration) {
	s.t.Helper()
	for end := s.now.Add(d); s.now.Before(end); {
		s.now = s.now.Add(3*time.Second + time.Duration(s.random.IntN(60))*time.Millisecond)
		s.write(map[string][]byte{allocator: s.reservedTimestamp()})
		if s.ticks++; s.ticks%10 == 0 {
			s.moveCheckpoints()
		}
		s.randomChange()
	}
}

func (s *etcdCluster) moveCheckpoints() {
	moved := map[string][]byte{}
	for key, value := range s.keys {
		if !strings.HasPrefix(key, "meta/datacoord-meta/channel-cp/") || s.faultKeys[key] {
			continue
		}
		m := new(msgpb.MsgPosition)
		if err := proto.Unmarshal(value, m); err != nil || m.GetTimestamp() == uint64(model.MaxTSO) {
			continue
		}
		m.Timestamp = uint64(model.TSOFromTime(s.now))
		next, err := proto.Marshal(m)
		if err != nil {
			s.t.Fatal(err)
		}
		moved[key] = next
	}
	if len(moved) > 0 {
		s.write(moved)
	}
}

// randomChange makes a random change, or none, that is unrelated to any fault.
func (s *etcdCluster) randomChange() {
	pick := func(prefix string) (string, []byte) {
		var list []string
		for key := range s.keys {
			if strings.HasPrefix(key, prefix) && !s.faultKeys[key] {
				list = append(list, key)
			}
		}
		if len(list) == 0 {
			return "", nil
		}
		slices.Sort(list)
		key := list[s.random.IntN(len(list))]
		return key, s.keys[key]
	}
	switch s.random.IntN(8) {
	case 0:
		if key, value := pick("meta/channelwatch/"); key != "" {
			s.write(map[string][]byte{key: value})
		}
	case 1:
		s.write(map[string][]byte{"config/log/level": []byte([]string{"info", "debug", "warn"}[s.ticks%3])})
	case 2:
		if key, value := pick("meta/datacoord-meta/s/"); key != "" {
			s.write(map[string][]byte{key: value})
		}
	case 3:
		name := fmt.Sprintf("meta/root-coord/credential/users/noise-%d", s.ticks)
		s.write(map[string][]byte{name: []byte(`{"username":"noise"}`)})
	case 4: // another proxy starts, or stops if it runs
		const proxy = "meta/session/proxy-9999"
		if s.keys[proxy] != nil {
			s.write(map[string][]byte{proxy: nil})
		} else if _, like := pick("meta/session/proxy-"); like != nil {
			s.write(map[string][]byte{proxy: []byte(strings.Replace(string(like), `"ServerID":`, `"ServerID":999`, 1))})
		}
	}
}

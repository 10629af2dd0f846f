package msgid_test

import (
	"encoding/base64"
	"encoding/binary"
	"slices"
	"testing"

	"google.golang.org/protobuf/proto"

	"kitescope/inspect/meta/legacypb"
	"kitescope/inspect/msgid"
)

// The bytes are what Woodpecker's own Serialize gives (tools/woodpecker writes them into testdata/woodpecker); the
// message here is generated of its proto.
func TestWoodpecker(t *testing.T) {
	for _, at := range [][2]int64{{0, 0}, {3, 4}, {0, 7}, {12, 0}, {1 << 40, 9_999_999}} {
		want, err := proto.Marshal(&legacypb.LogMessageIdData{SegId: at[0], EntryId: at[1]})
		if err != nil {
			t.Fatal(err)
		}
		id := msgid.ID{Queue: msgid.Woodpecker, Segment: at[0], Entry: at[1]}
		if string(id.Bytes()) != string(want) {
			t.Errorf("%v: %x, Woodpecker writes %x", id, id.Bytes(), want)
		}
		if got := msgid.FromBytes(want); len(got) == 0 || got[0] != id {
			t.Errorf("%x is %v, not %v", want, got, id)
		}
	}
}

// 08b9601018 18ffff..: of a Pulsar's consumer, as pulsar-client-go serializes it: ledger, entry, partition, batch,
// batch size.
func TestPulsar(t *testing.T) {
	id := msgid.ID{Queue: msgid.Pulsar, Ledger: 12345, Entry: 24, Partition: -1, Batch: 3, BatchSize: 10}
	list := msgid.FromText(id.Text())
	if len(list) != 1 || list[0].ID != id || list[0].Form != msgid.FormBase64 {
		t.Errorf("%q is %+v", id.Text(), list)
	}
	if id.String() != "12345/24/3" {
		t.Error(id.String())
	}
	// Without the optional fields it may be Woodpecker's as well.
	short := msgid.FromBytes([]byte{0x08, 0x05, 0x10, 0x07})
	if len(short) != 2 || short[0].String() != "5/7" || short[1].String() != "5/7/-1" {
		t.Errorf("%+v", short)
	}
}

func TestOffsets(t *testing.T) {
	want := msgid.ID{Queue: msgid.Kafka, Offset: 449_123}
	raw := binary.LittleEndian.AppendUint64(nil, 449_123)
	if string(want.Bytes()) != string(raw) {
		t.Errorf("%x, a checkpoint has %x", want.Bytes(), raw)
	}
	for _, text := range []string{"449123", "0x63da060000000000", base64.StdEncoding.EncodeToString(raw), want.Text()} {
		if list := msgid.Filter(msgid.FromText(text), msgid.Kafka); !slices.ContainsFunc(list,
			func(r msgid.Reading) bool { return r.ID == want }) {
			t.Errorf("%q is %+v", text, list)
		}
	}
}

func TestNoMessageID(t *testing.T) {
	for _, text := range []string{"", "hello world", "1/2/3/4/5", "0xzz", "-5", "1/x", "=====", "0x0a03616263"} {
		if list := msgid.FromText(text); len(list) != 0 {
			t.Errorf("%q is %+v", text, list)
		}
	}
}

func FuzzFromText(f *testing.F) {
	for _, seed := range []string{"CAMQBA==", "12/34", "0x0803", "zik0zj", "449123"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, r := range msgid.FromText(text) {
			again := msgid.Filter(msgid.FromText(r.Text()), r.Queue)
			if len(r.Text()) > 0 && !slices.ContainsFunc(again, func(x msgid.Reading) bool { return x.ID == r.ID }) {
				t.Errorf("%q is %+v, whose text %q is %+v", text, r, r.Text(), again)
			}
		}
	})
}

package meta

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/milvus-io/milvus/pkg/v3/proto/messagespb"
	"github.com/milvus-io/milvus/pkg/v3/proto/streamingpb"
	"google.golang.org/protobuf/proto"
)

// TestBroadcastMissingChannels checks that the channels come from the message's header, in the order of the
// acknowledgements, and that no channel is named if the header does not match the acknowledgements.
func TestBroadcastMissingChannels(t *testing.T) {
	header := func(channels ...string) string {
		b, err := proto.Marshal(&messagespb.BroadcastHeader{BroadcastId: 77, Vchannels: channels})
		if err != nil {
			t.Fatal(err)
		}
		return base64.StdEncoding.EncodeToString(b)
	}
	long := strings.Repeat("x", 2*maxName)
	for name, x := range map[string]struct {
		header string
		want   []string
	}{
		"all named":      {header("dml_0_vcchan", "dml_1_10v0", "dml_2_10v1"), []string{"dml_0_vcchan", "dml_2_10v1"}},
		"too few":        {header("dml_0_vcchan"), nil},
		"none":           {"", nil},
		"no base64":      {"%%%", nil},
		"no message":     {"/////w==", nil},
		"a name of 2 KB": {header(long, "b", "c"), []string{truncateName(long), "c"}},
	} {
		got := broadcastTask(&fact{ids: [maxIDs]int64{77}, value: &streamingpb.BroadcastTask{
			Message: &messagespb.Message{
				Properties: map[string]string{"_t": "5", broadcastHeaderProperty: x.header},
			},
			AckedCheckpoints: []*streamingpb.AckedCheckpoint{{}, {TimeTick: 5}, {}},
		}})
		if diff := cmp.Diff(x.want, got.Unacknowledged); diff != "" || got.Progress != "1/3 acknowledged" ||
			(len(got.Details) == 1) != (x.want != nil) {
			t.Errorf("%s: %s, %v, %s", name, got.Progress, got.Details, diff)
		}
	}
}

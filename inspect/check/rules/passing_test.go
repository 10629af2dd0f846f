package rules

import (
	"slices"
	"strings"
	"testing"

	"github.com/milvus-io/milvus-proto/go-api/v3/commonpb"
	"github.com/milvus-io/milvus/pkg/v3/proto/datapb"
	"github.com/milvus-io/milvus/pkg/v3/proto/etcdpb"
	"github.com/milvus-io/milvus/pkg/v3/proto/streamingpb"

	"kitescope/inspect/model"
)

// TestPassingStates: every state of Milvus that a record leaves has a limit, but for drops that nothing dates. Importing is judged by
// import-stuck.
func TestPassingStates(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		resource, prefix string
		names            map[int32]string
		stays            string
	}{
		{"segments", "", commonpb.SegmentState_name, "SegmentStateNone NotExist Growing Flushed Dropped Importing"},
		{"vchannels", "", datapb.ChannelWatchState_name, "WatchSuccess Complete"},
		{"vchannels", "PCHANNEL_META_STATE_", streamingpb.PChannelMetaState_name, "Unknown Uninitialized Assigned Unavailable"},
		{"collections", "Collection", etcdpb.CollectionState_name, "Created Dropped"},
		{"databases", "Database", etcdpb.DatabaseState_name, "Unknown Created Dropped Dropping"},
		{"aliases", "Alias", etcdpb.AliasState_name, "Created Dropped Dropping"},
		{"partitions", "Partition", etcdpb.PartitionState_name, "Created Dropped Dropping"},
	} {
		for _, name := range x.names {
			state := strings.TrimPrefix(name, x.prefix)
			if strings.HasSuffix(x.prefix, "_") {
				state = model.EnumWord(name, x.prefix)
			}
			limited := slices.ContainsFunc(passingStates(), func(p passing) bool { return p.resource == x.resource && slices.Contains(p.states, state) })
			if limited == slices.Contains(strings.Fields(x.stays), state) {
				t.Errorf("%s in state %s: has a limit is %v", x.resource, state, limited)
			}
		}
	}
}

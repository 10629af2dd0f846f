package meta

import (
	"cmp"
	"encoding/base64"
	"slices"
	"strings"
	"time"

	"github.com/milvus-io/milvus-proto/go-api/v3/commonpb"
	"github.com/milvus-io/milvus-proto/go-api/v3/msgpb"
	"github.com/milvus-io/milvus/pkg/v3/proto/datapb"
	"github.com/milvus-io/milvus/pkg/v3/proto/streamingpb"

	"kitescope/inspect/model"
	"kitescope/inspect/msgid"
	"kitescope/internal/redact"
)

// channelSet collects channels from all records that name them.
type channelSet struct {
	vchannels map[string]*model.VChannel
	pchannels map[string]*model.PChannel
}

func (c *channelSet) vchannel(name string) *model.VChannel {
	v := c.vchannels[name]
	if v == nil {
		v = &model.VChannel{Name: name, Shard: -1}
		v.PChannel, v.Collection = model.SplitVChannel(name)
		c.vchannels[name] = v
		c.pchannel(v.PChannel)
	}
	return v
}

func (c *channelSet) pchannel(name string) *model.PChannel {
	p := c.pchannels[name]
	if p == nil {
		p = &model.PChannel{Name: name}
		c.pchannels[name] = p
	}
	return p
}

// channels assembles the channels that collections list, and the channels that only a checkpoint, a watch or a
// removal mark names.
func (s *state) channels(collections []*model.Collection) ([]*model.VChannel, []*model.PChannel) {
	c := &channelSet{vchannels: make(map[string]*model.VChannel), pchannels: make(map[string]*model.PChannel)}
	for _, x := range collections {
		for i, name := range x.VChannels {
			v := c.vchannel(name)
			v.Collection, v.Shard = x.ID, i
			if i < len(x.TruncatedAt) {
				v.TruncatedAt = x.TruncatedAt[i]
			}
			if i < len(x.PChannels) && x.PChannels[i] != v.PChannel {
				v.PChannel = x.PChannels[i]
				c.pchannel(v.PChannel)
			}
		}
	}
	s.each(kindChannelCheckpoint, func(f *fact) {
		c.vchannel(f.names[0]).Checkpoint = checkpoint(f.value.(*msgpb.MsgPosition))
	})
	s.each(kindChannelRemoval, func(f *fact) { c.vchannel(f.names[0]).Removal = f.value.(string) })
	s.addWatches(c)
	s.addStreaming(c)
	return values(c.vchannels), values(c.pchannels)
}

func checkpoint(m *msgpb.MsgPosition) model.Checkpoint {
	queue := queueName(m.GetWALName())
	return model.Checkpoint{
		At: model.TSO(m.GetTimestamp()), Message: m.GetMsgID(), PChannel: m.GetChannelName(), Queue: queue,
		Entry: logEntry(queue, m.GetMsgID()),
	}
}

// walCheckpoint converts a streaming node's checkpoint, which holds the message id as text.
func walCheckpoint(pchannel string, m *streamingpb.WALCheckpoint) model.Checkpoint {
	id, queue := m.GetMessageId().GetId(), queueName(m.GetMessageId().GetWALName())
	raw, _ := base64.StdEncoding.DecodeString(id) // an invalid id yields no entry
	return model.Checkpoint{
		At: model.TSO(m.GetTimeTick()), Message: storedID(queue, id), PChannel: pchannel, Queue: queue,
		Entry: logEntry(queue, raw),
	}
}

// storedID converts a streaming node's message id to the form of a vchannel's checkpoint if the queue numbers
// messages (Kafka, RocksMQ). Otherwise it returns the text.
func storedID(queue, id string) []byte {
	if queue == string(msgid.Kafka) || queue == string(msgid.RocksMQ) {
		for _, x := range msgid.Filter(msgid.FromText(id), msgid.Queue(queue)) {
			if x.Form == msgid.FormBase36 {
				return x.Bytes()
			}
		}
	}
	return []byte(id)
}

// queueName returns the name that mq.type uses for a queue, or "" if the record has no queue.
func queueName(w commonpb.WALName) string {
	if w == commonpb.WALName_Unknown {
		return ""
	}
	return strings.ToLower(w.String())
}

// logEntry decodes a message id of Woodpecker. It returns nil if the queue is another one or the id is invalid.
func logEntry(queue string, id []byte) *model.LogPosition {
	if queue != string(msgid.Woodpecker) {
		return nil
	}
	for _, x := range msgid.FromBytes(id) {
		if x.Queue == msgid.Woodpecker {
			return &model.LogPosition{Segment: x.Segment, Entry: x.Entry}
		}
	}
	return nil
}

// addWatches adds the data node that consumes each vchannel. If there are several watchers, a watcher in state
// WatchSuccess becomes the Watcher; the rest are a problem and go to OtherWatchers.
func (s *state) addWatches(c *channelSet) {
	watches := make(map[string][]*fact)
	s.each(kindChannelWatch, func(f *fact) { watches[f.names[0]] = append(watches[f.names[0]], f) })
	success := func(f *fact) int {
		if f.value.(*datapb.ChannelWatchInfo).GetState() == datapb.ChannelWatchState_WatchSuccess {
			return 0
		}
		return 1
	}
	for name, list := range watches {
		slices.SortFunc(list, func(a, b *fact) int {
			return cmp.Or(cmp.Compare(success(a), success(b)), cmp.Compare(b.mod, a.mod),
				cmp.Compare(a.ids[0], b.ids[0]))
		})
		v := c.vchannel(name)
		for _, f := range list {
			v.Watches = append(v.Watches, model.WatchRecord{
				Key: f.key, Node: model.NodeID(f.ids[0]), Progress: f.value.(*datapb.ChannelWatchInfo).GetProgress(),
				Version: f.version, Created: f.created, Modified: f.mod,
			})
		}
		slices.SortFunc(v.Watches, func(a, b model.WatchRecord) int { return cmp.Compare(a.Node, b.Node) })
		v.Watched, v.Watcher = true, model.NodeID(list[0].ids[0])
		info := list[0].value.(*datapb.ChannelWatchInfo)
		v.WatchState, v.WatchedAt = info.GetState().String(), wallTimeSigned(info.GetStartTs())
		for _, f := range list[1:] {
			v.OtherWatchers = append(v.OtherWatchers, model.NodeID(f.ids[0]))
			v.OtherStates = append(v.OtherStates, f.value.(*datapb.ChannelWatchInfo).GetState().String())
		}
	}
}

// addStreaming adds the records of 2.6: the streaming node of each pchannel, and the state of pchannels and
// vchannels on it.
func (s *state) addStreaming(c *channelSet) {
	s.each(kindWALVChannel, func(f *fact) {
		v, m := c.vchannel(f.names[1]), f.value.(*streamingpb.VChannelMeta)
		v.State, v.StreamedAt = model.EnumWord(m.GetState().String(), "VCHANNEL_STATE_"),
			model.TSO(m.GetCheckpointTimeTick())
		v.Schemas += len(m.GetCollectionInfo().GetSchemas())
	})
	s.each(kindWALSchema, func(f *fact) { c.vchannel(f.names[1]).Schemas++ })
	s.each(kindWALCheckpoint, func(f *fact) {
		m, p := f.value.(*streamingpb.WALCheckpoint), c.pchannel(f.names[0])
		p.Checkpoint, p.Alter = walCheckpoint(f.names[0], m), alteration(m.GetAlterWalState())
		for _, x := range m.GetReplicateConfig().GetCrossClusterTopology() {
			p.Replication = append(p.Replication, x.GetSourceClusterId()+">"+x.GetTargetClusterId())
		}
		if r := m.GetReplicateCheckpoint(); r != nil {
			position := replicatePosition(r)
			p.Replicated = &position
		}
	})
	s.each(kindWALSalvage, func(f *fact) {
		p := c.pchannel(f.names[0])
		p.Salvaged = append(p.Salvaged, replicatePosition(f.value.(*commonpb.ReplicateCheckpoint)))
	})
	s.each(kindPChannel, func(f *fact) {
		m := f.value.(*streamingpb.PChannelMeta)
		p := c.pchannel(f.names[0])
		p.Streaming = true
		p.State = model.EnumWord(m.GetState().String(), "PCHANNEL_META_STATE_")
		p.Term = m.GetChannel().GetTerm()
		p.AccessMode = accessMode(m.GetChannel().GetAccessMode())
		if m.GetState() != streamingpb.PChannelMetaState_PCHANNEL_META_STATE_UNINITIALIZED {
			p.Node = model.NodeID(m.GetNode().GetServerId())
		}
		p.AssignedAt = unixSeconds(m.GetLastAssignTimestampSeconds())
		for _, x := range m.GetHistories() {
			p.Past = append(p.Past, model.Assignment{
				Term: x.GetTerm(), Node: model.NodeID(x.GetNode().GetServerId()),
				AccessMode: accessMode(x.GetAccessMode()),
			})
		}
	})
	for _, v := range c.vchannels {
		p := c.pchannels[v.PChannel]
		if v.Watched || !p.Streaming || p.Node == 0 {
			continue // before 2.6, or a data node still has it (upgrade)
		}
		v.Watched, v.Watcher, v.WatchState = true, p.Node, p.State
	}
}

// accessMode returns ReadWrite or ReadOnly, because Milvus's enum names have no underscore between the two words.
func accessMode(m streamingpb.PChannelAccessMode) string {
	switch m {
	case streamingpb.PChannelAccessMode_PCHANNEL_ACCESS_READWRITE:
		return "ReadWrite"
	case streamingpb.PChannelAccessMode_PCHANNEL_ACCESS_READONLY:
		return "ReadOnly"
	}
	return model.EnumWord(m.String(), "PCHANNEL_ACCESS_")
}

func replicatePosition(m *commonpb.ReplicateCheckpoint) model.ReplicatePosition {
	return model.ReplicatePosition{
		Cluster: m.GetClusterId(), PChannel: m.GetPchannel(), Message: m.GetMessageId().GetId(),
		At: model.TSO(m.GetTimeTick()),
	}
}

// alteration formats a change of the message queue, e.g. "woodpecker: FLUSHING".
func alteration(m *streamingpb.AlterWALState) string {
	if m.GetStage() == streamingpb.AlterWALStage_NONE {
		return ""
	}
	text := queueName(m.GetTargetWalName()) + ": " + m.GetStage().String()
	if t := model.TSO(m.GetTimeTick()); t != 0 {
		text += " since " + t.Time().Format(time.RFC3339)
	}
	return text
}

// streaming assembles the records of the streaming coordinator, nil before 2.6.
func (s *state) streaming() *model.Streaming {
	var out model.Streaming
	found := false
	s.each(kindStreamingVersion, func(f *fact) {
		out.Version, found = f.value.(*streamingpb.StreamingVersion).GetVersion(), true
	})
	s.each(kindControlChannel, func(f *fact) {
		out.ControlPChannel, found = f.value.(*streamingpb.CChannelMeta).GetPchannel(), true
	})
	s.each(kindPChannel, func(*fact) { found = true })
	s.each(kindReplicateConfig, func(f *fact) {
		found = true
		m := f.value.(*streamingpb.ReplicateConfigurationMeta)
		config := m.GetReplicateConfiguration()
		out.ForcePromoted, out.ConfigAcks = m.GetForcePromoted(), configAcks(m.GetAckedResult())
		for _, x := range config.GetClusters() {
			out.Clusters = append(out.Clusters, model.ReplicationCluster{
				ID: x.GetClusterId(), URI: redact.Text(x.GetConnectionParam().GetUri()), PChannels: x.GetPchannels(),
			})
		}
		for _, x := range config.GetCrossClusterTopology() {
			out.Links = append(out.Links, model.ReplicationLink{
				Source: x.GetSourceClusterId(), Target: x.GetTargetClusterId(),
			})
		}
	})
	s.each(kindReplicatePChannel, func(f *fact) {
		m := f.value.(*streamingpb.ReplicatePChannelMeta)
		found = true
		out.Channels = append(out.Channels, model.ReplicationChannel{
			Source: m.GetSourceChannelName(), Target: m.GetTargetChannelName(),
			Cluster:   m.GetTargetCluster().GetClusterId(),
			StartedAt: model.TSO(m.GetInitializedCheckpoint().GetTimeTick()),
			Start:     m.GetInitializedCheckpoint().GetMessageId().GetId(),
			FromStart: m.GetSkipGetReplicateCheckpoint(),
		})
	})
	if !found {
		return nil
	}
	slices.SortFunc(out.Channels, func(a, b model.ReplicationChannel) int {
		return cmp.Or(cmp.Compare(a.Cluster, b.Cluster), cmp.Compare(a.Source, b.Source))
	})
	return &out
}

// configAcks pairs the channels of a configuration, in record order, with their acknowledged checkpoints. Either
// list may be longer if the record is damaged.
func configAcks(m *streamingpb.AckedResult) (list []model.ConfigAck) {
	names, acked := m.GetChannels(), m.GetAckedCheckpoints()
	for i := range max(len(names), len(acked)) {
		var x model.ConfigAck
		if i < len(names) {
			x.Channel = truncateName(names[i])
		}
		if i < len(acked) {
			x.At = model.TSO(acked[i].GetTimeTick())
		}
		list = append(list, x)
	}
	return list
}

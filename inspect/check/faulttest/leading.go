package faulttest

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/milvus-io/milvus-proto/go-api/v3/commonpb"
	"github.com/milvus-io/milvus-proto/go-api/v3/milvuspb"
	"github.com/milvus-io/milvus/pkg/v3/proto/querypb"
	"google.golang.org/protobuf/proto"
)

// lead implements "lead VCHANNEL on NODE": the shard's leader, its view and its growing rows move to a node.
func (w *World) lead(args []word) error {
	channel := args[0].text
	return w.redistribute(func(d distributions) error {
		to, err := d.node(args[2].text)
		if err != nil {
			return err
		}
		for _, x := range d {
			i := leads(x, channel)
			if i < 0 {
				continue
			}
			to.LeaderViews = append(to.GetLeaderViews(), x.GetLeaderViews()[i])
			x.LeaderViews = slices.Delete(x.GetLeaderViews(), i, i+1)
			if j := watches(x, channel); j >= 0 {
				to.Channels = append(to.GetChannels(), x.GetChannels()[j])
				x.Channels = slices.Delete(x.GetChannels(), j, j+1)
			}
			return w.leaderIs(channel, to.GetNodeID())
		}
		return fmt.Errorf("no node leads %s", channel)
	})
}

// leads and watches return the position of a channel in a node's response, or -1.
func leads(x *querypb.GetDataDistributionResponse, channel string) int {
	return slices.IndexFunc(x.GetLeaderViews(), func(v *querypb.LeaderView) bool { return v.GetChannel() == channel })
}

func watches(x *querypb.GetDataDistributionResponse, channel string) int {
	return slices.IndexFunc(x.GetChannels(), func(c *querypb.ChannelVersionInfo) bool {
		return c.GetChannel() == channel
	})
}

// leadTwice implements "twolead VCHANNEL on NODE TIME": a second node also leads the shard since TIME.
func (w *World) leadTwice(args []word) error {
	channel := args[0].text
	at, err := w.at(args[3].text)
	if err != nil {
		return err
	}
	return w.redistribute(func(d distributions) error {
		to, err := d.node(args[2].text)
		if err != nil {
			return err
		}
		for _, x := range d {
			i, j := leads(x, channel), watches(x, channel)
			if i < 0 || j < 0 {
				continue
			}
			if x == to {
				return fmt.Errorf("%s leads %s already", args[2].text, channel)
			}
			second := proto.Clone(x.GetChannels()[j]).(*querypb.ChannelVersionInfo)
			second.Version = at.UnixNano()
			to.LeaderViews = append(to.GetLeaderViews(), proto.Clone(x.GetLeaderViews()[i]).(*querypb.LeaderView))
			to.Channels = append(to.GetChannels(), second)
			return nil
		}
		return fmt.Errorf("no node leads %s", channel)
	})
}

// takeOver implements "takeover NODE": a query node is gone, its session has ended, and QueryCoord has moved
// all its segments and channels to the other nodes.
func (w *World) takeOver(args []word) error {
	name := args[0].text
	_, id, _ := cutLast(name)
	segments, channels, err := w.dutiesOf(name)
	if err != nil {
		return err
	}
	var others []string
	for _, n := range w.base.Cluster.Runtime.QueryNodes() {
		if n.Name() != name {
			others = append(others, n.Name())
		}
	}
	for i, s := range segments {
		if err := w.moveSegment([]word{
			{text: strconv.FormatInt(s, 10)}, {text: "to"}, {text: others[i%len(others)]}, {text: "now-30s"},
		}); err != nil {
			return err
		}
	}
	for i, c := range channels {
		if err := w.lead([]word{{text: c}, {text: "on"}, {text: others[i%len(others)]}}); err != nil {
			return err
		}
	}
	if err := w.forget(args); err != nil {
		return err
	}
	delete(w.store.keys, w.store.absolute("session/"+name))
	for _, prefix := range []string{"querycoord-replica/", "queryCoord-ResourceGroup/"} {
		if err := w.edit(w.store.below(prefix), []word{{text: "-nodes[value=" + id + "]"}}); err != nil {
			return err
		}
	}
	if err := w.answer([]word{
		{text: "querycoord"}, {text: "GetMetrics"}, {text: "-response.cluster.connected_nodes[id=" + id + "]"},
	}); err != nil {
		return err
	}
	return w.removeFromReplicas(id)
}

// dutiesOf returns the segments and the led channels of a query node.
func (w *World) dutiesOf(name string) (segments []int64, channels []string, err error) {
	err = w.redistribute(func(d distributions) error {
		x, err := d.node(name)
		if err != nil {
			return err
		}
		for _, s := range x.GetSegments() {
			segments = append(segments, s.GetID())
		}
		for _, v := range x.GetLeaderViews() {
			channels = append(channels, v.GetChannel())
		}
		return errNoChange
	})
	if errors.Is(err, errNoChange) {
		err = nil
	}
	return segments, channels, err
}

// removeFromReplicas removes a node from the replicas and resource groups in QueryCoord's responses.
func (w *World) removeFromReplicas(id string) error {
	list, err := w.recordsOf("querycoord")
	if err != nil {
		return err
	}
	for _, r := range list {
		err := rewriteOptional(r, func(m proto.Message) error {
			switch x := m.(type) {
			case *milvuspb.GetReplicasResponse:
				for _, replica := range x.GetReplicas() {
					replica.NodeIds = slices.DeleteFunc(replica.GetNodeIds(), func(n int64) bool {
						return strconv.FormatInt(n, 10) == id
					})
				}
			case *querypb.DescribeResourceGroupResponse:
				group := x.GetResourceGroup()
				group.Nodes = slices.DeleteFunc(group.GetNodes(), func(n *commonpb.NodeInfo) bool {
					return strconv.FormatInt(n.GetNodeId(), 10) == id
				})
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

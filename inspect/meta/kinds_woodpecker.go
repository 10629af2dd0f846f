package meta

import (
	"kitescope/inspect/meta/legacypb"
	"kitescope/inspect/model"
)

// woodpeckerKinds returns the keys of Woodpecker (zilliztech/woodpecker v0.1.29, meta/constant.go), which Milvus
// embeds since 2.6. They are outside of Milvus's root. The last component of a lock is the lease of its session
// (etcd's concurrency.Mutex).
func woodpeckerKinds() []kind {
	const channels = model.PartChannels
	return []kind{
		{
			id: kindWoodpeckerLog, name: "woodpecker-log", pattern: "//woodpecker/logs/{log:name}",
			message: message[legacypb.LogMeta](), part: channels, since: "2.6", secret: secretNever,
		},
		{
			id: kindWoodpeckerLock, name: "woodpecker-lock", pattern: "//woodpecker/logs/{log:name}/lock/{lease:name}",
			enc: encEmpty, part: channels, since: "2.6", secret: secretNever,
		},
		{
			id: kindWoodpeckerSegment, name: "woodpecker-segment",
			pattern: "//woodpecker/logs/{log:name}/segments/{segment}", message: message[legacypb.SegmentMetadata](),
			part: channels, since: "2.6", secret: secretNever,
		},
		{
			id: kindWoodpeckerReader, name: "woodpecker-reader", pattern: "//woodpecker/readers/{log}/{reader:rest}",
			message: message[legacypb.ReaderTempInfo](), part: channels, since: "2.6", secret: secretNever,
		},
		{
			id: kindWoodpeckerCleaning, name: "woodpecker-cleaning", pattern: "//woodpecker/cleaning/{log}/{segment}",
			message: message[legacypb.SegmentCleanupStatus](), part: channels, since: "2.6",
		},
		{
			id: kindWoodpeckerLogIDs, name: "woodpecker-log-ids", pattern: "//woodpecker/logidgen", enc: encNumber,
			part: channels, since: "2.6", secret: secretNever,
		},
		{
			id: kindWoodpeckerQuorum, name: "woodpecker-quorum", pattern: "//woodpecker/quorums/{quorum}",
			message: message[legacypb.QuorumInfo](), part: channels, since: "2.6", secret: secretNever,
		},
		{
			id: kindWoodpeckerQuorumIDs, name: "woodpecker-quorum-ids", pattern: "//woodpecker/quorumidgen",
			enc: encNumber, part: channels, since: "2.6", secret: secretNever,
		},
		{
			id: kindWoodpeckerInstance, name: "woodpecker-instance", pattern: "//woodpecker/instance", enc: encText,
			part: channels, since: "2.6", secret: secretNever,
		},
		{
			id: kindWoodpeckerVersion, name: "woodpecker-version", pattern: "//woodpecker/version",
			message: message[legacypb.WoodpeckerVersion](), part: channels, since: "2.6", secret: secretNever,
		},
		{
			id: kindWoodpeckerConditionWrite, name: "woodpecker-condition-write",
			pattern: "//woodpecker/conditionwrite", enc: encText, part: channels, since: "2.6", secret: secretNever,
		},
		{
			id: kindWoodpeckerLogStore, name: "woodpecker-logstore", pattern: "//woodpecker/logstores/{node:rest}",
			enc: encText, part: channels, since: "2.6",
		},
	}
}

package session

import (
	"kitescope/inspect/history"
	"kitescope/inspect/model"
)

// FeedDriver is the state of a Feed, driven by method calls instead of a source. Its methods call those of liveFeed.
type FeedDriver struct{ l *liveFeed }

// NewFeedDriver returns a FeedDriver that calls emit with each update.
func NewFeedDriver(emit func(history.Update)) FeedDriver {
	return FeedDriver{&liveFeed{first: make(chan struct{}), sessionsChanged: make(chan struct{}, 1), emit: emit}}
}

// OnCluster handles a new cluster.
func (f FeedDriver) OnCluster(c *model.Cluster) { f.l.onCluster(c, nil) }

// OnAnswers handles answers of processes.
func (f FeedDriver) OnAnswers(r *model.Runtime, before *model.Cluster) { f.l.onAnswers(r, before) }

// OnHealth handles the result of a health query.
func (f FeedDriver) OnHealth(e *model.Etcd) { f.l.onHealth(e) }

// Last returns the last emitted cluster.
func (f FeedDriver) Last() *model.Cluster { return f.l.last }

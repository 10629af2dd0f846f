// Package session is what a command has of one cluster beside its metadata. What enters is an open source.Source,
// what leaves is a model.Cluster with what its processes say laid over it, or a bundle that keeps all of it.
//
//  1. WithKept adds what a bundle keeps: answers of processes, and how etcd was. KeptProfiles are its profiles.
//  2. Answers and ProfileFiles collect what goes into a bundle beside the metadata, in temporary files.
package session

package rules

import (
	"fmt"
	"time"

	"kitescope/inspect/check"
	"kitescope/internal/shellquote"
	"kitescope/internal/words"
)

// storageReadOnly finds a local storage folder that is read-only or full.
var storageReadOnly = &check.Check{
	ID:       "storage-read-only",
	Title:    "The storage is read-only or full",
	Severity: check.Error,
	Symptoms: []string{check.WritesFail, check.FlushesHang, check.StorageGrows},
	Starts:   "config_changed:minio | task_failed index_failed checkpoint_stopped",
	Doc: `A folder became read-only under inserts and a flush: the data node tried for 20 seconds and exited, and so
did each one started in its place. An index build was tried every 3 seconds, 46 times in 140 seconds, and stayed
"InProgress" (measured on Milvus 2.3.5). Runs only with ` + "`diagnose --storage FOLDER`" + `, where FOLDER is a local
folder: checks whether its file system is mounted read-only and how much room is left. It writes nothing.

Error if the processes' configuration (` + "`localStorage.path`" + `) names that folder and one of them runs on this
machine. Else info: kitescope may see the folder through a read-only mount or a smaller share than Milvus does. Full
means less than 100 MiB free.

Milvus reports this only in its logs, and no metric covers local storage.`,
	Remedy: `Find out why it is read-only: the kernel remounts a file system that way after a disk error
(` + "`dmesg`" + `). Mount it writable or make room, then start the data nodes that exited. No row is lost that the
message queue still has.`,
	Needs: check.NeedStorage,
	Run:   runStorageReadOnly,
}

// fullBelow is the free space, in bytes, below which a storage counts as full.
const fullBelow = 100 << 20

func runStorageReadOnly(p *check.Pass) {
	s := p.Storage
	room := s.DiskSpace
	if room == nil {
		p.Skip("storage " + s.Location + ": not a local folder, mount and free space unknown")
		return
	}
	f := check.Finding{
		Severity: check.Info,
		Evidence: []check.Evidence{
			check.Fact("mounted", map[bool]string{true: "read-only", false: "writable"}[room.ReadOnly], s.Location),
			check.Factf("free", s.Location, "%s of %s", check.Bytes(room.Free), check.Bytes(room.Size)),
		},
		Impact: "Data nodes that cannot flush exit, and then no channel is consumed. Indexes are not built. " +
			"Searches of loaded data continue.",
	}
	switch {
	case room.ReadOnly:
		f.Message = fmt.Sprintf("the storage folder %s is mounted read-only", s.Location)
		f.Fix = check.Fix(
			check.Shell(shellquote.Shell("findmnt", "--target").Arg(s.Location)).
				Does("shows what is mounted there; the kernel log shows why it became read-only, often a disk error"),
			check.Do("fix that, remount it with rw on the host of the storage, and start the data nodes that exited").
				Interrupting(2*time.Minute, "nothing"),
		)
	case room.Size > 0 && room.Free < fullBelow:
		f.Message = fmt.Sprintf("the storage folder %s is full: %s of %s free", s.Location, words.Bytes(room.Free),
			words.Bytes(room.Size))
		f.Fix = check.Fix(
			check.Do("give it a larger disk, or drop collections that are not needed: "+
				"their files are deleted only after the retention of dropped segments").
				Interrupting(2*time.Minute, "nothing"),
			check.Shell(shellquote.Shell("df", "-h").Arg(s.Location)).
				Does("shows the free space; then start the data nodes that exited"),
		)
	default:
		return
	}
	if ownStorage(p) {
		f.Severity = check.Error
		f.Evidence = append(f.Evidence,
			check.Fact("localStorage.path", p.ConfiguredStorage().Place, "configuration of the processes"))
	} else {
		f.Message += ", as seen from here"
	}
	p.Report(f)
}

package segments

import (
	"fmt"

	"kitescope/inspect/check"
	"kitescope/words"
)

// storageReadOnly finds a storage that takes no writes.
var storageReadOnly = &check.Check{
	ID:       "storage-read-only",
	Title:    "The storage takes no writes",
	Severity: check.Error,
	Since:    "0.9",
	Doc: `Looks only where ` + "`diagnose --storage FOLDER`" + ` says where the files are, and that is a folder: whether its file system is mounted read-only, and how much room is left. Nothing is written to find that out.

An error if the processes' configuration (` + "`localStorage.path`" + `) names that folder, and one of them runs on the machine that looks; else information, as the way by which kitescope sees the folder may be read-only, or its share smaller, than that by which Milvus does. Full is less than 100 MiB that are free.

Milvus 2.3.5 does not say so anywhere but in its logs, and local storage is in no metric. Measured, with a folder that became read-only under inserts and a flush: the data node tried for 20 seconds and ended itself, and so does each that is started in its
place; an index build was tried every 3 seconds, 46 times in 140 seconds, "InProgress" all the while.`,
	Remedy: `See why it is read-only: the kernel mounts a file system so after an error of the disk (` + "`dmesg`" + `). Mount it writable, make room, then start the data nodes that ended. No row is lost that the message queue still has.`,
	Needs:  check.NeedStorage,
	Run:    runStorageReadOnly,
}

// fullBelow is how much free room is none.
const fullBelow = 100 << 20

func runStorageReadOnly(p *check.Pass) error {
	s := p.Storage
	room := s.Room
	if room == nil {
		return p.Skip("storage " + s.Location + ": it is no folder, so that whether it takes writes is unknown")
	}
	f := check.Finding{
		Severity: check.Info,
		Evidence: []check.Evidence{
			check.Fact("mounted", map[bool]string{true: "read-only", false: "writable"}[room.ReadOnly], s.Location),
			check.Measured("free", s.Location, "%s of %s", check.Bytes(room.Free), check.Bytes(room.Size)),
		},
		Impact: "Data nodes that cannot flush end themselves, and with them the consuming of all channels; indexes are not built; what is loaded is searched all the same.",
	}
	switch {
	case room.ReadOnly:
		f.Message = fmt.Sprintf("the storage folder %s is mounted read-only: nothing can be written to it", s.Location)
		f.Hint = check.Advise("see why, then mount it writable: mount -o remount,rw, on the host of the storage; dmesg tells of errors of the disk")
	case room.Size > 0 && room.Free < fullBelow:
		f.Message = fmt.Sprintf("the storage folder %s is full: %s of %s are free", s.Location, words.Bytes(room.Free), words.Bytes(room.Size))
		f.Hint = "make room: drop what nobody needs, or give it a larger disk"
	default:
		return nil
	}
	if ownStorage(p) {
		f.Severity = check.Error
		f.Evidence = append(f.Evidence, check.Fact("localStorage.path", p.OwnStorage().Place, "configuration of the processes"))
	} else {
		f.Message += ", as it is seen from here"
	}
	p.Report(f)
	return nil
}

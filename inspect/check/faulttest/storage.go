package faulttest

import (
	"fmt"
	"strconv"
	"strings"

	"kitescope/inspect/model"
)

// setStorage implements "storage [well] [problem=TEXT | lost=TEXT] [at=FOLDER] [elsewhere]
// [room=read-only|full|well|unknown] [SEGMENT=index|insert|delta|cut]...": the storage was examined. All
// files exist except those of the given segments; with cut, insert logs have half their size. A process of
// the cluster runs on the machine that examined it, except with elsewhere.
func (w *World) setStorage(args []word) error {
	w.storage = &model.Storage{
		Local: true, Location: "/data", DiskSpace: &model.DiskSpace{Free: 40 << 30, Size: 100 << 30},
		Segments: len(w.base.Cluster.Segments), Checked: len(w.base.Cluster.Segments),
	}
	for _, a := range args {
		name, value, _ := strings.Cut(a.text, "=")
		switch name {
		case "well":
			continue
		case "problem":
			w.storage.Problem = value
			continue
		case "lost":
			w.storage.Problem, w.storage.Lost = value, true
			continue
		case "elsewhere":
			w.storage.Local = false
			continue
		case "at":
			w.storage.Location = value
			continue
		case "room":
			if err := w.room(value); err != nil {
				return err
			}
			continue
		}
		id, err := strconv.ParseInt(name, 10, 64)
		if err != nil {
			return err
		}
		s := w.base.Cluster.Segment(model.SegmentID(id))
		if s == nil {
			return fmt.Errorf("no segment %s", name)
		}
		x := model.MissingFiles{Segment: s.ID, Collection: s.Collection, Want: 1}
		part := fmt.Sprintf("%s/%s/%s", s.Collection, s.Partition, s.ID)
		switch {
		case value == "index" && len(s.Indexes) > 0:
			i := s.Indexes[0]
			x.Kind, x.Index, x.Build, x.Path = "index", i.Index, i.Build,
				fmt.Sprintf("index_files/%s/%d/%s/%s", i.Build, i.Version, s.Partition, s.ID)
		case value == "insert":
			x.Kind, x.Field, x.Path = "insert log", 100, "insert_log/"+part+"/100"
		case value == "cut":
			x.Kind, x.Field, x.Path, x.Found, x.Bytes, x.Size = "insert log", 100, "insert_log/"+part+"/100", 1, 4096,
				2048
		case value == "delta":
			x.Kind, x.Path = "delta log", "delta_log/"+part
		default:
			return fmt.Errorf("segment %s has no %s", name, value)
		}
		w.storage.Missing = append(w.storage.Missing, x)
	}
	return nil
}

// room sets the state of the storage's file system.
func (w *World) room(value string) error {
	switch value {
	case "read-only":
		w.storage.DiskSpace.ReadOnly = true
	case "full":
		w.storage.DiskSpace.Free = 1 << 20
	case "well":
	case "unknown":
		w.storage.DiskSpace = nil
	default:
		return fmt.Errorf("room=%s: not read-only, full, well or unknown", value)
	}
	return nil
}

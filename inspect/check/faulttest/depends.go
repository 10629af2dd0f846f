package faulttest

import (
	"encoding/json"
	"fmt"
	"strings"

	"kitescope/inspect/live"
	"kitescope/inspect/model"
)

// dependsOn implements "depends NODE metadata|queue TYPE [reason=TEXT] [MEMBER=ok|TEXT]...": a proxy's report
// about etcd or the queue. With a reason it is unhealthy.
func (w *World) dependsOn(args []word) error {
	list, err := w.recordsOf(args[0].text)
	if err != nil {
		return err
	}
	type member struct {
		Endpoint string `json:"endpoint"`
		Health   bool   `json:"health"`
		Error    string `json:"error"`
	}
	told := map[string]any{"health_status": true}
	part, kind := "metastore", "meta_type"
	switch args[1].text {
	case "metadata":
	case "queue":
		part, kind = "mq", "mq_type"
	default:
		return fmt.Errorf("%s: not metadata or queue", args[1].text)
	}
	told[kind] = args[2].text
	var members []member
	for _, x := range args[3:] {
		name, text, ok := strings.Cut(x.text, "=")
		switch {
		case !ok:
			return fmt.Errorf("%s: not MEMBER=ok or MEMBER=TEXT", x.text)
		case name == "reason":
			told["health_status"], told["unhealthy_reason"] = false, text
		case text == "ok":
			members = append(members, member{name, true, ""})
		default:
			members = append(members, member{name, false, text})
		}
	}
	told["members_health"] = members
	r := live.Record{
		Role: list[0].Role, Node: list[0].Node, Address: list[0].Address, Method: "GET /api/v1/_cluster/dependencies",
		Outcome: model.Answered.String(), At: w.now,
	}
	r.Response, err = json.Marshal(map[string]any{part: told})
	w.records = append(w.records, r)
	return err
}

package view

import (
	"kitescope/inspect/model"
	"kitescope/internal/table"
)

var configEntries = define(definition[*model.ConfigEntry]{
	Resource: Resource{
		Schema: table.Schema{
			Name: "config", Singular: "config-entry", Names: []string{"name"},
			Shorthands: map[string]string{"key": "name"},
		},
		Aliases: []string{"configs", "configuration", "cfg"},
		Doc:     "Dynamic configuration keys that operators have set in etcd.",
		Needs:   model.PartConfig,
	},
	rows: func(e *Env) []*model.ConfigEntry { return e.Cluster.Config },
	columns: []column[*model.ConfigEntry]{
		col(table.Column{Name: "name", Doc: "Name of the key, as written after config/."},
			func(_ *Env, c *model.ConfigEntry) table.Cell { return text(c.Name) }),
		col(table.Column{
			Name: "value",
			Doc: "Its value; <redacted> if it looks like a secret, or is text of a setting that Milvus is not known " +
				"to have (see --show-unknown-settings).",
		},
			func(_ *Env, c *model.ConfigEntry) table.Cell { return text(c.Value) }),
		col(table.Column{Name: "redacted", Kind: table.Bool, Show: table.Hidden, Doc: "The value is hidden."},
			func(_ *Env, c *model.ConfigEntry) table.Cell { return yesNo(c.Redacted) }),
		col(table.Column{
			Name: "mod_revision", Title: "REVISION", Kind: table.Int, Show: table.Wide, Priority: 1,
			Doc: "etcd revision at which it was last set, where the source knows it.",
		},
			func(_ *Env, c *model.ConfigEntry) table.Cell { return countOrNone(c.ModRevision) }),
	},
	ref: func(_ *Env, c *model.ConfigEntry) Ref { return Ref{ID: c.Name, Name: c.Name} },
})

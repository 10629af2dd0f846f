package clusters

import (
	"bytes"
	"testing"

	"kitescope/inspect/check"
	"kitescope/inspect/model/modeltest"
	"kitescope/inspect/view"
	"kitescope/render"
	"kitescope/render/rendertest"
)

// TestFound checks that an overview and a description start with the findings and their fixes.
func TestFound(t *testing.T) {
	r := testReport(t)
	env := view.NewEnv(r.Cluster, modeltest.Now)
	docs := resource(t, "collections").Table(env)
	for _, word := range []string{"text", "json"} {
		o := render.Options{Width: 100}
		if word != "text" {
			o.Format = format(t, word)
		}
		var b bytes.Buffer
		if err := Overview(&b, view.NewOverview(env), &Found{r, r.Findings}, o); err != nil {
			t.Fatal(err)
		}
		rendertest.Golden(t, "found/overview."+word, b.Bytes())
		b.Reset()
		d := docs.Describe(view.RowOf(docs, modeltest.Docs.String()))
		if err := Description(&b, d, env, &Found{r, r.About("collections", modeltest.Docs.String())}, o); err != nil {
			t.Fatal(err)
		}
		rendertest.Golden(t, "found/description."+word, b.Bytes())
	}
}

// TestHealth checks that the state is good only if all checks could run.
func TestHealth(t *testing.T) {
	c := modeltest.Served()
	blind := reported("blind", check.Error)
	blind.Needs = check.NeedStorage
	for want, checks := range map[string][]*check.Check{
		"good":    {reported("quiet", check.Error)},
		"unknown": {reported("quiet", check.Error), blind},
		"warning": {reported("loud", check.Error, check.Finding{Severity: check.Warning}), blind},
		"bad": {
			reported("loud", check.Error, check.Finding{Severity: check.Error}, check.Finding{Severity: check.Warning}),
		},
	} {
		r := check.Run(c, modeltest.Now, checks)
		if got := Health(r); got != want {
			t.Errorf("%s, want %s", got, want)
		}
		if role, _, _ := HealthText(r); (role == render.RoleGood) != (want == "good") {
			t.Errorf("%s looks like %v", want, role)
		}
	}
}

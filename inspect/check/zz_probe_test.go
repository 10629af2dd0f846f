package check_test

import (
	"fmt"
	"testing"

	"kitescope/inspect/check"
	"kitescope/inspect/model/modeltest"
)

func TestZZProbe(t *testing.T) {
	c := modeltest.ServedLarge(200_000, 200)
	r := check.Run(c, modeltest.Now, check.All)
	for _, x := range r.Results {
		fmt.Println(x.Check.ID, x.Status, x.Reason, len(x.Unseen), len(x.Findings), x.Took)
		for i, f := range x.Findings {
			if i < 3 {
				fmt.Println("    ", f.Severity, f.Message, len(f.Objects))
			}
		}
	}
}

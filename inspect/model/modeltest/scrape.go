package modeltest

import (
	"time"

	"kitescope/inspect/model"
)

// Scrape returns a scrape of metrics with single values.
func Scrape(at time.Time, families map[string][]model.Series) *model.Metrics {
	m := &model.Metrics{At: at, Families: map[string]*model.Family{}}
	for name, series := range families {
		AddSeries(m, name, series...)
	}
	return m
}

// AddSeries adds series to a metric of a scrape.
func AddSeries(m *model.Metrics, name string, series ...model.Series) {
	if len(series) == 0 {
		return
	}
	if m.Families[name] == nil {
		m.Families[name] = &model.Family{Name: name}
	}
	m.Families[name].Series = append(m.Families[name].Series, series...)
}

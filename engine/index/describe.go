package index

import "strconv"

// Text adds a fact for display only.
func (d *Description) Text(name, text string) {
	d.Facts = append(d.Facts, Fact{Name: name, Text: text})
}

// Count adds a count. With an empty key it is for display only.
func (d *Description) Count(name, key string, n int) {
	d.Facts = append(d.Facts, Fact{Name: name, Text: strconv.Itoa(n), Key: key, Number: float64(n), IsCount: true})
}

// fault adds a count that should be 0.
func (d *Description) fault(name, key string, n int, text string) {
	d.Facts = append(d.Facts, Fact{Name: name, Text: text, Key: key, Number: float64(n), IsCount: true, IsFault: n > 0})
}

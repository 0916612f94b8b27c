package listing

import "testing"

func TestAListIsCutIntoBatches(t *testing.T) {
	for _, c := range []struct {
		rows, limit, number int
		want                Batch
	}{
		{0, 25, 1, Batch{Number: 1, Count: 1}},
		{60, 25, 1, Batch{Number: 1, Count: 3, To: 25}},
		{60, 25, 3, Batch{Number: 3, Count: 3, From: 50, To: 60}},
		{60, 25, 9, Batch{Number: 3, Count: 3, From: 50, To: 60}}, // beyond the end
		{60, 25, -1, Batch{Number: 1, Count: 3, To: 25}},
	} {
		if got := BatchOf(c.rows, c.limit, c.number); got != c.want {
			t.Errorf("batch %d of %d rows is %+v, want %+v", c.number, c.rows, got, c.want)
		}
	}
}

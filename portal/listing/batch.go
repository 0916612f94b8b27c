package listing

// Batch is the part of a list that is shown at a time: its number from 1, of how many, and its rows.
type Batch struct{ Number, Count, From, To int }

// BatchOf cuts a list of so many rows into batches of limit. A number beyond the end becomes the last one.
func BatchOf(rows, limit, number int) Batch {
	b := Batch{Count: max(1, (rows+limit-1)/limit)}
	b.Number = min(max(1, number), b.Count)
	b.From = (b.Number - 1) * limit
	b.To = min(b.From+limit, rows)
	return b
}

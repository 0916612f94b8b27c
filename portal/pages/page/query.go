package page

import (
	"net/url"
	"strconv"
	"strings"
)

// maxSearch bounds the text of a search, in characters.
const maxSearch = 200

// Search reads what is searched for from the query of a URL.
func Search(v url.Values) string {
	search := strings.TrimSpace(v.Get("q"))
	if all := []rune(search); len(all) > maxSearch {
		return string(all[:maxSearch])
	}
	return search
}

// Number reads which page of a list is asked for; what is no number is the first one.
func Number(v url.Values) int {
	n, _ := strconv.Atoi(v.Get("page"))
	return max(1, n)
}

// Paged is a part of a list that is shown page by page.
type Paged struct{ Number, Pages, From, To int }

// Paginate cuts a list of so many rows into pages of size. A page beyond the end becomes the last one.
func Paginate(rows, size, number int) Paged {
	p := Paged{Pages: max(1, (rows+size-1)/size)}
	p.Number = min(max(1, number), p.Pages)
	p.From = (p.Number - 1) * size
	p.To = min(p.From+size, rows)
	return p
}

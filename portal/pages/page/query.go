package page

import (
	"net/url"
	"strconv"
	"strings"
)

// maxSearch bounds the text of a search, in characters.
const maxSearch = 200

// Search returns the search text in the query of a URL.
func Search(v url.Values) string {
	search := strings.TrimSpace(v.Get("q"))
	if all := []rune(search); len(all) > maxSearch {
		return string(all[:maxSearch])
	}
	return search
}

// Batch returns the requested page of a list; the first one if it is no number.
func Batch(v url.Values) int {
	n, _ := strconv.Atoi(v.Get("page"))
	return max(1, n)
}

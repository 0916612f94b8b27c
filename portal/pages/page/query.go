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

// Batch reads which batch of a list is asked for; what is no number is the first one.
func Batch(v url.Values) int {
	n, _ := strconv.Atoi(v.Get("page"))
	return max(1, n)
}

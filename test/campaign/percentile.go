package campaign

import (
	"math"
	"slices"
	"time"
)

// Percentile returns the p-th quantile (0 to 1) of a sample, by nearest rank.
func Percentile(all []time.Duration, p float64) time.Duration {
	if len(all) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(all))
	return sorted[max(0, int(math.Ceil(p*float64(len(sorted))))-1)]
}

package cluster

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"maps"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/api/v1alpha1"
)

// ETag returns the entity tag of what users write of the object: its spec by the generation, and its labels and
// annotations, which have none, by a digest. Writes of the status do not change it. It begins with the UID.
func ETag(obj *unstructured.Unstructured) string {
	h := fnv.New32a()
	write := func(text string) { // with its length: no two lists of texts are spelled alike
		_, _ = h.Write(binary.AppendUvarint(nil, uint64(len(text)))) // hashes never fail
		_, _ = h.Write([]byte(text))
	}
	for of, part := range []map[string]string{obj.GetLabels(), obj.GetAnnotations()} {
		for _, key := range slices.Sorted(maps.Keys(part)) {
			if key != lastApplied && !v1alpha1.WrittenByAdmission(key) {
				write([]string{"label", "annotation"}[of])
				write(key)
				write(part[key])
			}
		}
	}
	return fmt.Sprintf(`"%s-%d-%08x"`, obj.GetUID(), obj.GetGeneration(), h.Sum32())
}

// byProxies is what proxies that compress add to an ETag, within its quotes.
var byProxies = regexp.MustCompile(`[-;:]{1,2}(gzip|br|zstd|deflate)$`)

// ownETag returns an ETag as this portal wrote it. Proxies that compress make it weak (W/) or add their encoding; some
// tools leave its quotes out.
func ownETag(etag string) string {
	etag = strings.Trim(strings.TrimPrefix(strings.TrimSpace(etag), "W/"), `"`)
	return `"` + byProxies.ReplaceAllString(etag, "") + `"`
}

// specOf returns the part of an ETag that tells of the object and its spec.
func specOf(etag string) string { return etag[:max(0, strings.LastIndexByte(etag, '-'))] }

// SameObject reports whether two ETags are of one object, and not of namesakes.
func SameObject(a, b string) bool { return specOf(specOf(a)) == specOf(specOf(b)) }

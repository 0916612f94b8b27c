package write

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
	"github.com/portico-platform/portico/portal/cluster/feed"
)

// ETag returns the entity tag of what users write of the object: the UID, the generation for its spec, and a digest of
// its labels and annotations, which have no generation. Writes of the status do not change it.
func ETag(obj *unstructured.Unstructured) string {
	h := fnv.New32a()
	write := func(text string) { // with its length, so that different lists never have the same encoding
		_, _ = h.Write(binary.AppendUvarint(nil, uint64(len(text)))) // hashes never fail
		_, _ = h.Write([]byte(text))
	}
	for of, part := range []map[string]string{obj.GetLabels(), obj.GetAnnotations()} {
		for _, key := range slices.Sorted(maps.Keys(part)) {
			if key != feed.LastApplied && !v1alpha1.WrittenByAdmission(key) {
				write([]string{"label", "annotation"}[of])
				write(key)
				write(part[key])
			}
		}
	}
	return fmt.Sprintf(`"%s-%d-%08x"`, obj.GetUID(), obj.GetGeneration(), h.Sum32())
}

// byProxies matches what compressing proxies append to an ETag, within its quotes.
var byProxies = regexp.MustCompile(`[-;:]{1,2}(gzip|br|zstd|deflate)$`)

// OwnETag returns an ETag as this portal wrote it. Compressing proxies make it weak (W/) or append their encoding; some
// clients omit its quotes.
func OwnETag(etag string) string {
	etag = strings.Trim(strings.TrimPrefix(strings.TrimSpace(etag), "W/"), `"`)
	return `"` + byProxies.ReplaceAllString(etag, "") + `"`
}

// specOf returns the part of an ETag that identifies the object and its generation.
func specOf(etag string) string { return etag[:max(0, strings.LastIndexByte(etag, '-'))] }

// SameObject reports whether two ETags are of one object: an object created again under the same name is another one.
func SameObject(a, b string) bool { return specOf(specOf(a)) == specOf(specOf(b)) }
